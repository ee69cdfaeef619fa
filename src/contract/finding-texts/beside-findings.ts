import { crawlTexts } from './crawl-findings.ts';
import { networkTexts } from './network-findings.ts';
import { broken, type FindingText, weak } from './text-findings.ts';

/**
 * Texts for failures of one file when another file was usable: one of several compressions of the index, or InRelease
 * if there is a Release.
 */
const ofOneFile = {
  'index-missing': weak(
    'A listed file of the index is missing',
    'Release lists a file of the index that the origin does not have: {}.',
    crawlTexts['index-missing'].owner,
  ),
  'index-forbidden': weak(
    'Access to a listed file of the index is refused',
    'Release lists a file of the index that the origin refuses to give: {}.',
    crawlTexts['index-forbidden'].owner,
  ),
  'index-html': broken(
    'A web page stands where one compression of the index should be',
    'The origin answers with a web page where a compression of its index should be: {}.',
    crawlTexts['index-html'].owner,
  ),
  'index-empty': broken(
    'One compression of the index is empty',
    'One compression of the Packages index is empty: {}.',
    'Write Packages and its compressions again: even where Packages is empty, a compressed one is a file of some bytes.',
  ),
  'index-unreadable': broken(
    'One compression of the index names no package',
    'One compression of the Packages index names no package: {}.',
    crawlTexts['index-unreadable'].owner,
  ),
  'release-forbidden': weak(
    'Access to InRelease is refused',
    'The origin refuses to give its InRelease: {}.',
    crawlTexts['release-forbidden'].owner,
  ),
  'release-html': broken(
    'A web page stands where InRelease should be',
    'The origin answers with a web page where its InRelease should be: {}.',
    crawlTexts['release-html'].owner,
  ),
  'release-empty': broken('InRelease is empty', 'The InRelease of the origin is empty: {}.', 'Write InRelease again.'),
  'release-unreadable': broken(
    'InRelease cannot be read',
    'What the origin serves as its InRelease is not a Release: {}.',
    crawlTexts['release-unreadable'].owner,
  ),
} satisfies Partial<Record<keyof typeof crawlTexts, FindingText>>;

const withOther = ({ operator, ...text }: FindingText): FindingText => ({
  ...text,
  operator: `${operator} Another file was used instead.`,
});

// A faulty signature concerns the repository as a whole; no other file can replace it.
const ofFiles = Object.entries({ ...networkTexts, ...crawlTexts, ...ofOneFile }).filter(
  ([code]) => !code.startsWith('signature-'),
);

/** What each failure means as a finding: the repository is in use, thanks to another file. */
export const besideTexts: Readonly<Record<string, FindingText>> = Object.fromEntries(
  ofFiles.map(([code, text]) => [code, withOther(text)]),
);

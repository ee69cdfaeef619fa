import { besideTexts } from './finding-texts/beside-findings.ts';
import { comparedTexts } from './finding-texts/compared-findings.ts';
import { crawlTexts } from './finding-texts/crawl-findings.ts';
import { networkTexts } from './finding-texts/network-findings.ts';
import { packageTexts } from './finding-texts/packages-findings.ts';
import { releaseTexts } from './finding-texts/release-findings.ts';
import type { FindingText } from './finding-texts/text-findings.ts';

/** Why nothing new could be taken from a repository. These may also be findings, if another file was usable. */
const failureTexts = { ...networkTexts, ...crawlTexts } as const;
export type FailureCode = keyof typeof failureTexts;

/** The texts of each failure and finding, by code. This is the only place for them. Codes are stable. */
export const findingTexts = { ...failureTexts, ...releaseTexts, ...packageTexts, ...comparedTexts } as const;
export type FindingCode = keyof typeof findingTexts;

/**
 * The text of a finding about a repository that is in use. A failure then concerns only one file, which another one
 * replaced.
 */
export const findingText = (code: FindingCode): FindingText => besideTexts[code] ?? findingTexts[code];

/**
 * The text of a failure. If a repository is left alone because it failed before, its owner reads how to fix that:
 * `earlier` is the code of that failure.
 */
export const failureText = (code: FindingCode, earlier?: string): FindingText => {
  const text = findingTexts[code];
  if (earlier === undefined || !isFindingCode(earlier)) return text;
  const { owner, weight } = findingTexts[earlier];
  return { ...text, weight, owner: `${owner} The index asks again by itself.` };
};

const findingCodes: ReadonlySet<string> = new Set(Object.keys(findingTexts));

/** Whether a text is the code of a finding. A snapshot of another version may contain a code that is not. */
export const isFindingCode = (text: string): text is FindingCode => findingCodes.has(text);

// Evidence comes from strangers, and a terminal would obey control characters.
const withoutControl = (text: string): string => text.replace(/\p{Cc}/gu, '\ufffd');

/** The sentence for the operator with the evidence inserted, ready to be printed. */
export const fillSentence = ({ operator }: FindingText, evidence: string): string =>
  operator.replace('{}', () => withoutControl(evidence));

/** The operator's sentence about a failure with the evidence inserted, ready to be printed. */
export const operatorSentence = (code: FindingCode, evidence: string): string =>
  fillSentence(findingTexts[code], evidence);

/** The operator's sentence without the advice after the evidence. The rest is for all readers of the site. */
export const withoutOrders = (code: FindingCode, sentence: string): string => {
  const [, orders = ''] = findingTexts[code].operator.split('{}.');
  return orders === '' ? sentence : sentence.replace(orders, '');
};

export type { FindingText };

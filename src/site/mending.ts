import type { FindingCode } from '../contract/finding-texts.ts';
import type { RepositoryRecord } from '../contract/records.ts';

type Step = 'packages' | 'release' | 'sign';

// What each step writes, the later from the earlier: a new index needs a new Release, and that a new signature.
const steps: readonly (readonly [Step, RegExp])[] = [
  [
    'packages',
    /^(?:index-(?:missing|empty|wrong-compression|truncated|corrupt|trailing-garbage|unreadable|variants-differ)|size-|sha256-)/,
  ],
  [
    'release',
    /^(?:release-(?:missing|empty|unreadable|older|line-malformed|blank-line|field-repeated|hash-malformed|hash-empty|entry-conflict|architecture-singular|expired|without-hashes|weak-hashes)|index-(?:mismatch|unverified|not-listed))/,
  ],
  [
    'sign',
    /^(?:signature-(?:missing|lost|bad|weak|binary|expired)|signatures-too-many|inrelease-unsigned|signature-unreadable)/,
  ],
];

/** As one word of a POSIX shell, whatever is in it; what a terminal takes for orders is left out. */
export const quoteForShell = (text: string): string =>
  `'${text.replaceAll(/\p{Cc}/gu, ' ').replaceAll("'", String.raw`'\''`)}'`;

const releaseOptions = ({ name, description }: Pick<RepositoryRecord, 'name' | 'description'>): string[] =>
  [
    ['Origin', name],
    ['Label', name],
    ['Description', description],
  ].flatMap(([field, value]) =>
    value == null ? [] : [`-o APT::FTPArchive::Release::${field}=${quoteForShell(value)}`],
  );

const commandsOf = (step: Step, record: Pick<RepositoryRecord, 'name' | 'description'>): string => {
  switch (step) {
    case 'packages':
      return 'dpkg-scanpackages -m . > Packages && gzip -9kf Packages && xz -9kf Packages';
    case 'release':
      return [
        'apt-ftparchive',
        ...releaseOptions(record),
        'release . > ../Release.new && mv ../Release.new Release',
      ].join(' ');
    case 'sign':
      return 'gpg --yes --clearsign --digest-algo SHA512 -o InRelease Release && gpg --yes --armor --detach-sign --digest-algo SHA512 -o Release.gpg Release';
  }
};

/** What of a repository decides how it is mended. */
type Mended = Pick<RepositoryRecord, 'name' | 'description' | 'suite'>;

/**
 * The commands that mend what these findings tell of, to be run in the folder of a flat repository in this order, a line
 * each; none where no command can. `isSigned` says whether people expect a signature. From dpkg-scanpackages(1),
 * apt-ftparchive(1) and gpg(1).
 */
export const mendingCommands = (codes: Iterable<FindingCode>, record: Mended, isSigned: boolean): string[] => {
  if (record.suite !== './') return [];
  const all = [...codes];
  const first = steps.findIndex(([, pattern]) => all.some((code) => pattern.test(code)));
  if (first < 0) return [];
  return steps
    .slice(first)
    .filter(([step, pattern]) => step !== 'sign' || isSigned || all.some((code) => pattern.test(code)))
    .map(([step]) => commandsOf(step, record));
};

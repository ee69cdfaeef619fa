import type { FindingCode } from '../contract/finding-texts.ts';
import type { RepositoryRecord } from '../contract/records.ts';
import { type MendingStep, mendingSteps, stepOf } from './mending-steps.ts';

// apt refuses a repository whose Origin, Label, Suite, Version or Codename has changed, and clients read fields that no
// tool knows. So all fields of the present Release are taken over, except those about its files and its age. No value
// is part of this command, and it does not need to know any. A signed text ends where its signature begins, which has a
// Version, too.
const takenOver = [
  "awk '/^-----BEGIN PGP SIGNATURE/ { exit }",
  String.raw`!/^[ \t]+[^ \t]/ { kept = /^[^ \t:]+[ \t]*:/ &&`,
  String.raw`tolower($0) !~ /^(date|valid-until|md5sum|sha1|sha256|sha512|acquire-by-hash|hash)[ \t]*:/ }`,
  "kept'",
].join(' ');

const commandsOf = (step: MendingStep, released: string | undefined): string => {
  switch (step) {
    case 'packages':
      // In a compression that is neither written nor removed, the former index would stay, and the new Release would
      // list it. dpkg-dev, which has dpkg-scanpackages, depends on bzip2 and xz-utils.
      return [
        'dpkg-scanpackages -m . > Packages',
        'rm -f Packages.zst Packages.lzma',
        ...['gzip', 'bzip2', 'xz'].map((tool) => `${tool} -9kf Packages`),
      ].join(' && ');
    case 'release':
      // Written outside the folder until it is complete, or it would list itself.
      return [
        ...(released === undefined ? [] : [`${takenOver} ${released} > ../Release.new`]),
        `apt-ftparchive release . ${released === undefined ? '>' : '>>'} ../Release.new`,
        'mv ../Release.new Release',
      ].join(' && ');
    case 'sign':
      return 'gpg --yes --clearsign --digest-algo SHA512 -o InRelease Release && gpg --yes --armor --detach-sign --digest-algo SHA512 -o Release.gpg Release';
  }
};

/** The properties of a repository that determine how it is fixed. If it was never read, no Release is known. */
export type Mended = Pick<RepositoryRecord, 'suite'> & Partial<Pick<RepositoryRecord, 'origin_release_path'>>;

const releaseGone: readonly FindingCode[] = ['release-missing', 'release-empty', 'release-unreadable'];

/**
 * The file from which fields are taken over; undefined if there is none, and null if it has vanished since it was read.
 */
const releasedFile = (
  codes: readonly (FindingCode | null)[],
  { origin_release_path: known }: Mended,
): string | null | undefined => {
  if (codes.some((code) => code !== null && releaseGone.includes(code))) return known === undefined ? undefined : null;
  return known?.endsWith('InRelease') === true ? 'InRelease' : 'Release';
};

// An answer (crawl, sayStatus) to a request for a file that is there, for all that is known: its server refuses it or
// fails, and the same index written again would not be served either.
const unserved = /\bstatus (?!404|410)\d{3} for /;

/** A finding, and the words that name its evidence. */
interface Found {
  readonly code: FindingCode;
  readonly evidence: string;
}

/** The code of a finding that commands may fix; null if its evidence shows that they cannot. */
export const mendableCode = ({ code, evidence }: Found): FindingCode | null =>
  code === 'index-gone' && unserved.test(evidence) ? null : code;

/** How to fix a finding. */
export interface Mending {
  /**
   * Commands to be run in the folder of a flat repository in this order, a line each; empty if no command can fix it.
   */
  readonly commands: readonly string[];
  /** Whether the commands of an earlier finding fix this one, too. */
  readonly isAbove: boolean;
}

/** For a finding that no command fixes. */
export const unmended: Mending = { commands: [], isAbove: false };

const firstStep = (code: FindingCode | null): MendingStep | null => (code === null ? null : stepOf[code]);

/**
 * How to fix each of these findings (`mendableCode`) of one repository, in the order in which they are shown. From the
 * point where a Release would be written without the fields that people's apt knows from one that has vanished, there
 * are no commands. `isSigned` says whether people expect a signature. From dpkg-scanpackages(1), apt-ftparchive(1) and
 * gpg(1).
 */
export const mendEach = (codes: readonly (FindingCode | null)[], repository: Mended, isSigned: boolean): Mending[] => {
  const released = releasedFile(codes, repository);
  const isNeeded = (step: MendingStep): boolean =>
    step === 'packages' ||
    (released !== null && (step !== 'sign' || isSigned || codes.some((code) => firstStep(code) === step)));
  const useful = repository.suite === './' ? mendingSteps.filter(isNeeded) : [];
  // Where InRelease was read there may be no Release, or one that it is not made of: it is written before it is signed.
  const indexOf = (step: MendingStep): number =>
    useful.indexOf(step === 'sign' && released === 'InRelease' ? 'release' : step);
  // The first step that has been shown. Those after it were shown with it.
  let told = useful.length;
  return codes.map((code) => {
    const step = firstStep(code);
    const first = step === null ? -1 : indexOf(step);
    if (first < 0) return unmended;
    if (first >= told) return { commands: [], isAbove: true };
    told = first;
    return { commands: useful.slice(first).map((step) => commandsOf(step, released ?? undefined)), isAbove: false };
  });
};

import type { FindingCode } from '../contract/finding-texts.ts';
import type { FindingRecord, FindingsRecord } from '../contract/records.ts';
import { shellWord } from '../contract/shell-word.ts';
import { isPrivateHost } from '../net/public-address.ts';
import { formatPlural } from './format.ts';
import { type Mended, type Mending, mendableCode, mendEach, unmended } from './mending.ts';
import { byWeight } from './shown-findings.ts';

/** A finding in the doctor's report. */
export interface DiagnosedFinding extends Omit<FindingRecord, 'code'> {
  /** Whether it comes from an earlier visit, because the last one failed. */
  readonly isEarlier: boolean;
  readonly mending: Mending;
}

/** The doctor's report about a repository. The command prints it, and a page shows it. */
export interface Diagnosis {
  /**
   * `refused`: by APT, and not by this index. `held`: as before, while something new waits for the operator's decision.
   */
  readonly standing: 'usable' | 'refused' | 'held' | 'unusable';
  /** A sentence. */
  readonly verdict: string;
  /** Whether and how its Release is signed, in a sentence, and by which keys; undefined if nothing was read. */
  readonly signature: { readonly text: string; readonly signers: readonly string[] } | undefined;
  /** First what makes it unusable, then the other findings, the most severe first. */
  readonly findings: readonly DiagnosedFinding[];
}

// At such an error APT does not ask for Release. Of the others one stanza, and it takes no list of any source
// (packages-findings.ts).
const refusedByApt: ReadonlySet<FindingCode> = new Set([
  'inrelease-error',
  'package-missing',
  'relation-malformed',
  'stanza-empty',
]);

/** The verdict on an unreadable repository. */
export const unusable = 'The repository cannot be used.';

const readable = (packages: number): string =>
  `This index can read the repository: ${formatPlural(packages, 'package')}.`;

/** The report about a repository that the safety list names: what is unsafe is not said to be of use. */
export const asUnsafe = (found: Diagnosis, packages: number): Diagnosis =>
  found.standing === 'usable' ? { ...found, verdict: readable(packages) } : found;

/** The report for the findings of a repository. `packages` is how many (identifiers) could be read. */
export const diagnose = (
  { failure, signature, findings }: FindingsRecord,
  packages: number,
  repository: Mended,
): Diagnosis => {
  const sorted = findings.toSorted((a, b) => byWeight(a, b) || b.count - a.count);
  const all = [...(failure === null ? [] : [failure]), ...sorted];
  const isSigned = signature !== null && signature.state !== 'unsigned';
  const mendings = mendEach(
    all.map(({ code, for_operator: evidence }) => mendableCode({ code, evidence })),
    repository,
    isSigned,
  );
  // Nobody can take a package list from an origin whose Release was read and whose index is gone.
  const isUsable = failure === null && !findings.some(({ code }) => code === 'index-gone');
  const isRefused = findings.some(({ code }) => refusedByApt.has(code));
  const usable = isRefused
    ? `${readable(packages)} APT refuses it.`
    : `The repository can be used: ${formatPlural(packages, 'package')}.`;
  return {
    standing: !isUsable ? 'unusable' : isRefused ? 'refused' : 'usable',
    verdict: isUsable ? usable : unusable,
    signature: signature === null ? undefined : { text: signature.text, signers: signature.signers },
    findings: all.map((finding, index) => ({
      ...finding,
      isEarlier: failure !== null && finding !== failure,
      mending: mendings[index] ?? unmended,
    })),
  };
};

/** Which index of an origin to examine. */
interface Place {
  readonly uri: string;
  readonly suite?: string | undefined;
  readonly component?: string | undefined;
  readonly binary?: string | undefined;
}

/**
 * The command that examines it again. `isPrivate`: whether it may ask loopback and private addresses, which it refuses
 * otherwise; by default whether the address itself says that it is one.
 */
export const doctorCommand = (
  { uri, ...place }: Place,
  isPrivate = isPrivateHost(URL.parse(uri)?.hostname ?? ''),
): string =>
  [
    `npm run doctor -- ${shellWord(uri)}`,
    ...(isPrivate ? ['--allow-private-networks'] : []),
    ...Object.entries(place).flatMap(([name, value]) => (value === undefined ? [] : [`--${name} ${shellWord(value)}`])),
  ].join(' ');

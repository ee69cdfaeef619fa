import type { SigningState } from '../contract/signing-states.ts';
import type { Signing } from '../snapshots/snapshot.ts';
import { CrawlError } from './crawl-error.ts';
import type { DetachedSignature } from './extras.ts';
import type { FoundRelease } from './fetch-release.ts';
import type { SignatureReport } from './openpgp-signature.ts';
import { judgeSignatureApart } from './release-work.ts';
import type { Visit } from './visit.ts';

// The findings for those states that are faults. Unsigned and unverified releases are no faults, because today's
// installers accept them.
const faults = {
  lost: 'signature-lost',
  bad: 'signature-bad',
  weak: 'signature-weak',
  binary: 'signature-binary',
  'key-changed': 'signature-key-changed',
  'key-expired': 'signature-key-expired',
  'key-revoked': 'signature-key-revoked',
  'signature-expired': 'signature-expired',
} as const satisfies Partial<Record<SigningState, string>>;

/** The finding for a state of signing; undefined if it is no fault. */
export const faultOf = (state: SigningState) => (state in faults ? faults[state as keyof typeof faults] : undefined);

const names = (keys: readonly string[]): string => (keys.length === 0 ? 'nobody' : keys.join(', '));

/** Describes how the file at `path` is signed, as the evidence of a finding. */
export const describeSigning = ({ state, signers, remembered }: Signing, path: string): string => {
  if (state === 'lost') return `${path} was signed by ${names(remembered)}`;
  // Of a first visit the signers are remembered, whatever key the manifest names.
  if (state === 'key-changed' && remembered.some((one) => !signers.includes(one))) {
    return `${path} is signed by ${names(signers)}, and was by ${names(remembered)}`;
  }
  return `${path} is signed by ${names(signers)}`;
};

// A key is named by its fingerprint or by the end of that, its identifier.
const isSameKey = (a: string, b: string): boolean => a.endsWith(b) || b.endsWith(a);

const stateOf = (report: SignatureReport, remembered: readonly string[], pinned: boolean): SigningState => {
  const { fault, signers } = report;
  if (fault === 'other-key') return 'key-changed';
  if (fault === 'bad' || fault === 'binary' || pinned) return fault ?? 'verified';
  const isKnown = signers.some((signer) => remembered.some((key) => isSameKey(key, signer)));
  if (remembered.length > 0 && !isKnown) return 'key-changed';
  return fault ?? 'signed';
};

/**
 * Determines how a release is signed. The keys in the manifest entry verify it. If there are none, the names of the
 * keys that signed it first are remembered, and other keys, or none, are a state of their own until the operator
 * accepts it. `detached` is the content of Release.gpg, or undefined if the origin did not answer.
 */
const assess = async (
  visit: Visit,
  release: FoundRelease,
  detached: DetachedSignature | null | undefined,
  remembered: readonly string[],
): Promise<Signing> => {
  const known = [...remembered];
  const { key } = visit.entry;
  if (release.name === 'Release' && detached === undefined) {
    return { state: 'unanswered', signers: [], remembered: known };
  }
  const report = await judgeSignatureApart(
    {
      bytes: release.bytes,
      clear: release.name === 'InRelease',
      detached: detached?.bytes ?? null,
      key,
      now: visit.now(),
    },
    visit.signal,
  );
  if (report === null) {
    return { state: remembered.length > 0 ? 'lost' : 'unsigned', signers: [], remembered: known };
  }
  if (report.over !== null) {
    const before = visit.turnTo('release');
    visit.findings.add('signatures-too-many', `${release.file.path}, ${report.over}`);
    visit.turnTo(before);
  }
  const state = stateOf(report, remembered, key !== undefined);
  const signers = [...report.signers];
  // Owners announce a new key by signing with it beside the old one.
  const isTrusted =
    state === 'verified' || state === 'signed' || (state !== 'bad' && state !== 'binary' && remembered.length === 0);
  return { state, signers, remembered: isTrusted ? signers : known };
};

/**
 * Determines how the release of a visit is signed; `remembered` are the keys that signed it before. With a key in the
 * manifest, throws `CrawlError` for anything but a good signature by it, and the last good data stays.
 */
export const checkSigning = async (
  visit: Visit,
  release: FoundRelease,
  detached: DetachedSignature | null | undefined,
  remembered: readonly string[],
): Promise<Signing> => {
  const { key } = visit.entry;
  const signing = await assess(visit, release, detached, remembered);
  if (key === undefined || signing.state === 'verified') return signing;
  const { path } = release.file;
  if (signing.state === 'unanswered') throw new CrawlError('signature-unanswered', path);
  const said = describeSigning(signing, path);
  const beside = signing.state === 'lost' || signing.state === 'unsigned' ? release.inReleaseFault : null;
  const detail = beside === null ? said : `${said}, and InRelease cannot be used (${beside.code}: ${beside.detail})`;
  throw new CrawlError(faultOf(signing.state) ?? 'signature-missing', detail);
};

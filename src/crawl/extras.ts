import { limitNote, limits } from '../contract/limits.ts';
import type { Snapshot, SnapshotFile } from '../snapshots/snapshot.ts';
import { collect, looksLikeHtml } from './content.ts';
import { CrawlError } from './crawl-error.ts';
import { type FoundRelease, isInReleaseUnanswered, releaseFolder } from './fetch-release.ts';
import { looksLikeSignature } from './openpgp-signature.ts';
import type { Answer, Visit } from './visit.ts';

/** What an origin has of a Release.gpg. */
interface BesideRelease extends Pick<Snapshot, 'hasReleaseGpg' | 'releaseGpgValidators'> {
  /** The detached signature of a Release; undefined if the origin did not answer. */
  readonly signature: DetachedSignature | null | undefined;
}

/** A detached signature and its bytes. */
export interface DetachedSignature {
  readonly file: SnapshotFile;
  readonly bytes: Uint8Array;
}

const serverFaults = (path: string, answer: Answer): void => {
  if (answer.kind === 'absent' && answer.status >= 500)
    throw new CrawlError('server-error', `status ${answer.status} for ${path}`);
};

type PaymentEndpoint = Pick<Snapshot, 'paymentEndpoint' | 'paymentValidators'>;

const noPaymentEndpoint: PaymentEndpoint = { paymentEndpoint: null, paymentValidators: null };

/** The https URL in `<uri>/payment_endpoint`, or null. */
const fetchPaymentEndpoint = async (visit: Visit, before: PaymentEndpoint | undefined): Promise<PaymentEndpoint> => {
  const known = before?.paymentValidators ?? undefined;
  const answer = await visit.get('/payment_endpoint', { maxBytes: limits.endpointBytes, known });
  if (answer.kind === 'unchanged' && before) return before;
  serverFaults('/payment_endpoint', answer);
  if (answer.kind === 'unusable' && answer.error.code === 'truncated') {
    throw new CrawlError(answer.error.code, answer.error.message);
  }
  if (answer.kind !== 'received') return noPaymentEndpoint;
  const { etag, lastModified } = answer;
  const text = Buffer.from(await collect(answer.file.read()))
    .toString('utf8')
    .trim();
  const url = /^\S+$/.test(text) ? URL.parse(text) : null;
  if (url?.protocol === 'https:' && url.username === '') {
    return { paymentEndpoint: text, paymentValidators: { etag, lastModified } };
  }
  if (text !== '' && !text.startsWith('<')) visit.findings.add('payment-endpoint-unreadable', text);
  // Without its validators it is read again, and so is the finding.
  return noPaymentEndpoint;
};

type Validators = Snapshot['releaseGpgValidators'];

/**
 * Null if the origin has none. If there is an InRelease, it is not needed and only requested with its validators
 * (`known`).
 */
interface FoundSignature {
  readonly signature: DetachedSignature | null;
  readonly validators: Validators;
}

const fetchSignature = async (
  visit: Visit,
  before: DetachedSignature | null,
  known: Validators,
): Promise<FoundSignature | null> => {
  const path = `${releaseFolder(visit.entry.suite)}/Release.gpg`;
  const answer = await visit.get(path, { maxBytes: limits.signatureBytes, known: before?.file ?? known ?? undefined });
  if (answer.kind === 'unchanged') return { signature: before, validators: known };
  if (answer.kind === 'unusable') {
    const { code, message } = answer.error;
    if (code !== 'too-large') throw new CrawlError(code, message);
    // Usually the page of a host that answers 200 for what it does not have, and would at every visit.
    visit.findings.add('signature-unreadable', `${path}, ${limitNote('signatureBytes')}`);
    return null;
  }
  serverFaults(path, answer);
  if (answer.kind !== 'received') return null;
  const { file, etag, lastModified } = answer;
  const bytes = await collect(file.read());
  if (looksLikeSignature(bytes)) {
    const signature = { file: { path, sha256: file.sha256, size: file.size, etag, lastModified }, bytes };
    return { signature, validators: { etag, lastModified } };
  }
  if (bytes.length > 0 && !looksLikeHtml(bytes)) visit.findings.add('signature-unreadable', path);
  return null;
};

/**
 * The detached signature of the last snapshot; null for one that an earlier version took and that would be refused
 * today. Throws `SnapshotError` if the store has lost it.
 */
const readStoredSignature = async (visit: Visit, previous: Snapshot): Promise<DetachedSignature | null> => {
  const { signature: file } = previous;
  const bytes = file && (await visit.store.readFile(previous.slug, file));
  return bytes && looksLikeSignature(bytes) ? { file, bytes } : null;
};

/**
 * Whether a release was signed and its signature is not there, or never arrived. Origins write it again without touching
 * Release, so it is asked for at each visit.
 */
export const isSignatureMissing = (previous: Snapshot | undefined): boolean =>
  previous?.signing.state === 'lost' || previous?.signing.state === 'unanswered';

// A signature belongs to the bytes that it was downloaded with.
const isSignatureDue = (visit: Visit, release: FoundRelease, previous: Snapshot | undefined): boolean => {
  if (release.name !== 'Release' || previous === undefined) return false;
  const isExpected = previous.hasReleaseGpg || previous.signing.remembered.length > 0 || visit.entry.key !== undefined;
  const isNew = release.file.sha256 !== previous.release.sha256;
  return (isNew && isExpected) || isSignatureMissing(previous);
};

/**
 * Whether the signature is in an InRelease for which the origin gave no answer this time, and so is not known to be gone.
 * Some origins answer 500 for each InRelease that they do not have: what was signed in Release.gpg is not in there.
 */
const isUnseen = (visit: Visit, release: FoundRelease, previous: Snapshot | undefined): boolean => {
  if (!isInReleaseUnanswered(release)) return false;
  if (previous === undefined) return visit.entry.key !== undefined;
  const { signing, hasReleaseGpg } = previous;
  const wasInside = previous.release.path.endsWith('/InRelease') || (signing.state === 'unanswered' && !hasReleaseGpg);
  return wasInside && (signing.remembered.length > 0 || visit.entry.key !== undefined);
};

/**
 * Fetches the detached signature, but only if the answer may have changed: if its Release has changed, or it was last
 * requested long ago (`due`). Nothing here makes a crawl fail. What the origin does not answer stays as it was; the
 * signature of a new Release is then undefined, and so is one that may be in an InRelease. Throws `SnapshotError` if the
 * store has lost the last one.
 */
export const fetchBesideRelease = async (
  visit: Visit,
  release: FoundRelease,
  previous: Snapshot | undefined,
  due: boolean,
): Promise<BesideRelease> => {
  const isNew = release.file.sha256 !== previous?.release.sha256;
  const stored = previous && !isNew ? await readStoredSignature(visit, previous) : null;
  const isRefused = !isNew && stored === null && previous.signature !== null;
  const isDue = due || isRefused || isSignatureDue(visit, release, previous);
  const known = release.name === 'InRelease' && previous?.hasReleaseGpg ? previous.releaseGpgValidators : null;
  const answer = isDue ? await visit.askAside('signature', () => fetchSignature(visit, stored, known)) : undefined;
  // If the signature never arrived, or may have been mended since, it is unknown how the release is signed.
  const isUnknown = isDue && (isNew || isRefused || previous.signing.state === 'unanswered');
  const kept = isUnknown ? undefined : stored;
  const apart = answer === undefined ? kept : (answer?.signature ?? null);
  const signature = apart === null && isUnseen(visit, release, previous) ? undefined : apart;
  return {
    signature: release.name === 'Release' ? signature : null,
    hasReleaseGpg: answer === undefined ? (previous?.hasReleaseGpg ?? false) : answer !== null,
    releaseGpgValidators:
      release.name === 'InRelease' ? (answer === undefined ? known : (answer?.validators ?? null)) : null,
  };
};

/** Asks for the payment endpoint if it is `due`. What the origin does not answer stays as it was. */
export const fetchPayment = async (
  visit: Visit,
  previous: PaymentEndpoint | undefined,
  due: boolean,
): Promise<PaymentEndpoint> => {
  const payment = due ? await visit.askAside('payment', () => fetchPaymentEndpoint(visit, previous)) : undefined;
  const { paymentEndpoint, paymentValidators } = payment ?? previous ?? noPaymentEndpoint;
  return { paymentEndpoint, paymentValidators };
};

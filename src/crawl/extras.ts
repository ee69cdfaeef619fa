import type { Snapshot, SnapshotFile } from '../snapshots/snapshot.ts';
import { collect, looksLikeHtml } from './content.ts';
import { CrawlError } from './crawl-error.ts';
import { type FoundRelease, releaseFolder } from './release.ts';
import type { Visit } from './visit.ts';

const endpointBytes = 4096;
const signatureBytes = 1_000_000;

/** What an origin offers besides release and index. */
export type Extras = Pick<Snapshot, 'signature' | 'hasReleaseGpg' | 'paymentEndpoint'>;

/** The https URL that `<uri>/payment_endpoint` holds, or null. */
const fetchPaymentEndpoint = async (visit: Visit): Promise<string | null> => {
  const answer = await visit.get('/payment_endpoint', { maxBytes: endpointBytes });
  if (answer.kind !== 'received') return null;
  const text = Buffer.from(await collect(answer.file.read()))
    .toString('utf8')
    .trim();
  const url = /^\S+$/.test(text) ? URL.parse(text) : null;
  if (url?.protocol === 'https:' && url.username === '') return text;
  if (text !== '' && !text.startsWith('<')) visit.findings.add('payment-endpoint-unreadable', text);
  return null;
};

// RFC 9580: armoured, or in packets, each of which begins with a byte whose top bit is set.
const looksLikeSignature = (head: Uint8Array): boolean =>
  ((head[0] ?? 0) & 0x80) !== 0 || Buffer.from(head).toString('latin1').trimStart().startsWith('-----BEGIN PGP');

const fetchSignature = async (visit: Visit): Promise<SnapshotFile | null> => {
  const path = `${releaseFolder(visit.entry.suite)}/Release.gpg`;
  const answer = await visit.get(path, { maxBytes: signatureBytes });
  if (answer.kind !== 'received') return null;
  const { file, etag, lastModified } = answer;
  const bytes = await collect(file.read());
  if (looksLikeSignature(bytes)) return { path, sha256: file.sha256, size: file.size, etag, lastModified };
  if (bytes.length > 0 && !looksLikeHtml(bytes)) visit.findings.add('signature-unreadable', path);
  return null;
};

/**
 * Fetches the detached signature and the payment endpoint, each only where the answer may have changed: the signature
 * with a Release that did, both where they were last asked for long ago (`due`). Nothing here makes a crawl fail.
 */
export const fetchExtras = async (
  visit: Visit,
  release: FoundRelease,
  previous: Snapshot | undefined,
  due: boolean,
): Promise<Extras> => {
  const isDetached = release.name === 'Release';
  const isNew = release.file.sha256 !== previous?.release.sha256;
  const extras = {
    // A signature belongs to the bytes that it was fetched with.
    signature: isDetached && !isNew ? (previous?.signature ?? null) : null,
    hasReleaseGpg: previous?.hasReleaseGpg ?? false,
    paymentEndpoint: previous?.paymentEndpoint ?? null,
  };
  try {
    if (due || (isDetached && isNew && extras.hasReleaseGpg)) {
      const signature = await fetchSignature(visit);
      extras.hasReleaseGpg = signature !== null;
      extras.signature = isDetached ? signature : null;
    }
    if (due) extras.paymentEndpoint = await fetchPaymentEndpoint(visit);
  } catch (error) {
    if (!(error instanceof CrawlError)) throw error;
    visit.findings.add('extras-unanswered', error.message);
  }
  return extras;
};

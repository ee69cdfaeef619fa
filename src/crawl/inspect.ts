import { algorithmsFor, checkDigests, createDigests, type DigestMismatch } from '../apt/checksums.ts';
import { Crumbs } from '../apt/crumbs.ts';
import { DecompressionError, type DecompressionLimits, decompress } from '../apt/decompress.ts';
import { createRecordReader } from '../apt/record-reader.ts';
import { StreamSeams } from '../apt/several-streams.ts';
import type { Compression } from '../contract/compressions.ts';
import { limitNote } from '../contract/limits.ts';
import { detectCompression, hasMark, IndexCounter, looksLikeHtml, tapped } from './content.ts';
import { CrawlError } from './crawl-error.ts';
import type { Candidate } from './index-candidates.ts';
import type { Received } from './visit.ts';

/** The result of reading a file that should be a Packages index. */
export interface Inspected {
  /** Size of its text in bytes. */
  readonly decompressedSize: number;
  /** How many usable records it has. */
  readonly records: number;
  /** Whether a hash in Release confirms the file or its text. */
  readonly confirmed: boolean;
  /** If Release lists the text, too: how this file's text differs from it. */
  readonly variant: string | null;
  /** Whether it consists of several compressed streams, of which APT reads only the first one. */
  readonly severalStreams: boolean;
}

const headBytes = 512;

// Servers that derive a coding from the name of a file, as those in Python do, declare the file's own compression as
// that of the transfer.
const ownCodings: Readonly<Record<Compression, RegExp | null>> = {
  zst: /\bzstd\b/,
  xz: /\bxz\b/,
  lzma: /\blzma\b/,
  bz2: /\bbzip2?\b/,
  gz: /\bgzip\b/,
  plain: null,
};

const decompressionCodes = {
  truncated: 'index-truncated',
  corrupt: 'index-corrupt',
  'too-large': 'index-bomb',
  ratio: 'index-bomb',
  'trailing-garbage': 'index-trailing-garbage',
} as const;

const describeLimit = ({ code, cause }: DecompressionError, { maxBytes, maxRatio }: DecompressionLimits): string => {
  if (cause instanceof Crumbs) return `: ${cause.message} (${limitNote('codecPieces')})`;
  if (code === 'too-large') return ` (${limitNote('textBytes', maxBytes)})`;
  return code === 'ratio' ? ` (${limitNote('ratio', maxRatio)})` : '';
};

/** The same bytes until the signal is aborted. After that they are discarded, and its reason is thrown. */
const until = (signal: AbortSignal, chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> =>
  tapped(chunks, () => signal.throwIfAborted());

const noSink = { record: () => {}, finding: () => {} };

/** Counts the usable records of an index that was accepted before. Throws `DecompressionError` if it is damaged. */
export const countRecords = async (
  chunks: AsyncIterable<Uint8Array>,
  compression: Compression,
  limits: DecompressionLimits,
  signal: AbortSignal,
): Promise<number> => {
  const reader = createRecordReader(noSink);
  for await (const chunk of decompress(until(signal, chunks), compression, limits)) reader.write(chunk);
  reader.end();
  return reader.records;
};

const describe = ({ algorithm, expected, actual }: DigestMismatch): string =>
  `its ${algorithm} is ${actual}, and Release says ${expected}`;

const readHead = async (chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
  for await (const chunk of chunks) return chunk.subarray(0, headBytes);
  return new Uint8Array();
};

// Checks the first bytes. Without this, a web page would only be reported as a wrong hash.
const checkHead = async (candidate: Candidate, { file, path }: Received): Promise<void> => {
  const head = await readHead(file.read());
  if (looksLikeHtml(head)) throw new CrawlError('index-html', path);
  const detected = detectCompression(head);
  const { compression } = candidate;
  if (head.length > 0 && (hasMark(compression) ? detected !== compression : detected !== undefined)) {
    throw new CrawlError('index-wrong-compression', `${path} holds ${detected ?? 'something that is not compressed'}`);
  }
};

const readText = async (
  candidate: Candidate,
  { file, path }: Received,
  limits: DecompressionLimits,
  signal: AbortSignal,
) => {
  const counter = new IndexCounter();
  const records = createRecordReader(noSink);
  const { listedText } = candidate;
  const digests = createDigests(listedText ? algorithmsFor(listedText) : []);
  const seams = new StreamSeams(candidate.compression);
  const bytes = tapped(until(signal, file.read()), (chunk) => seams.update(chunk));
  try {
    for await (const chunk of decompress(bytes, candidate.compression, limits)) {
      counter.update(chunk);
      records.write(chunk);
      digests.update(chunk);
    }
  } catch (error) {
    if (!(error instanceof DecompressionError)) throw error;
    throw new CrawlError(decompressionCodes[error.code], path + describeLimit(error, limits), { cause: error });
  }
  records.end();
  const mismatch = listedText ? checkDigests(listedText, digests.result()).mismatch : null;
  return {
    counter,
    records: records.records,
    mismatch: mismatch && describe(mismatch),
    severalStreams: seams.found,
  };
};

/**
 * Reads a received file as the Packages index that `candidate` stands for, once and in bounded memory. Throws
 * `CrawlError` if it is none, if it does not match Release, or if nothing shows that it is complete; and the reason of
 * the signal, if that ended the visit.
 */
export const inspectIndex = async (
  candidate: Candidate,
  received: Received,
  limits: DecompressionLimits,
  signal: AbortSignal,
): Promise<Inspected> => {
  const { path, file } = received;
  const { listed } = candidate;
  await checkHead(candidate, received);
  if (listed) {
    const { mismatch } = checkDigests(listed, received.digests);
    if (mismatch) throw new CrawlError('index-mismatch', `${path}: ${describe(mismatch)}`);
  } else if (received.encoding !== null && !ownCodings[candidate.compression]?.test(received.encoding)) {
    throw new CrawlError('index-encoded', `${path} comes as ${received.encoding}`);
  }
  if (file.size === 0 && (candidate.compression !== 'plain' || !listed))
    throw new CrawlError('index-empty', `${path} (0 bytes)`);

  const { counter, records, mismatch, severalStreams } = await readText(candidate, received, limits, signal);
  if (!listed && mismatch !== null) throw new CrawlError('index-mismatch', `the text of ${path}: ${mismatch}`);
  const confirmed = listed !== undefined || candidate.listedText !== undefined;
  if (counter.html) throw new CrawlError('index-html', path);
  if (counter.blank && !confirmed) throw new CrawlError('index-empty', path);
  if (!counter.blank && counter.stanzas === 0) throw new CrawlError('index-unreadable', path);
  if (!received.framed && !confirmed && candidate.compression === 'plain') {
    throw new CrawlError('index-length-unknown', path);
  }
  return { decompressedSize: counter.size, records, confirmed, variant: mismatch, severalStreams };
};

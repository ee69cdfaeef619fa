import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdDecompress } from 'node:zlib';
import { createFrameScanner } from '../apt/zstd-frames.ts';
import {
  type ChangeList,
  changeListSchema,
  type Generation,
  generationPath,
  generationSchema,
} from '../contract/generation.ts';
import type { Fetcher, FetchResult } from '../net/fetcher.ts';
import { NetworkError } from '../net/network-error.ts';
import { parseRetryAfter } from '../net/retry.ts';
import { signaturePathOf } from '../publication/generation-signature.ts';
import { verifySignature } from '../publication/signature.ts';

/**
 * What kind of thing keeps a publication from being taken. `absent`: there is none, or it is away; `unsigned`: not signed
 * by the configured key; `older` than what is there; `damaged`: other bytes than it says; `of another version`; `changing`
 * faster than it is read.
 */
type SourceErrorKind = 'absent' | 'unsigned' | 'older' | 'damaged' | 'of another version' | 'changing';

/** Why a publication cannot be taken, as a sentence that says what to do. */
export class SourceError extends Error {
  override name = 'SourceError';
  readonly kind: SourceErrorKind;
  /** Until when it asks to be left alone. */
  readonly retryAt: Date | undefined;
  /** Whether the same question may well succeed in a moment. */
  readonly transient: boolean;

  constructor(
    kind: SourceErrorKind,
    message: string,
    options: ErrorOptions & { readonly retryAt?: Date; readonly transient?: boolean } = {},
  ) {
    super(message, options);
    this.kind = kind;
    this.retryAt = options.retryAt;
    this.transient = options.transient ?? false;
  }
}

/** What a publication says of its generation in force, as it says it. */
export interface FoundGeneration {
  readonly generation: Generation;
  readonly text: Buffer;
  /** The detached JWS; undefined where there is none. */
  readonly jws: Buffer | undefined;
  readonly etag: string | null;
}

const mebibyte = 2 ** 20;
const smallBytes = mebibyte;
const flushedAtOnce = 8 * mebibyte;
/** More than the longest change list: of a first build of a million packages. */
export const changesBytes: number = 256 * mebibyte;
/** More than the largest document. */
const documentBytes = 1024 * mebibyte;

/** Of the memory that decompressing takes, as a power of two of bytes; catalogs are written with a sixteenth of it. */
const windowLog = 24;
const longestRetryAfter = 3_600_000;

/** What a server that is busy, or started anew, and what is before it say for a moment. */
const passing: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

// generation.json and its signature are two files, and between them another generation may come in force.
const signatureTries = 5;

/** A publication elsewhere, read over the network. */
export class PublicationSource {
  readonly base: string;
  readonly #fetcher: Fetcher;
  readonly #publicKey: string | undefined;

  /** With a public key only what is signed by it is taken. */
  constructor(base: string, fetcher: Fetcher, publicKey?: string) {
    this.base = base.replace(/\/+$/, '');
    this.#fetcher = fetcher;
    this.#publicKey = publicKey;
  }

  /**
   * The generation in force; undefined where it is still the one with this entity tag.
   *
   * @throws SourceError where there is none, or it is not signed by the configured key; NetworkError
   */
  async readGeneration(etag?: string | null): Promise<FoundGeneration | undefined> {
    for (let tries = 1; ; tries++) {
      const found = await this.#fetch(generationPath.current, { maxBytes: smallBytes, etag: etag ?? null });
      if (found.status === 304) return undefined;
      if (found.status !== 200) {
        const retryAt = parseRetryAfter(found.retryAfter, new Date(), longestRetryAfter);
        throw new SourceError(
          'absent',
          `${this.base} publishes no generation (${found.status} for ${generationPath.current}): give the address of a Debdex publication, and see that its build ended well.`,
          retryAt === undefined ? {} : { retryAt },
        );
      }
      const text = await collect(found.body);
      const generation = parse(generationSchema, text, `${this.base}/${generationPath.current}`);
      const { jws, isRight } = await this.#readSignature(text);
      if (isRight) return { generation, text, jws, etag: found.etag };
      if (tries === signatureTries) {
        throw new SourceError(
          'unsigned',
          `${this.base}/${generationPath.signature} is ${jws === undefined ? 'missing' : 'not by the public key that is configured, or of another text'}: nothing was taken. If its maintainer changed the key, configure the new one.`,
        );
      }
    }
  }

  // That which is named after what it signs stands before that does, and longer. The one in force may be of the next
  // generation already: for a moment, or until the next build where the last was killed in that moment.
  async #readSignature(text: Buffer): Promise<{ jws: Buffer | undefined; isRight: boolean }> {
    let jws: Buffer | undefined;
    for (const path of [signaturePathOf(text), generationPath.signature]) {
      const found = await this.#read(path, smallBytes);
      if (found === undefined) continue;
      const isRight = this.#publicKey === undefined || (await verifySignature(found.toString(), text, this.#publicKey));
      if (isRight) return { jws: found, isRight };
      jws = found;
    }
    return { jws, isRight: this.#publicKey === undefined };
  }

  /**
   * A change list of so many bytes at most; undefined where it is longer, not there any more, or none: nobody signs them,
   * and everything can be taken without.
   *
   * @throws SourceError, NetworkError
   */
  async readChanges(
    number: number,
    maxBytes = changesBytes,
  ): Promise<{ readonly list: ChangeList; readonly bytes: number } | undefined> {
    const path = generationPath.changes(number);
    const bytes = await this.#read(path, maxBytes).catch(unlessTooLarge);
    const found = bytes && changeListSchema.safeParse(parseJson(bytes));
    return found?.data?.number === number ? { list: found.data, bytes: bytes?.length ?? 0 } : undefined;
  }

  /**
   * Takes a file as it is into a new file on this disk; returns its SHA-256 in hex, or undefined where there is none.
   */
  async take(path: string, file: string, maxBytes = documentBytes): Promise<string | undefined> {
    const found = await this.#fetch(path, { maxBytes });
    if (found.status !== 200) return this.#absent(path, found);
    const digest = createHash('sha256');
    await pipeline(Readable.from(found.body), hashing(digest), createWriteStream(file, { flags: 'wx' }));
    return digest.digest('hex');
  }

  /**
   * Takes the catalog of a generation into two new files on this disk, compressed as it is and plain. Never more than was
   * announced of it is read or written, little of it is in memory, and the disk is at work meanwhile. Returns the SHA-256
   * of the compressed file in hex; undefined where it is not there any more.
   *
   * @throws SourceError where it is not the one that was announced; NetworkError; what a disk throws
   */
  async takeCatalog(
    { path, sha256, size, compressed_size: compressedSize }: Generation['catalog'],
    into: { readonly compressed: string; readonly plain: string },
  ): Promise<string | undefined> {
    const found = await this.#fetch(path, { maxBytes: compressedSize });
    if (found.status !== 200) return this.#absent(path, found);
    const [digest, ofCompressed] = [createHash('sha256'), createHash('sha256')];
    const count = { plain: 0 };
    const disk: Disk = { failure: undefined };
    const keep = copyTo(into.compressed, disk, ofCompressed);
    try {
      await pipeline(
        Readable.from(found.body),
        (pieces: AsyncIterable<Uint8Array>) => cutAtFrames(keep(pieces)),
        createZstdDecompress({ chunkSize: mebibyte, params: { [constants.ZSTD_d_windowLogMax]: windowLog } }),
        hashing(digest, size, count),
        copyTo(into.plain, disk),
        drain,
      );
    } catch (error) {
      if (disk.failure !== undefined) throw disk.failure;
      if (error instanceof NetworkError) throw error;
      throw this.#damaged(path, error);
    }
    if (digest.digest('hex') !== sha256 || count.plain !== size) throw this.#damaged(path);
    return ofCompressed.digest('hex');
  }

  #damaged(path: string, cause?: unknown): SourceError {
    return new SourceError(
      'damaged',
      `${this.base}/${path} is cut short or has other bytes than the generation says: it was not taken. If this stays so, its maintainer should publish again, or empty the cache in front.`,
      { cause },
    );
  }

  #absent(path: string, { status, retryAfter }: FetchResult): undefined {
    // A bucket that nobody may list says 403 of what is not there; what may not be read is told by generation.json.
    if (status === 404 || status === 410 || status === 403) return undefined;
    const retryAt = parseRetryAfter(retryAfter, new Date(), longestRetryAfter);
    throw new SourceError('absent', `${this.base}/${path} answered ${status}.`, {
      transient: passing.has(status),
      ...(retryAt && { retryAt }),
    });
  }

  async #read(path: string, maxBytes: number): Promise<Buffer | undefined> {
    const found = await this.#fetch(path, { maxBytes });
    return found.status === 200 ? collect(found.body) : this.#absent(path, found);
  }

  #fetch(path: string, options: { maxBytes: number; etag?: string | null }) {
    const address = path.split('/').map(encodeURIComponent).join('/');
    return this.#fetcher.fetch(new URL(`${this.base}/${address}`), options);
  }
}

/** What to say of a 304 to a question without a tag. */
export const unaskedNotModified = (base: string): SourceError =>
  new SourceError('absent', `${base} answered 304 to a question without a tag: see what is in front of it.`);

/** What is older than what one has may be a replayed copy (P3). `folder` holds what one has. */
export const assertNotOlder = (
  found: Generation,
  local: Generation | undefined,
  { base, folder }: { readonly base: string; readonly folder: string },
): void => {
  if (local === undefined || found.number > local.number) return;
  if (found.number === local.number && found.date > local.date) return;
  throw new SourceError(
    'older',
    `${base} publishes generation ${found.number} of ${found.date}, which is older than the generation ${local.number} of ${local.date} in ${folder}: nothing was taken. Where its maintainer began anew, take it into an empty folder.`,
  );
};

const collect = async (body: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
};

/**
 * What the disk failed with first. It tells of each failure once, so none must be lost; and of a pipeline that one ends
 * it is not always that one which is told, but what ended by it.
 */
interface Disk {
  failure: unknown;
}

/**
 * Hands pieces on once they are written to a new file as well. What is written is flushed while more comes, so that
 * little is left to flush at the end.
 */
const copyTo = (file: string, disk: Disk, digest?: ReturnType<typeof createHash>) =>
  async function* (pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const note = (error: unknown): void => {
      disk.failure ??= error;
    };
    const attempt = async <T>(work: Promise<T>): Promise<T> => {
      work.catch(note);
      return work;
    };
    const handle = await attempt(open(file, 'wx'));
    let unflushed = 0;
    let flushing: Promise<void> | undefined;
    const flush = async () => {
      unflushed = 0;
      await handle.datasync().catch(note);
      flushing = undefined;
    };
    try {
      for await (const piece of pieces) {
        digest?.update(piece);
        await attempt(handle.appendFile(piece));
        unflushed += piece.length;
        if (unflushed >= flushedAtOnce) flushing ??= flush();
        if (disk.failure !== undefined) throw disk.failure;
        yield piece;
      }
      await flushing;
      if (disk.failure !== undefined) throw disk.failure;
    } finally {
      await flushing;
      await handle.close();
    }
  };

/**
 * Has each piece end where a frame of zstd does, so that the decoder reads all of them. Throws where the last one does not
 * end, or something else follows.
 */
export async function* cutAtFrames(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const scanner = createFrameScanner();
  for await (const piece of pieces) {
    yield* scanner.split(piece);
    if (scanner.state() === 'garbage' || scanner.state() === 'crumbs') break;
  }
  if (scanner.state() !== 'boundary') throw new Error('it does not end where a frame of zstd does');
}

const drain = async (pieces: AsyncIterable<Uint8Array>): Promise<void> => {
  for await (const _ of pieces);
};

const hashing = (
  digest: ReturnType<typeof createHash>,
  maxBytes = Number.POSITIVE_INFINITY,
  count = { plain: 0 },
): Transform => {
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      count.plain += piece.length;
      digest.update(piece);
      if (count.plain > maxBytes)
        done(new SourceError('damaged', `There are more bytes than the ${maxBytes} that were announced.`));
      else done(null, piece);
    },
  });
};

const unlessTooLarge = (error: unknown): undefined => {
  if (!(error instanceof NetworkError) || error.code !== 'too-large') throw error;
};

const parseJson = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
};

const parse = <T>(schema: { parse(value: unknown): T }, bytes: Buffer, name: string): T => {
  try {
    return schema.parse(JSON.parse(bytes.toString()));
  } catch (cause) {
    throw new SourceError(
      'of another version',
      `${name} is not of a form that this version knows: update Debdex, or ask its maintainer.`,
      { cause },
    );
  }
};

import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdDecompress } from 'node:zlib';
import { createFrameScanner } from '../apt/zstd-frames.ts';
import { withoutControls } from '../contract/findings.ts';
import {
  type ChangeList,
  changeListSchema,
  type Generation,
  generationPath,
  generationSchema,
  isDetachedJws,
} from '../contract/generation.ts';
import { parseJson } from '../contract/json-text.ts';
import { fileAddress } from '../contract/paths.ts';
import type { Fetcher, FetchResult } from '../net/fetcher.ts';
import { NetworkError } from '../net/network-error.ts';
import { parseRetryAfter } from '../net/retry.ts';
import { signaturePathOf } from '../publication/generation-signature.ts';
import { verifySignature } from '../publication/signature.ts';

/**
 * Why a publication cannot be taken. `absent`: there is none, or it is unavailable; `unsigned`: not signed by the
 * configured key; `older` than what is held; `damaged`: its bytes differ from what it says; `of another version`;
 * `changing` faster than it is read.
 */
type SourceErrorKind = 'absent' | 'unsigned' | 'older' | 'damaged' | 'of another version' | 'changing';

/** Why a publication cannot be taken, as a sentence that says what to do. */
export class SourceError extends Error {
  override name = 'SourceError';
  readonly kind: SourceErrorKind;
  /** Until when it asks to be left alone. */
  readonly retryAt: Date | undefined;
  /** Whether the same request may well succeed in a moment. */
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

/** The generation in force, exactly as a publication states it. */
export interface FoundGeneration {
  readonly generation: Generation;
  readonly text: Buffer;
  /** The detached JWS; undefined if there is none. */
  readonly jws: Buffer | undefined;
  readonly etag: string | null;
}

const mebibyte = 2 ** 20;
const smallBytes = mebibyte;
const openingBrace = 0x7b;
const flushedAtOnce = 8 * mebibyte;
/** More than the longest change list, that of a first build with a million packages. */
export const changesBytes: number = 256 * mebibyte;
/** More than the largest document. */
const documentBytes = 1024 * mebibyte;

/** How much memory decompressing may take, as a power of two of bytes. Catalogs are written with a sixteenth of it. */
const windowLog = 24;
const longestRetryAfter = 3_600_000;

/** Temporary answers of a server that is busy or restarting, and of proxies in front of it. */
const passing: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

// generation.json and its signature are two files, and another generation may come into force between reading them.
const signatureTries = 5;

/** A publication elsewhere, read over the network. */
export class PublicationSource {
  readonly base: string;
  readonly #fetcher: Fetcher;
  readonly #publicKey: string | undefined;

  /** With a public key, only what it signed is taken. */
  constructor(base: string, fetcher: Fetcher, publicKey?: string) {
    this.base = base.replace(/\/+$/, '');
    this.#fetcher = fetcher;
    this.#publicKey = publicKey;
  }

  /**
   * The generation in force; undefined if it still has this entity tag.
   *
   * @throws SourceError if there is none, or it is not signed by the configured key; NetworkError
   */
  async readGeneration(etag?: string | null): Promise<FoundGeneration | undefined> {
    for (let tries = 1; ; tries++) {
      const found = await this.#fetch(generationPath.current, { maxBytes: smallBytes, etag: etag ?? null });
      if (found.status === 304) return undefined;
      if (passing.has(found.status)) this.#absent(generationPath.current, found);
      if (found.status !== 200) {
        throw new SourceError(
          'absent',
          `${this.base} publishes no generation (${found.status} for ${generationPath.current}): give the address of a Debdex publication, and see that its build ended well.`,
        );
      }
      const text = await collect(found.body);
      const coding = found.contentEncoding?.trim().toLowerCase() || 'identity';
      // Some hosts name a coding, as "utf-8" or "aws-chunked", and send the file as it is.
      if (coding !== 'identity' && text[0] !== openingBrace) {
        throw new SourceError(
          'absent',
          `${this.base}/${generationPath.current} comes compressed (${withoutControls(coding)}), though it was not asked for so: see that its host and what is in front of it send files as they are to those who do not accept compressed ones.`,
        );
      }
      if (/^[\ufeff\s]*</.test(text.subarray(0, 1024).toString())) {
        throw new SourceError(
          'absent',
          `${this.base}/${generationPath.current} is a web page: give the address of a Debdex publication, and see that no host or network in front of it answers with a page of its own.`,
        );
      }
      const generation = parse(generationSchema, text, `${this.base}/${generationPath.current}`);
      const { jws, isRight, isOther } = await this.#readSignature(text);
      if (isRight) return { generation, text, jws, etag: found.etag };
      if (tries === signatureTries) {
        const missing = isOther ? 'no signature, but such as a web page' : 'missing';
        throw new SourceError(
          'unsigned',
          `${this.base}/${generationPath.signature} is ${jws === undefined ? missing : 'not by the public key that is configured, or of another text'}: nothing was taken. If its maintainer changed the key, configure the new one.`,
        );
      }
    }
  }

  // The signature that is named after what it signs is published first and kept longer. The one under the fixed name
  // may already belong to the next generation: for a moment, or until the next build if the last one was killed in that
  // moment. Some hosts, and networks that want somebody to sign in, answer with a page for a file that is not there.
  async #readSignature(text: Buffer) {
    let jws: Buffer | undefined;
    let isOther = false;
    for (const path of [signaturePathOf(text), generationPath.signature]) {
      const found = await this.#read(path, smallBytes);
      if (found === undefined) continue;
      if (!isDetachedJws(found.toString())) {
        isOther = true;
        continue;
      }
      const isRight = this.#publicKey === undefined || (await verifySignature(found.toString(), text, this.#publicKey));
      if (isRight) return { jws: found, isRight, isOther };
      jws = found;
    }
    return { jws, isRight: this.#publicKey === undefined, isOther };
  }

  /**
   * A change list with at most that many bytes; undefined if it is longer, gone, or invalid: nobody signs them, and
   * everything can be taken without them.
   *
   * @throws SourceError, NetworkError
   */
  async readChanges(
    number: number,
    maxBytes = changesBytes,
  ): Promise<{ readonly list: ChangeList; readonly bytes: number } | undefined> {
    const path = generationPath.changes(number);
    const bytes = await this.#read(path, maxBytes).catch(unlessTooLarge);
    const found = bytes && changeListSchema.safeParse(parseJson(bytes.toString()));
    return found?.data?.number === number ? { list: found.data, bytes: bytes?.length ?? 0 } : undefined;
  }

  /**
   * Takes a file as it is into a new file on this disk. Returns its SHA-256 in hex, or undefined if it does not exist.
   */
  async take(path: string, file: string, maxBytes = documentBytes): Promise<string | undefined> {
    const found = await this.#fetch(path, { maxBytes });
    if (found.status !== 200) return this.#absent(path, found);
    const digest = createHash('sha256');
    await pipeline(Readable.from(found.body), hashing(digest), createWriteStream(file, { flags: 'wx' }));
    return digest.digest('hex');
  }

  /**
   * Takes the catalog of a generation into two new files on this disk, one compressed as published and one plain. Never
   * reads or writes more than was announced, keeps little in memory, and writes while it reads. Returns the SHA-256 of
   * the compressed file in hex; undefined if it does not exist any more.
   *
   * @throws SourceError if it is not the announced one; NetworkError; errors of the disk
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
    // A bucket that may not be listed answers 403 for a missing object. If nothing may be read at all, generation.json
    // shows that.
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

  async #fetch(path: string, options: { maxBytes: number; etag?: string | null }): Promise<FetchResult> {
    const naming = (error: unknown): never => {
      throw withFile(path, error);
    };
    const found = await this.#fetcher.fetch(new URL(fileAddress(this.base, path)), options).catch(naming);
    async function* read(): AsyncGenerator<Uint8Array, void, void> {
      try {
        yield* found.body;
      } catch (error) {
        naming(error);
      }
    }
    return { ...found, body: read() };
  }
}

/** The error for a 304 answer to a request without a tag. */
export const unaskedNotModified = (base: string): SourceError =>
  new SourceError('absent', `${base} answered 304 to a question without a tag: see what is in front of it.`);

/**
 * Refuses a generation that is older than the one held, because it may be a replayed copy (P3). `folder` holds the
 * present one.
 */
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

const collect = async (body: AsyncIterable<Uint8Array>): Promise<Buffer> => Buffer.concat(await Array.fromAsync(body));

/**
 * The first error of the disk. It reports each failure once, so none must be lost; and the error of a pipeline is not
 * always the one that ended it, but may be a consequence.
 */
interface Disk {
  failure: unknown;
}

/**
 * Passes pieces on once they are also written to a new file. Written pieces are flushed while more arrive, so that
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
 * Cuts pieces at the ends of zstd frames, so that the decoder reads all of them. Throws if the last frame does not end,
 * or something else follows.
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

/** The same failure with the file that it befell: among many thousands, "other side closed" is of any of them. */
const withFile = (path: string, error: unknown): unknown => {
  if (!(error instanceof NetworkError) || error.message.includes(path)) return error;
  const { code, message, transient } = error;
  return new NetworkError(code, `${path}: ${message}`, { cause: error, transient });
};

const unlessTooLarge = (error: unknown): undefined => {
  if (!(error instanceof NetworkError) || error.code !== 'too-large') throw error;
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

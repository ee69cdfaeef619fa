import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import {
  type ChangeList,
  changeListSchema,
  type Generation,
  generationPath,
  generationSchema,
} from '../contract/generation.ts';
import type { Fetcher } from '../net/fetcher.ts';
import { verifySignature } from '../publication/signature.ts';

/** Why a publication cannot be taken, as a sentence that says what to do. */
export class SourceError extends Error {
  override name = 'SourceError';
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
const changesBytes = 256 * mebibyte;
/** More than the largest document. */
const documentBytes = 1024 * mebibyte;

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
        throw new SourceError(
          `${this.base} publishes no generation (${found.status} for ${generationPath.current}): give the address of a Debdex publication, and see that its build ended well.`,
        );
      }
      const text = await collect(found.body);
      const generation = parse(generationSchema, text, `${this.base}/${generationPath.current}`);
      const jws = await this.#read(generationPath.signature, smallBytes);
      if (this.#publicKey === undefined) return { generation, text, jws, etag: found.etag };
      if (jws !== undefined && (await verifySignature(jws.toString(), text, this.#publicKey))) {
        return { generation, text, jws, etag: found.etag };
      }
      if (tries === signatureTries) {
        throw new SourceError(
          `${this.base}/${generationPath.signature} is ${jws === undefined ? 'missing' : 'not by the public key that is configured, or of another text'}: nothing was taken. If its maintainer changed the key, configure the new one.`,
        );
      }
    }
  }

  /** A change list; undefined where it is not there any more. */
  async readChanges(number: number): Promise<ChangeList | undefined> {
    const path = generationPath.changes(number);
    const bytes = await this.#read(path, changesBytes);
    return bytes && parse(changeListSchema, bytes, `${this.base}/${path}`);
  }

  /**
   * Takes a file as it is into a new file on this disk; returns its SHA-256 in hex, or undefined where there is none.
   */
  async take(path: string, file: string): Promise<string | undefined> {
    const found = await this.#fetch(path, { maxBytes: documentBytes });
    if (found.status !== 200) return this.#absent(path, found.status);
    const digest = createHash('sha256');
    await pipeline(Readable.from(found.body), hashing(digest), createWriteStream(file, { flags: 'wx' }));
    return digest.digest('hex');
  }

  /**
   * Takes a compressed file into a new file on this disk, its plain bytes; returns their SHA-256 in hex, or undefined
   * where there is none. More plain bytes than `maxBytes` are an error.
   */
  async takePlain(path: string, file: string, maxBytes: number): Promise<string | undefined> {
    const found = await this.#fetch(path, { maxBytes: documentBytes });
    if (found.status !== 200) return this.#absent(path, found.status);
    const digest = createHash('sha256');
    await pipeline(
      Readable.from(found.body),
      createZstdDecompress(),
      hashing(digest, maxBytes),
      createWriteStream(file, { flags: 'wx' }),
    );
    return digest.digest('hex');
  }

  #absent(path: string, status: number): undefined {
    if (status === 404 || status === 410) return undefined;
    throw new SourceError(`${this.base}/${path} answered ${status}.`);
  }

  async #read(path: string, maxBytes: number): Promise<Buffer | undefined> {
    const found = await this.#fetch(path, { maxBytes });
    return found.status === 200 ? collect(found.body) : this.#absent(path, found.status);
  }

  #fetch(path: string, options: { maxBytes: number; etag?: string | null }) {
    const address = path.split('/').map(encodeURIComponent).join('/');
    return this.#fetcher.fetch(new URL(`${this.base}/${address}`), options);
  }
}

const collect = async (body: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
};

const hashing = (digest: ReturnType<typeof createHash>, maxBytes = Number.POSITIVE_INFINITY): Transform => {
  let size = 0;
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      size += piece.length;
      digest.update(piece);
      if (size > maxBytes) done(new SourceError(`There are more bytes than the ${maxBytes} that were announced.`));
      else done(null, piece);
    },
  });
};

const parse = <T>(schema: { parse(value: unknown): T }, bytes: Buffer, name: string): T => {
  try {
    return schema.parse(JSON.parse(bytes.toString()));
  } catch (cause) {
    throw new SourceError(`${name} is not of a form that this version knows: update Debdex, or ask its maintainer.`, {
      cause,
    });
  }
};

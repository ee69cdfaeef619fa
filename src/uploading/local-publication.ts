import { createHash, hash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Generation, generationPath, generationSchema, inventoryFolder } from '../contract/generation.ts';
import { readIfThere } from '../disk/regular-file.ts';
import { signaturePathOf } from '../publication/generation-signature.ts';
import { isBeingPublished } from '../publication/owner.ts';
import { composeSafeInventory, type Inventory } from '../publication/published-inventory.ts';
import { UploadError } from './upload-error.ts';

/** The generation in force in an output folder, and its files. */
export interface LocalGeneration {
  readonly generation: Generation;
  /** The bytes of `generation.json` and, if it is signed, of its signature. */
  readonly text: Buffer;
  readonly jws: Buffer | undefined;
  readonly inventory: Inventory;
}

/** A published file, checked against its generation. It stays readable when a build replaces it, until it is disposed. */
export interface LocalFile extends AsyncDisposable {
  readonly sha256: string;
  readonly size: number;
  /** Undefined if the file is large. */
  readonly bytes: Buffer | undefined;
  /** Reads the bytes from the beginning. Can be called repeatedly. */
  open(): Readable;
}

/** A file differs from what its generation says: a build is replacing it, or was interrupted while replacing it. */
export class Superseded extends Error {}

// Files up to this size, in bytes, are read once and kept in memory; as many as are sent at once may be there together.
const largestInMemory = 2 ** 20;
const pollMs = 500;
/**
 * How long files may differ from their generation while no build runs, in milliseconds: for so long a mirror may be
 * updating.
 */
const usualPatienceMs = 10_000;

const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

const digestStream = async (stream: AsyncIterable<Buffer>): Promise<string> => {
  const digest = createHash('sha256');
  for await (const piece of stream) digest.update(piece);
  return digest.digest('hex');
};

const pieceBytes = 256 * 1024;

async function* readPieces(handle: FileHandle): AsyncGenerator<Buffer> {
  for (let position = 0; ; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(pieceBytes), 0, pieceBytes, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

// A stream of node:fs would close the file when it is destroyed, but the same file is sent under several names, and
// again after errors.
const streamOf = (handle: FileHandle): Readable => Readable.from(readPieces(handle), { objectMode: false });

/** A file made of bytes in memory. */
export const fileOf = (bytes: Buffer): LocalFile => ({
  sha256: hash('sha256', bytes),
  size: bytes.length,
  bytes,
  open: () => Readable.from([bytes]),
  [Symbol.asyncDispose]: async () => {},
});

/** What a build, or a mirror, has published in a folder. */
export class LocalPublication {
  readonly folder: string;
  readonly #patienceMs: number;

  constructor(folder: string, patienceMs = usualPatienceMs) {
    this.folder = folder;
    this.#patienceMs = patienceMs;
  }

  /** @throws UploadError if nothing is published there, or it is damaged */
  read(): LocalGeneration {
    for (;;) {
      const text = this.#readOptional(generationPath.current);
      if (text === undefined) {
        throw new UploadError(
          `${this.folder} holds no publication (there is no ${generationPath.current}): run npm run build first, or name its folder with --out.`,
        );
      }
      const generation = this.#parse(text);
      // The file with the usual name may already sign the next generation, if a build is publishing or was killed.
      const jws = this.#readOptional(signaturePathOf(text)) ?? this.#readOptional(generationPath.signature);
      const inventory = this.#readInventory(generation);
      if (!this.#readOptional(generationPath.current)?.equals(text)) continue;
      if (inventory === undefined) {
        throw new UploadError(
          `The inventory in ${path.join(this.folder, inventoryFolder)} is missing or damaged, so nobody can tell what belongs to generation ${generation.number}: nothing was sent. Build again with --verify.`,
        );
      }
      return { generation, text, jws, inventory };
    }
  }

  /** Whether a generation is still in force. */
  isInForce({ text }: LocalGeneration): boolean {
    return this.#readOptional(generationPath.current)?.equals(text) ?? false;
  }

  /**
   * Opens a file. `sha256` is the digest in its generation, or undefined if that has none.
   *
   * @throws Superseded if the file is gone, or has other bytes
   */
  async open(file: string, sha256?: string): Promise<LocalFile> {
    const bytes = this.#readSmall(file);
    if (bytes !== undefined) {
      const small = fileOf(bytes);
      if (sha256 !== undefined && small.sha256 !== sha256) throw new Superseded(`${file} has other bytes`);
      return small;
    }
    const handle = await open(path.join(this.folder, file)).catch((error: unknown) => {
      throw isMissing(error) ? new Superseded(`${file} is missing`) : error;
    });
    try {
      const { size } = await handle.stat();
      const digest = await digestStream(streamOf(handle));
      if (sha256 !== undefined && digest !== sha256) throw new Superseded(`${file} has other bytes`);
      const open = () => streamOf(handle);
      return { sha256: digest, size, bytes: undefined, open, [Symbol.asyncDispose]: () => handle.close() };
    } catch (error) {
      await handle.close().catch(() => {});
      throw error;
    }
  }

  // Synchronously: four trips through the thread pool cost several times as much as the four calls.
  #readSmall(file: string): Buffer | undefined {
    let descriptor: number;
    const name = path.join(this.folder, file);
    try {
      // To open a pipe waits for somebody who writes into it.
      if (!statSync(name).isFile()) throw new Superseded(`${file} is no file`);
      descriptor = openSync(name, 'r');
    } catch (error) {
      throw isMissing(error) ? new Superseded(`${file} is missing`) : error;
    }
    try {
      return fstatSync(descriptor).size <= largestInMemory ? readFileSync(descriptor) : undefined;
    } finally {
      closeSync(descriptor);
    }
  }

  /** The present size of a file, in bytes; 0 if it is gone. */
  sizeOf(file: string): number {
    return statSync(path.join(this.folder, file), { throwIfNoEntry: false })?.size ?? 0;
  }

  /**
   * Resolves when a generation is in force other than the one whose files are gone; waits while a build is publishing.
   * Returns at once if that has already happened.
   *
   * @throws UploadError if nobody is publishing: a build was interrupted
   */
  async waitForNext(superseded: LocalGeneration, why: string, onWait: () => void): Promise<void> {
    let idleSince = performance.now();
    for (let isFirst = true; this.isInForce(superseded); isFirst = false) {
      if (isBeingPublished(this.folder)) idleSince = performance.now();
      // The build may have ended between the two checks.
      else if (performance.now() - idleSince > this.#patienceMs && this.isInForce(superseded)) {
        throw new UploadError(
          `The files in ${this.folder} are not those of its generation ${superseded.generation.number} (${why}), and no build is running: one was interrupted. Run npm run build (or npm run mirror, where that is how the folder came about), then upload again.`,
        );
      }
      if (isFirst) onWait();
      await sleep(pollMs);
    }
  }

  #readOptional(file: string): Buffer | undefined {
    return readIfThere(path.join(this.folder, file));
  }

  #parse(text: Buffer): Generation {
    try {
      return generationSchema.parse(JSON.parse(text.toString()));
    } catch (cause) {
      throw new UploadError(
        `${path.join(this.folder, generationPath.current)} is damaged, or written by another version of Debdex: build again.`,
        { cause },
      );
    }
  }

  #readInventory({ documents }: Generation): Inventory | undefined {
    const { inventory, differences } = documents;
    return composeSafeInventory(documents, {
      whole: this.#readOptional(inventory),
      differences: differences === undefined ? undefined : this.#readOptional(differences),
    });
  }
}

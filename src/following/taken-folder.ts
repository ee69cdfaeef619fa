import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { identifyLock, lockReplica } from '../catalog/lock.ts';
import { isOwnCatalog } from '../catalog/state-catalog.ts';
import { type Generation, generationSchema } from '../contract/generation.ts';
import { flushFile } from '../disk/flush-file.ts';
import { makeFolder } from '../disk/make-folder.ts';
import { hasRegularFile } from '../disk/regular-file.ts';
import { signaturePathOf } from '../publication/generation-signature.ts';
import { digestFile } from '../publication/inventory.ts';
import { verifySignature } from '../publication/signature.ts';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** A file as it was when it was known to be complete. Its time, in nanoseconds, shows whether it was touched since. */
const fileSchema = z.strictObject({ sha256, size: z.int(), changed: z.string() });

const largeSchema = z.strictObject({
  /** Below the output folder of the publication. */
  path: z.string(),
  /** The digest of the content without its date, in hex, and that date, as in the catalog. */
  digest: z.string().regex(/^[0-9a-f]{32}$/),
  date: z.string(),
  file: fileSchema,
});

const noteSchema = z.strictObject({
  format: z.literal(1),
  /** `generation.json` as published, its signature, and its entity tag. */
  text: z.string(),
  jws: z.string().nullable(),
  etag: z.string().nullable(),
  catalog: fileSchema,
  /** The catalog as published. */
  compressed: fileSchema,
  large: z.array(largeSchema),
});

/** What was taken of a publication, complete and checked. */
export type Note = Readonly<z.infer<typeof noteSchema>>;
/** A document that is too large to be composed on request, and is kept as a file. */
export type LargeDocument = Note['large'][number];

/** A taken generation. */
export interface Taken {
  readonly generation: Generation;
  /** The path of the published signature that is named after what it signs. */
  readonly signaturePath: string;
  readonly note: Note;
}

/** Parses a note. */
export const takenOf = (note: Note): Taken => ({
  generation: generationSchema.parse(JSON.parse(note.text)),
  signaturePath: signaturePathOf(note.text),
  note,
});

/** Describes a file that is known to have this digest. */
export const describeFile = (file: string, digest: string): Note['catalog'] => {
  const { size, mtimeNs } = statSync(file, { bigint: true });
  return { sha256: digest, size: Number(size), changed: String(mtimeNs) };
};

const isSame = (file: string, known: Note['catalog']): boolean => {
  if (!existsSync(file)) return false;
  const now = describeFile(file, known.sha256);
  if (now.size !== known.size) return false;
  return now.changed === known.changed || digestFile(file) === known.sha256;
};

/**
 * The folder of what a replica took: catalogs and large documents, both named after their content, and one note,
 * written last, that says which of them are in force. Whatever a killed replica left half-done has a temporary name.
 */
export class TakenFolder {
  readonly root: string;
  #serial = 0;
  /** The note on disk, as far as this object has written it. */
  #written: Note | undefined;
  #heldLock: string | undefined;
  #unlock = () => {};

  /**
   * `state` is the state folder, which also contains other things. `heldLock` is that of another object of this process
   * for the same folder.
   */
  constructor(state: string, heldLock?: string) {
    this.root = path.join(path.resolve(state), 'replica');
    this.#heldLock = heldLock;
  }

  /** The lock that this process holds; undefined if it holds none. */
  get heldLock(): string | undefined {
    return this.#heldLock;
  }

  /** Keeps other replicas out until the returned function is called. Throws LockedError if one uses the folder. */
  lock(): () => void {
    const unlock = lockReplica(this.root);
    this.#heldLock = identifyLock(this.root);
    for (const folder of [this.#catalogs, this.documents]) makeFolder(folder);
    this.sweep();
    return () => {
      unlock();
      this.#unlock();
    };
  }

  get #staging(): string {
    return path.join(this.root, 'staging');
  }
  get #catalogs(): string {
    return path.join(this.root, 'catalog');
  }
  /** The folder of large documents. */
  get documents(): string {
    return path.join(this.root, 'documents');
  }
  get #note(): string {
    return path.join(this.root, 'in-force.json');
  }

  /** The catalog with this digest, plain or compressed as published. */
  catalog(digest: string, ending: 'sqlite' | 'sqlite.zst'): string {
    return path.join(this.#catalogs, `${digest}.${ending}`);
  }

  /** The large document with this digest. */
  document(digest: string): string {
    return path.join(this.documents, `${digest}.json`);
  }

  /** Whether there is no note, as where somebody removed the folder while a replica answers from it. */
  isEmpty(): boolean {
    return !existsSync(this.#note);
  }

  /**
   * Makes the folders and takes the lock again, if somebody removed them. Throws LockedError if another replica has taken
   * it meanwhile.
   */
  prepare(): void {
    if (this.#heldLock !== undefined && identifyLock(this.root) !== this.#heldLock) {
      this.#unlock();
      this.#unlock = () => {};
      this.#unlock = lockReplica(this.root);
      this.#heldLock = identifyLock(this.root);
    }
    for (const folder of [this.#staging, this.#catalogs, this.documents]) makeFolder(folder);
  }

  /** A name for a new temporary file. */
  temporary(): string {
    return path.join(this.#staging, `${process.pid}-${this.#serial++}`);
  }

  /** Flushes a temporary file and gives it its name. */
  async place(temporary: string, name: string): Promise<void> {
    await using handle = await open(temporary, 'r');
    await handle.sync();
    renameSync(temporary, name);
  }

  /** Puts what was taken into force. Everything that the note names must be on disk before. */
  write(note: Note): void {
    for (const folder of [this.#catalogs, this.documents]) flushFile(folder);
    const temporary = this.temporary();
    writeFileSync(temporary, `${JSON.stringify(note)}\n`);
    flushFile(temporary);
    renameSync(temporary, this.#note);
    this.#written = note;
    flushFile(this.root);
  }

  /**
   * What is in force; undefined if nothing is. With a public key, only what it signed counts. Throws a sentence if
   * something was taken and cannot be used any more, and as `hasRegularFile` does if the note is no file.
   */
  async read(publicKey?: string): Promise<Taken | undefined> {
    if (!hasRegularFile(this.#note)) return undefined;
    const taken = this.#parse();
    const { note, generation } = taken;
    const file = this.catalog(note.catalog.sha256, 'sqlite');
    if (generation.catalog.sha256 !== note.catalog.sha256 || !isSame(file, note.catalog))
      throw this.#unusable('damaged');
    for (const { file } of note.large) if (!isSame(this.document(file.sha256), file)) throw this.#unusable('damaged');
    if (!isOwnCatalog(file)) throw this.#unusable('of another version of Debdex');
    const isSigned =
      publicKey === undefined ||
      (note.jws !== null && (await verifySignature(note.jws, Buffer.from(note.text), publicKey)));
    if (!isSigned) throw this.#unusable('not signed by the public key that is configured');
    return taken;
  }

  /**
   * Removes everything except what is in force and what a replica that starts later would find. These differ if
   * something failed after the note was written. Readers keep the files that they have open.
   */
  clean(inForce: Note | undefined): void {
    const kept = [inForce, this.#written].filter((note) => note !== undefined);
    const documents = new Set(kept.flatMap(({ large }) => large.map(({ file }) => `${file.sha256}.json`)));
    for (const name of readdirSync(this.documents)) {
      if (!documents.has(name)) rmSync(path.join(this.documents, name));
    }
    for (const name of readdirSync(this.#catalogs)) {
      const isKept = kept.some(({ catalog }) => name.startsWith(catalog.sha256));
      if (!isKept) rmSync(path.join(this.#catalogs, name));
    }
    this.sweep();
  }

  /** Removes the temporary files. */
  sweep(): void {
    rmSync(this.#staging, { recursive: true, force: true });
    mkdirSync(this.#staging);
  }

  #parse(): Taken {
    try {
      return takenOf(noteSchema.parse(JSON.parse(readFileSync(this.#note, 'utf8'))));
    } catch (cause) {
      throw this.#unusable('damaged', cause);
    }
  }

  #unusable(why: string, cause?: unknown): Error {
    return new Error(`What was taken before, in ${this.root}, is ${why}: it is taken anew.`, { cause });
  }
}

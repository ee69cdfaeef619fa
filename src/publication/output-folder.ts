import { closeSync, lstatSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { threadId } from 'node:worker_threads';

/** An output folder that is not what it must be, named with what to do. */
export class OutputError extends Error {
  override readonly name = 'OutputError';
}

// Temporary files live in one folder of their own, on the same file system, so that a crash leaves its remains where
// the next build sweeps them and nothing half-written ever has a public name.
const stagingName = '.staging';

/**
 * The output folder: the only way documents get there. A file appears whole, by rename; folders on the way are made,
 * and one that is a symbolic link is refused, so that nothing is ever written outside (C9).
 */
export class OutputFolder {
  readonly root: string;
  // Of this thread alone: several write into one output folder at once.
  readonly #staging: string;
  readonly #folders = new Set<string>();
  #serial = 0;

  constructor(root: string) {
    this.root = path.resolve(root);
    this.#staging = path.join(this.root, stagingName, `${process.pid}-${threadId}`);
  }

  /** The path on this disk of a document's path. */
  resolve(document: string): string {
    return path.join(this.root, ...document.split('/'));
  }

  /** Writes one whole file. */
  write(document: string, content: string | Uint8Array): void {
    const temporary = this.temporary();
    writeFileSync(temporary, content);
    this.place(temporary, document);
  }

  /** The name of a new temporary file. */
  temporary(): string {
    this.#folder(this.#staging);
    return path.join(this.#staging, `${this.#serial++}`);
  }

  /** Gives a temporary file its public name. */
  place(temporary: string, document: string): void {
    const target = this.resolve(document);
    this.#folder(path.dirname(target));
    renameSync(temporary, target);
  }

  /** Removes the temporary files of this and, unless builds run side by side, of every earlier process. */
  sweep(): void {
    rmSync(path.join(this.root, stagingName), { recursive: true, force: true });
    this.#folders.clear();
  }

  #folder(folder: string): void {
    if (this.#folders.has(folder)) return;
    const below = folder !== this.root;
    if (below) this.#folder(path.dirname(folder));
    try {
      mkdirSync(folder, { recursive: !below });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (below && !lstatSync(folder).isDirectory()) {
      throw new OutputError(`${folder} is in the way: it must be a folder and no link; move it away and build again`);
    }
    this.#folders.add(folder);
  }
}

/** A file written piece by piece before it gets its public name. */
export class StagedFile {
  /** Bytes so far. */
  size = 0;
  readonly #output: OutputFolder;
  readonly #file: string;
  readonly #descriptor: number;

  constructor(output: OutputFolder) {
    this.#output = output;
    this.#file = output.temporary();
    this.#descriptor = openSync(this.#file, 'wx');
  }

  append(bytes: Uint8Array): void {
    this.size += bytes.length;
    for (let written = 0; written < bytes.length; ) written += writeSync(this.#descriptor, bytes, written);
  }

  /** Overwrites bytes already written, at this offset from the beginning. */
  overwrite(offset: number, bytes: Uint8Array): void {
    writeSync(this.#descriptor, bytes, 0, bytes.length, offset);
  }

  place(document: string): void {
    closeSync(this.#descriptor);
    this.#output.place(this.#file, document);
  }

  discard(): void {
    closeSync(this.#descriptor);
    rmSync(this.#file, { force: true });
  }
}

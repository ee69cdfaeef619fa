import { closeSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import type { OutputFolder } from './output-folder.ts';

/** A file that is written piece by piece before it gets its public name. */
export class StagedFile {
  /** Bytes written so far. */
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
    writeFileSync(this.#descriptor, bytes);
  }

  /** Overwrites bytes that are already written, at this offset from the beginning. */
  overwrite(offset: number, bytes: Uint8Array): void {
    writeSync(this.#descriptor, bytes, 0, bytes.length, offset);
  }

  place(document: string): void {
    closeSync(this.#descriptor);
    this.#output.placeNoted(this.#file, document);
  }

  discard(): void {
    closeSync(this.#descriptor);
    rmSync(this.#file, { force: true });
  }
}

import { flushFiles } from './flush.ts';

/** Whether a file waits for its name, has it, or has it on the disk. */
type FileState = 'held' | 'placed' | 'flushed';

/** The files that get names in an output folder, and how far each is. */
export class PlacedFiles {
  /** Of a million files one table, and not three. */
  readonly #states = new Map<string, FileState>();
  #unflushed = 0;

  has(file: string): boolean {
    return this.#states.has(file);
  }

  isHeld(file: string): boolean {
    return this.#states.get(file) === 'held';
  }

  mark(file: string, state: 'held' | 'placed'): void {
    if (this.#states.get(file) === 'placed') this.#unflushed--;
    if (state === 'placed') this.#unflushed++;
    this.#states.set(file, state);
  }

  forgetHeld(): void {
    for (const [file, state] of this.#states) if (state === 'held') this.#states.delete(file);
  }

  /** Resolves when all that has its name is on the disk. `resolve` gives the path of a file on it, all below `root`. */
  async flush(root: string, resolve: (file: string) => string): Promise<void> {
    if (this.#unflushed === 0) return;
    const states = this.#states;
    // One at a time: of a million files the paths alone are hundreds of megabytes.
    await flushFiles(root, {
      size: this.#unflushed,
      *[Symbol.iterator]() {
        for (const [file, state] of states) if (state === 'placed') yield resolve(file);
      },
    });
    for (const [file, state] of states) if (state === 'placed') states.set(file, 'flushed');
    this.#unflushed = 0;
  }
}

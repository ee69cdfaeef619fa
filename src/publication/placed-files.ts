import { flushFiles } from './flush.ts';

/** Whether a file waits for its name, has it, or has it on disk. */
type FileState = 'held' | 'placed' | 'flushed';

/** The files that get names in an output folder, with their states. */
export class PlacedFiles {
  /** A single map, because there may be a million files. */
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

  /** Resolves when all files with names are on disk. `resolve` gives the path of a file on it; all are below `root`. */
  async flush(root: string, resolve: (file: string) => string): Promise<void> {
    if (this.#unflushed === 0) return;
    const states = this.#states;
    // One at a time: the paths alone of a million files take hundreds of megabytes.
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

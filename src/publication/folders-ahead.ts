import { lstatSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { KnownFolders } from './known-folders.ts';
import type { OutputFolder } from './output-folder.ts';

/** After how many folders other work gets its turn. */
const madeAtOnce = 20;

/**
 * Makes the folders of a first publishing while its files are built: a folder for each of a hundred thousand packages
 * takes a tenth of that, most of it waiting for the disk. They are made among the temporary files, so that nothing is
 * left of them if there is no publishing.
 */
export class FoldersAhead {
  readonly #output: OutputFolder;
  readonly #tops = new Set<string>();
  #root: string | undefined;
  #isOver = false;

  constructor(output: OutputFolder) {
    this.#output = output;
  }

  #isFree(top: string): boolean {
    return lstatSync(this.#output.resolve(top), { throwIfNoEntry: false }) === undefined;
  }

  /**
   * Begins to make the folders of these files, which have "/" between segments, unless the top-level folder exists. Stops
   * where that fails: publishing makes what is missing, and reports why it cannot.
   */
  async begin(files: readonly string[]): Promise<void> {
    const folders = new Set(files.map((file) => path.posix.dirname(file)));
    const byTop = Map.groupBy(folders, (folder) => folder.split('/', 1)[0] ?? '');
    try {
      let made = 0;
      for (const [top, below] of byTop) {
        if (top === '.' || !this.#isFree(top)) continue;
        this.#root ??= this.#output.temporary();
        const known = new KnownFolders(this.#root);
        for (const folder of below) {
          if (this.#isOver) return;
          known.make(path.join(this.#root, folder));
          this.#tops.add(top);
          if (++made % madeAtOnce === 0) await setImmediate();
        }
      }
    } catch {
      // As when the disk is full.
    }
  }

  /** Stops, and removes what was made. To be called if there is no publishing. */
  drop(): void {
    this.#isOver = true;
    if (this.#root === undefined) return;
    // Sweeping leaves what is temporary where something else is held.
    rmSync(this.#root, { recursive: true, force: true });
    this.#output.sweep();
  }

  /** Gives what was made its names, unless they are taken. Returns the top-level folders that are new thereby. */
  place(): ReadonlySet<string> {
    this.#isOver = true;
    const placed = new Set<string>();
    for (const top of this.#tops) {
      if (this.#root === undefined || !this.#isFree(top)) continue;
      try {
        renameSync(path.join(this.#root, top), this.#output.resolve(top));
        placed.add(top);
      } catch {
        // Publishing makes them.
      }
    }
    return placed;
  }
}

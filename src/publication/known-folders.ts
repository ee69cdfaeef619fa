import { lstatSync, mkdirSync, unlinkSync } from 'node:fs';
import path from 'node:path';

/** Makes a folder; returns false where something stands in its place. */
const makeNew = (folder: string): boolean => {
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
};

/** The folders of an output folder that are known to be folders, and no links: each is looked at once, or made. */
export class KnownFolders {
  readonly #root: string;
  readonly #known = new Set<string>();
  /** Those of them that were not there before: nothing is in them but what is placed from now on. */
  readonly #made = new Set<string>();

  constructor(root: string) {
    this.#root = root;
  }

  has(folder: string): boolean {
    return this.#known.has(folder);
  }

  /** Whether it was made here, so that nothing is in it that was not placed here. */
  isNew(folder: string): boolean {
    return this.#made.has(folder);
  }

  /** To be called when folders were removed. */
  forget(): void {
    this.#known.clear();
    this.#made.clear();
  }

  /** Has a folder and all above it stand. What stands in the way goes: a file, or a link (C9). */
  make(folder: string): void {
    if (this.#known.has(folder)) return;
    const below = folder !== this.#root;
    const parent = path.dirname(folder);
    if (below) this.make(parent);
    // In a folder that was made now hardly anything is in the way.
    if (this.#made.has(parent) && makeNew(folder)) this.#made.add(folder);
    else this.#clearWay(folder);
    this.#known.add(folder);
  }

  #clearWay(folder: string): void {
    const below = folder !== this.#root;
    // The output folder itself may be a link: that is how whoever runs this has it.
    const present = below ? lstatSync(folder, { throwIfNoEntry: false }) : undefined;
    if (present?.isDirectory()) return;
    if (present !== undefined) unlinkSync(folder);
    const made = mkdirSync(folder, { recursive: !below });
    // Of the output folder itself it is not known before.
    if (below || made !== undefined) this.#made.add(folder);
  }
}

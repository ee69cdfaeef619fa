import { lstatSync, mkdirSync, statSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { makeFolder } from '../disk/make-folder.ts';

/** Makes a folder. Returns false if that fails, mostly because something is in its place. */
const makeNew = (folder: string): boolean => {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
};

/**
 * The folders of an output folder that are known to be real folders rather than links. Each is examined, or made, once.
 */
export class KnownFolders {
  readonly #root: string;
  readonly #known = new Set<string>();
  /** Those that did not exist before, so that they contain only what is placed from now on. */
  readonly #made = new Set<string>();

  constructor(root: string) {
    this.#root = root;
  }

  has(folder: string): boolean {
    return this.#known.has(folder);
  }

  /** Whether a folder and all folders above it exist and are no links. Changes nothing. */
  isThere(folder: string): boolean {
    if (this.#known.has(folder)) return true;
    // The output folder itself may be a link: that is the operator's choice.
    const below = folder !== this.#root;
    if (below && !this.isThere(path.dirname(folder))) return false;
    const found = (below ? lstatSync : statSync)(folder, { throwIfNoEntry: false });
    if (found?.isDirectory() !== true) return false;
    this.#known.add(folder);
    return true;
  }

  /** Whether it was made here, so that it contains only what was placed here. */
  isNew(folder: string): boolean {
    return this.#made.has(folder);
  }

  /** To be called when folders were removed. */
  forget(): void {
    this.#known.clear();
    this.#made.clear();
  }

  /** Ensures that a folder and all folders above it exist. Replaces a file or link that is in the way (C9). */
  make(folder: string): void {
    if (this.#known.has(folder)) return;
    const below = folder !== this.#root;
    const parent = path.dirname(folder);
    if (below) this.make(parent);
    // In a folder that was just made, nothing is likely to be in the way. Whatever else fails does so below as well.
    if (this.#made.has(parent) && makeNew(folder)) this.#made.add(folder);
    else this.#clearWay(folder);
    this.#known.add(folder);
  }

  #clearWay(folder: string): void {
    const below = folder !== this.#root;
    const present = below ? lstatSync(folder, { throwIfNoEntry: false }) : undefined;
    if (present?.isDirectory()) return;
    if (present !== undefined) unlinkSync(folder);
    // For the output folder itself this is only known afterwards.
    if (below) mkdirSync(folder);
    if (below || makeFolder(folder)) this.#made.add(folder);
  }
}

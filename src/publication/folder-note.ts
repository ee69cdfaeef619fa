import { rmSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { readJsonFile } from '../disk/json-file.ts';
import { writeWholeFile } from '../disk/whole-file.ts';
import type { OutputFolder } from './output-folder.ts';

const noteSchema = z.strictObject({
  /** Its inode number, and when a name in it last changed, in nanoseconds. */
  inode: z.string(),
  changed: z.string(),
  /** How many documents it held. */
  documents: z.int(),
  /** The last document that was examined; empty if the next build begins with the first. */
  last: z.string(),
});
type Note = z.infer<typeof noteSchema>;

/** A part of the documents ordered by name: at most `count`, after a name. */
export interface NamePart {
  readonly after: string;
  readonly most: number;
}

/** Every document is examined within this many builds, */
const rounds = 16;
/** and at least this many in each build. */
const fewest = 4096;

// Within one tick of a file system's clock, another name could change unnoticed. Then nothing is recorded.
const tickMs = 100;
/** The same for file systems that store whole seconds. */
const longTickMs = 2000;

const notePath = (state: string): string => path.join(state, 'publication', 'folder.json');

interface NoteOptions {
  /** Below the output folder. */
  readonly folder: string;
  /** Whether a matching note may be trusted. */
  readonly believed: boolean;
  readonly fewest?: number;
}

/**
 * The state of a folder of documents after a build. A single system call shows whether a name in it was added, removed
 * or replaced since then. It does not show whether a file was modified in place; checking that for each of a million
 * files took a quarter of a build in which one file changed. So if no name changed, each build examines only a part of
 * the folder.
 */
export class FolderNote {
  /** Whether the folder contains exactly the names that the last build left there. */
  readonly isUntouched: boolean;
  /** Which documents this build has to examine. */
  readonly part: NamePart;
  readonly #output: OutputFolder;
  readonly #state: string;
  readonly #folder: string;
  #passed = 0;
  #last = '';

  /** Reads the note and removes it, so that a build that never ends leaves none. */
  constructor(output: OutputFolder, state: string, { folder, believed, fewest: least = fewest }: NoteOptions) {
    this.#output = output;
    this.#state = state;
    this.#folder = folder;
    const note = readJsonFile(notePath(state), noteSchema);
    rmSync(notePath(state), { force: true });
    const now = this.#look();
    // Compressed copies come and go beside their files, and the note does not cover them.
    this.isUntouched =
      believed &&
      !output.keepsCopies &&
      note !== undefined &&
      now !== undefined &&
      note.inode === now.inode &&
      note.changed === now.changed;
    this.part = { after: note?.last ?? '', most: Math.max(least, Math.ceil((note?.documents ?? 0) / rounds)) };
  }

  /** To be called for each document of the part, with the name by which they are ordered. */
  pass(name: string): void {
    this.#passed++;
    this.#last = name;
  }

  /**
   * Records the state for the next build. To be called when this one has removed the vanished documents from the
   * folder.
   */
  take(documents: number): void {
    const now = this.#look();
    if (now === undefined || now.ageMs < now.tickMs) return;
    const { inode, changed } = now;
    const last = this.#passed < this.part.most ? '' : this.#last;
    const note: Note = { inode, changed, documents, last };
    writeWholeFile(notePath(this.#state), JSON.stringify(note));
  }

  #look() {
    const stats = this.#output.lookUpExactly(this.#folder);
    if (!stats?.isDirectory()) return undefined;
    const { ino, mtimeNs } = stats;
    return {
      inode: String(ino),
      changed: String(mtimeNs),
      ageMs: Date.now() - Number(mtimeNs / 1_000_000n),
      tickMs: mtimeNs % 1_000_000_000n === 0n ? longTickMs : tickMs,
    };
  }
}

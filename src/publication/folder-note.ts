import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { writeWholeFile } from '../disk/whole-file.ts';
import type { OutputFolder } from './output-folder.ts';

const noteSchema = z.strictObject({
  /** Its number in its file system, and when a name in it last changed, in nanoseconds. */
  inode: z.string(),
  changed: z.string(),
  /** How many documents it held. */
  documents: z.int(),
  /** The last of those that were looked at; empty where the next are the first. */
  last: z.string(),
});
type Note = z.infer<typeof noteSchema>;

/** A part of what is in order by name: so many, at most, after that name. */
export interface NamePart {
  readonly after: string;
  readonly most: number;
}

/** Within so many builds each document is looked at, */
const rounds = 16;
/** and in each build at least so many. */
const fewest = 4096;

// Within the time for which a file system's clock stands still a name may change once more: then nothing is noted.
const tickMs = 100;
/** The same where times are kept in whole seconds. */
const longTickMs = 2000;

const notePath = (state: string): string => path.join(state, 'publication', 'folder.json');

const readNote = (state: string): Note | undefined => {
  try {
    return noteSchema.parse(JSON.parse(readFileSync(notePath(state), 'utf8')));
  } catch {
    return undefined;
  }
};

interface NoteOptions {
  /** Below the output folder. */
  readonly folder: string;
  /** Whether a note that fits may be believed. */
  readonly believed: boolean;
  readonly fewest?: number;
}

/**
 * How a folder of documents looked when a build ended. The system tells in one question whether a name in it was added,
 * removed or replaced since then. What is written into a file where it stands it does not tell, and to ask that of each
 * of a million took a quarter of a build in which one changed: of a folder in which no name changed each build looks at
 * a part.
 */
export class FolderNote {
  /** Whether the folder holds what the build before left there, by their names, and nothing else. */
  readonly isUntouched: boolean;
  /** Which documents this build is to look at. */
  readonly part: NamePart;
  readonly #output: OutputFolder;
  readonly #state: string;
  readonly #folder: string;
  #passed = 0;
  #last = '';

  /** Reads the note and removes it: a build that never ends leaves none. */
  constructor(output: OutputFolder, state: string, { folder, believed, fewest: least = fewest }: NoteOptions) {
    this.#output = output;
    this.#state = state;
    this.#folder = folder;
    const note = readNote(state);
    rmSync(notePath(state), { force: true });
    const now = this.#look();
    // A compressed copy stands beside its file and goes with it, and is not told of here.
    this.isUntouched =
      believed &&
      !output.keepsCopies &&
      note !== undefined &&
      now !== undefined &&
      note.inode === now.inode &&
      note.changed === now.changed;
    this.part = { after: note?.last ?? '', most: Math.max(least, Math.ceil((note?.documents ?? 0) / rounds)) };
  }

  /** To be called of each document of the part, with the name by which they are in order. */
  pass(name: string): void {
    this.#passed++;
    this.#last = name;
  }

  /** Takes the note, for the build after; to be called when this one has removed from the folder what vanished. */
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

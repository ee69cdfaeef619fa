import { type Dirent, opendirSync, readdirSync } from 'node:fs';
import path from 'node:path';

/** How many names of a folder are in memory at a time. */
const namesAtOnce = 1024;

/** The entries of a folder, unordered and with a few at a time in memory, because there may be a million. */
export function* readEntries(folder: string): Generator<Dirent> {
  const directory = opendirSync(folder, { bufferSize: namesAtOnce });
  try {
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) yield entry;
  } finally {
    // Not by `using`, which knows no folders before Node.js 24.1.
    directory.closeSync();
  }
}

/** The number of files and folders in a folder. */
export const countEntries = (folder: string): number => {
  let count = 0;
  for (const _ of readEntries(folder)) count++;
  return count;
};

/** The files below a folder, unordered and with a few at a time in memory, without those in excluded folders. */
export function* walkFiles(folder: string, below: string, isLeftOut: (folder: string) => boolean): Generator<string> {
  for (const entry of readEntries(path.join(folder, below))) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    if (!entry.isDirectory()) yield name;
    else if (!isLeftOut(name)) yield* walkFiles(folder, name, isLeftOut);
  }
}

/** The same, ordered by name, folder by folder. */
export function* listFiles(folder: string, below = ''): Generator<string> {
  // Folder by folder, because Node's recursive reading makes another system call for each file.
  for (const entry of readdirSync(path.join(folder, below), { withFileTypes: true })) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) yield* listFiles(folder, name);
    else yield name;
  }
}

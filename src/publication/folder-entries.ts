import { type Dirent, opendirSync, readdirSync } from 'node:fs';
import path from 'node:path';

/** Names of a folder that are in memory at once. */
const namesAtOnce = 1024;

/** What is in a folder, in no order and a few at a time in memory: it may hold a million. */
export function* readEntries(folder: string): Generator<Dirent> {
  const directory = opendirSync(folder, { bufferSize: namesAtOnce });
  try {
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) yield entry;
  } finally {
    directory.closeSync();
  }
}

/** How many files and folders are in a folder. */
export const countEntries = (folder: string): number => {
  let count = 0;
  for (const _ of readEntries(folder)) count++;
  return count;
};

/** The files below a folder, in no order and a few at a time in memory; those of folders that are left out not among them. */
export function* walkFiles(
  folder: string,
  below = '',
  isLeftOut: (folder: string) => boolean = () => false,
): Generator<string> {
  for (const entry of readEntries(path.join(folder, below))) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    if (!entry.isDirectory()) yield name;
    else if (!isLeftOut(name)) yield* walkFiles(folder, name, isLeftOut);
  }
}

/** The same in the order of their names, folder by folder. */
export function* listFiles(folder: string, below = ''): Generator<string> {
  // Folder by folder: Node's own recursive reading asks the system about each file once more.
  for (const entry of readdirSync(path.join(folder, below), { withFileTypes: true })) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) yield* listFiles(folder, name);
    else yield name;
  }
}

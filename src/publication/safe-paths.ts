import { mayBePublished } from '../contract/generation.ts';

// A line feed would have one path read like several, and half of a surrogate pair is no character of a name.
const leavesFolder = /(?:^|\/)\.{0,2}(?:\/|$)|[\\:\p{Cc}\p{Cs}]/u;
// Below the top a package may be called so; at the top there is what belongs to the folder and not to what it holds.
const isHidden = /^\.(?!well-known(?:\/|$))/;

/** Whether a path, which a stranger may have written, stays below the folder (C9). */
export const isSafePath = (file: string): boolean => !leavesFolder.test(file) && !isHidden.test(file);

// In bytes: what disks take of a name, and object stores of a path. No file of ours lies in a third of so many folders.
const longestName = 255;
const longestPath = 1024;
const mostNames = 32;

const isTooLong = (file: string): boolean => {
  if (file.length > longestPath) return true;
  const names = file.split('/');
  return (
    names.length > mostNames ||
    Buffer.byteLength(file) > longestPath ||
    names.some((name) => Buffer.byteLength(name) > longestName)
  );
};

const isWritable = (file: string): boolean => isSafePath(file) && !isTooLong(file) && mayBePublished(file);

/**
 * The first path of an inventory that no Debdex writes, or that no disk holds beside the others, as it is a folder of one;
 * undefined where there is none. A stranger may have written them.
 */
export const findUnwritable = (files: readonly string[]): string | undefined => {
  const single = files.find((file) => !isWritable(file));
  if (single !== undefined) return single;
  const folders = new Set<string>();
  for (const file of files) {
    for (let end = file.lastIndexOf('/'); end > 0; end = file.lastIndexOf('/', end - 1)) {
      const folder = file.slice(0, end);
      // So are those that it lies in.
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return files.find((file) => folders.has(file));
};

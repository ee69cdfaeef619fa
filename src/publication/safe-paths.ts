import { mayBePublished } from '../contract/generation.ts';

// With a line feed, one path would be read as several, and half of a surrogate pair is no character of a name.
const leavesFolder = /(?:^|\/)\.{0,2}(?:\/|$)|[\\:\p{Cc}\p{Cs}]/u;
// Below the top, packages may have such names; at the top they belong to the folder itself.
const isHidden = /^\.(?!well-known(?:\/|$))/;

/** Whether a path, which a stranger may have written, stays below the folder (C9). */
export const isSafePath = (file: string): boolean => !leavesFolder.test(file) && !isHidden.test(file);

// In bytes: what disks allow for a name, and object stores for a path. No file of ours is in a third as many folders.
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
 * The first path of an inventory that Debdex never writes, or that a disk cannot hold beside the others because it is
 * also the folder of one; undefined if there is none. A stranger may have written them.
 */
export const findUnwritable = (files: readonly string[]): string | undefined => {
  const single = files.find((file) => !isWritable(file));
  if (single !== undefined) return single;
  const folders = new Set<string>();
  for (const file of files) {
    for (let end = file.lastIndexOf('/'); end > 0; end = file.lastIndexOf('/', end - 1)) {
      const folder = file.slice(0, end);
      // The folders around it are known, too.
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return files.find((file) => folders.has(file));
};

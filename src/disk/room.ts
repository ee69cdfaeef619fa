import { statfsSync } from 'node:fs';

/**
 * Must be left beside what is to be written, in bytes, because logs and notes are written meanwhile, also by others.
 */
const spareBytes = 64 * 2 ** 20;

/** The same in inodes: for the next catalog, its journal, the locks, and files that are replaced at the same time. */
const spareInodes = 64;

/** The errors for a full file system, an exhausted quota, and a process that may not extend a file. */
export const fullDiskCodes: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6).toLocaleString('en')} MB`;
const inodes = (count: number): string => (count === 1 ? '1 inode' : `${count} inodes`);

/** A disk with too little room, in words such as "12 MB" or "3 inodes". */
export interface Shortage {
  readonly left: string;
  readonly needed: string;
}

/**
 * What the disk of a folder has left and what is needed, if it lacks room for that many bytes and some to spare, or
 * inodes to spare; undefined if it has enough.
 */
export const findShortage = (folder: string, bytes: number): Shortage | undefined => {
  const { bavail, bsize, files, ffree } = statfsSync(folder);
  const [left, needed] = [bavail * bsize, bytes + spareBytes];
  if (left < needed) return { left: megabytes(left), needed: megabytes(needed) };
  // Disks that make inodes as they are needed, such as btrfs, count none at all.
  const lacksInodes = files > 0 && ffree < spareInodes;
  return lacksInodes ? { left: inodes(ffree), needed: `${inodes(spareInodes)} ("df -i")` } : undefined;
};

import { statfsSync } from 'node:fs';

/**
 * Must be left beside what is to be written, in bytes, because logs and notes are written meanwhile, also by others.
 */
const spareBytes = 64 * 2 ** 20;

/** The errors for a full file system, an exhausted quota, and a process that may not extend a file. */
export const fullDiskCodes: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6).toLocaleString('en')} MB`;

/** A disk with too little room, in words such as "12 MB". */
export interface Shortage {
  readonly left: string;
  readonly needed: string;
}

/**
 * What the disk of a folder has left and what is needed, if it lacks room for that many bytes and some to spare;
 * undefined if it has enough.
 */
export const findShortage = (folder: string, bytes: number): Shortage | undefined => {
  const { bavail, bsize } = statfsSync(folder);
  const [left, needed] = [bavail * bsize, bytes + spareBytes];
  return left >= needed ? undefined : { left: megabytes(left), needed: megabytes(needed) };
};

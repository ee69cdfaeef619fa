import { statfsSync } from 'node:fs';

/** Left over beside what is to be written, in bytes: logs and notes are written meanwhile, and not by us alone. */
const spareBytes = 64 * 2 ** 20;

/** What the system says of a file system without room, a user without quota, and a process whose files may grow no further. */
export const fullDiskCodes: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6).toLocaleString('en')} MB`;

/** A disk with too little room, in words such as "12 MB". */
export interface Shortage {
  readonly left: string;
  readonly needed: string;
}

/** Whether the disk of a folder lacks room for so many bytes and some to spare, and how much; undefined where it has it. */
export const findShortage = (folder: string, bytes: number): Shortage | undefined => {
  const { bavail, bsize } = statfsSync(folder);
  const [left, needed] = [bavail * bsize, bytes + spareBytes];
  return left >= needed ? undefined : { left: megabytes(left), needed: megabytes(needed) };
};

import { limitNote, limits } from '../contract/limits.ts';

const leastBytes = 1024;

/**
 * Whether so many pieces of a compressed file, each of which costs a decoder the same however small it is, are too many for
 * its bytes: no compressor writes a file of them, and a quarter of a gigabyte would take an hour.
 */
export const areCrumbs = (pieces: number, bytes: number): boolean => pieces > limits.codecPieces + bytes / leastBytes;

/** What is said of a file that has too many `pieces`, such as frames. */
export const describeCrumbs = (pieces: string): string =>
  `too many ${pieces} for its bytes (${limitNote('codecPieces')})`;

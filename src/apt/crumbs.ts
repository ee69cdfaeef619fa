import { limits } from '../contract/limits.ts';
import { CodecError } from './codec-error.ts';

const leastBytes = 1024;

/**
 * Whether so many pieces of a compressed file, each of which costs a decoder the same however small it is, are too many for
 * its bytes: no compressor writes a file of them, and a quarter of a gigabyte would take an hour.
 */
export const areCrumbs = (pieces: number, bytes: number): boolean => pieces > limits.codecPieces + bytes / leastBytes;

/** Thrown of a file that has too many `pieces`, such as frames. */
export class Crumbs extends CodecError {
  override name = 'Crumbs';

  constructor(pieces: string) {
    super('corrupt', `too many ${pieces} for its bytes`);
  }
}

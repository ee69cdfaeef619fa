import { limits } from '../contract/limits.ts';
import { CodecError } from './codec-error.ts';

const leastBytes = 1024;

/**
 * Whether a compressed file has too many pieces for its size. Each piece costs a decoder the same, however small it is.
 * No compressor writes such a file, and a quarter of a gigabyte of tiny pieces would take an hour.
 */
export const areCrumbs = (pieces: number, bytes: number): boolean => pieces > limits.codecPieces + bytes / leastBytes;

/** The file has too many `pieces`, such as frames. */
export class Crumbs extends CodecError {
  override name = 'Crumbs';

  constructor(pieces: string) {
    super('corrupt', `too many ${pieces} for its bytes`);
  }
}

import { crc32 } from 'node:zlib';

const places = 2 ** 14;

/**
 * Roughly knows what was asked for before, in 64 KiB. A cache that keeps only what is asked for a second time holds
 * nothing that nobody asks for again: the doorkeeper of TinyLFU (Einziger, Friedman and Manes, 2017).
 */
export class AskedBefore {
  // A checksum at a place that it determines, until another with the same place comes.
  readonly #checksums = new Uint32Array(places);

  /** Whether this was asked for before, as far as is known. From now on it was. */
  note(asked: string): boolean {
    const checksum = crc32(asked);
    const place = checksum % places;
    const isKnown = this.#checksums[place] === checksum;
    this.#checksums[place] = checksum;
    return isKnown;
  }
}

import type { Compression } from '../contract/compressions.ts';

// The beginning of a stream right after the end of another. In .xz, "YZ" ends a footer, and "\xfd7zXZ" begins a header.
// In .bz2 the end lies somewhere within a byte, so what is looked for is the beginning of a stream with a block: "BZh",
// the level, and the digits of pi. Neither occurs by chance.
const seams: Partial<Record<Compression, RegExp>> = {
  xz: /YZ\xfd7zXZ/,
  bz2: /(?<!^)BZh[1-9]1AY&SY/,
};
const longest = 10;

/**
 * Notices, as the bytes of a compressed file pass, whether it consists of several streams one after the other, as pbzip2
 * writes it. `xz` and `bzip2` read all of them, and APT (2.6.1, tried) only the first one; of `gzip` and `zstd` it reads
 * all. Streams with padding between them are not noticed.
 */
export class StreamSeams {
  /** Whether a second stream has begun. */
  found = false;
  readonly #seam: RegExp | undefined;
  #tail = '';

  constructor(compression: Compression) {
    this.#seam = seams[compression];
  }

  update(chunk: Uint8Array): void {
    if (this.#seam === undefined || this.found) return;
    const text = this.#tail + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
    this.found = this.#seam.test(text);
    this.#tail = text.slice(-longest);
  }
}

// The smallest writer of the .lzma format that creates valid files: only literals, no matches (LZMA specification,
// https://www.7-zip.org/sdk.html). Node has none, and the tests must not depend on programs of the machine.
const bitModelTotal = 2 ** 11;
const top = 2 ** 24;

class RangeEncoder {
  readonly bytes: number[] = [];
  #low = 0;
  #range = 2 ** 32 - 1;
  #cache = 0;
  #pending = 1;

  bit(models: Uint16Array, index: number, bit: number): void {
    const model = models[index] ?? 0;
    const bound = Math.floor(this.#range / bitModelTotal) * model;
    if (bit === 0) {
      this.#range = bound;
      models[index] = model + ((bitModelTotal - model) >> 5);
    } else {
      this.#low += bound;
      this.#range -= bound;
      models[index] = model - (model >> 5);
    }
    while (this.#range < top) {
      this.#range *= 256;
      this.#shift();
    }
  }

  finish(): void {
    for (let step = 0; step < 5; step++) this.#shift();
  }

  #shift(): void {
    if (this.#low < 0xff000000 || this.#low >= 2 ** 32) {
      const carry = this.#low >= 2 ** 32 ? 1 : 0;
      for (; this.#pending > 0; this.#pending--) {
        this.bytes.push((this.#cache + carry) & 0xff);
        this.#cache = 0xff;
      }
      this.#cache = Math.floor(this.#low / top) & 0xff;
    }
    this.#pending++;
    this.#low = (this.#low % top) * 256;
  }
}

/** Compresses into the .lzma format. */
export const writeLzma = (bytes: Uint8Array): Uint8Array => {
  const header = Buffer.alloc(13);
  header[0] = 0x5d;
  header.writeUInt32LE(1 << 16, 1);
  header.writeBigUInt64LE(BigInt(bytes.length), 5);
  const isMatch = new Uint16Array(4).fill(bitModelTotal / 2);
  const literals = new Uint16Array(8 * 0x300).fill(bitModelTotal / 2);
  const encoder = new RangeEncoder();
  let previous = 0;
  bytes.forEach((byte, position) => {
    encoder.bit(isMatch, position & 3, 0);
    const context = (previous >> 5) * 0x300;
    for (let shift = 7, symbol = 1; shift >= 0; shift--) {
      const bit = (byte >> shift) & 1;
      encoder.bit(literals, context + symbol, bit);
      symbol = symbol * 2 + bit;
    }
    previous = byte;
  });
  encoder.finish();
  return Buffer.concat([header, Uint8Array.from(encoder.bytes)]);
};

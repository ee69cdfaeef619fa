// A simple writer of the bzip2 format (defined by bzip2 1.0.8): valid files whose codes are all about the same length.
// Node has none, and the tests must not depend on programs of the machine.
const blockBytes = 100_000 - 19;
const symbolsPerGroup = 50;

const crcTable = Array.from({ length: 256 }, (_, index) => {
  let crc = index << 24;
  for (let bit = 0; bit < 8; bit++) crc = crc < 0 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  return crc;
});

const computeCrc = (bytes: Uint8Array): number => {
  let crc = -1;
  for (const byte of bytes) crc = (crc << 8) ^ (crcTable[(crc >>> 24) ^ byte] ?? 0);
  return ~crc >>> 0;
};

class BitWriter {
  readonly bytes: number[] = [];
  #current = 0;
  #free = 8;

  /** Writes the lowest bits of a number, at most 32. */
  write(value: number, count: number): void {
    for (let shift = count - 1; shift >= 0; shift--) {
      this.#current = (this.#current << 1) | ((value >>> shift) & 1);
      if (--this.#free > 0) continue;
      this.bytes.push(this.#current);
      this.#current = 0;
      this.#free = 8;
    }
  }

  finish(): Uint8Array {
    if (this.#free < 8) this.write(0, this.#free);
    return Uint8Array.from(this.bytes);
  }
}

/** Replaces runs of four to 255 equal bytes with four bytes and a count. */
const shortenRuns = (bytes: Uint8Array): Uint8Array => {
  const shortened: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] ?? 0;
    let run = 1;
    while (run < 255 && bytes[at + run] === byte) run++;
    for (let index = 0; index < Math.min(run, 4); index++) shortened.push(byte);
    if (run >= 4) shortened.push(run - 4);
    at += run;
  }
  return Uint8Array.from(shortened);
};

/**
 * Sorts the rotations of a block by prefix doubling (Manber and Myers, "Suffix arrays"): once they are sorted by their
 * first n bytes, their ranks are the keys for 2n bytes. So repetitive texts, such as indexes, cost no more than others.
 */
const sortRotations = (block: Uint8Array): { last: Uint8Array; origin: number } => {
  const { length } = block;
  let starts = Uint32Array.from(block.keys());
  let ranks = Uint32Array.from(block);
  let ranked = 256;
  // Stable sort by the rank of the first half; the second halves are already in order.
  const sortBy = (shift: number): void => {
    const places = new Uint32Array(ranked + 1);
    for (const rank of ranks) places[rank + 1] = (places[rank + 1] ?? 0) + 1;
    for (let rank = 1; rank <= ranked; rank++) places[rank] = (places[rank] ?? 0) + (places[rank - 1] ?? 0);
    const sorted = new Uint32Array(length);
    for (const behind of starts) {
      const start = (behind - shift + length) % length;
      const rank = ranks[start] ?? 0;
      const place = places[rank] ?? 0;
      sorted[place] = start;
      places[rank] = place + 1;
    }
    starts = sorted;
  };
  sortBy(0);
  let different = 0;
  for (let known = 1; known < length && different < length; known *= 2) {
    sortBy(known);
    const finer = new Uint32Array(length);
    const after = (start: number): number => ranks[(start + known) % length] ?? 0;
    let rank = 0;
    for (let place = 1; place < length; place++) {
      const [start = 0, before = 0] = [starts[place], starts[place - 1]];
      if (ranks[start] !== ranks[before] || after(start) !== after(before)) rank++;
      finer[start] = rank;
    }
    ranks = finer;
    different = ranked = rank + 1;
  }
  return {
    last: Uint8Array.from(starts, (start) => block[(start + length - 1) % length] ?? 0),
    origin: starts.indexOf(0),
  };
};

/** Move to front, then run lengths of zeros in bijective binary; ends with the end symbol. */
const toSymbols = (last: Uint8Array, alphabet: readonly number[]): number[] => {
  const places = [...alphabet];
  const symbols: number[] = [];
  let zeros = 0;
  const flush = () => {
    for (; zeros > 0; zeros = (zeros - 1) >> 1) symbols.push(zeros & 1 ? 0 : 1);
    zeros = 0;
  };
  for (const byte of last) {
    const place = places.indexOf(byte);
    if (place === 0) {
      zeros++;
      continue;
    }
    flush();
    symbols.push(place + 1);
    places.splice(place, 1);
    places.unshift(byte);
  }
  flush();
  symbols.push(alphabet.length + 1);
  return symbols;
};

/** The code length of each symbol: a complete code whose lengths differ by at most one. */
const codeLengths = (count: number): number[] => {
  const longest = Math.max(1, Math.ceil(Math.log2(count)));
  const short = 2 ** longest - count;
  return Array.from({ length: count }, (_, symbol) => (symbol < short ? longest - 1 : longest));
};

const toCodes = (lengths: readonly number[]): number[] => {
  let next = 0;
  return lengths.map((length, symbol) => {
    if (symbol > 0) next = (next + 1) << (length - (lengths[symbol - 1] ?? length));
    return next;
  });
};

const writeCode = (writer: BitWriter, lengths: readonly number[]): void => {
  let current = lengths[0] ?? 1;
  writer.write(current, 5);
  for (const length of lengths) {
    for (; current < length; current++) writer.write(0b10, 2);
    writer.write(0, 1);
  }
};

const writeBlock = (writer: BitWriter, block: Uint8Array, crc: number): void => {
  const { last, origin } = sortRotations(block);
  const alphabet = [...new Set(block)].sort((a, b) => a - b);
  const symbols = toSymbols(last, alphabet);
  const lengths = codeLengths(alphabet.length + 2);
  const codes = toCodes(lengths);
  writer.write(0x314159, 24);
  writer.write(0x265359, 24);
  writer.write(crc, 32);
  writer.write(0, 1);
  writer.write(origin, 24);
  for (let row = 0; row < 16; row++) writer.write(alphabet.some((byte) => byte >> 4 === row) ? 1 : 0, 1);
  for (let row = 0; row < 16; row++) {
    if (!alphabet.some((byte) => byte >> 4 === row)) continue;
    for (let low = 0; low < 16; low++) writer.write(alphabet.includes(row * 16 + low) ? 1 : 0, 1);
  }
  // The format requires at least two code tables. Both are the same here, and the first is always selected.
  const groups = Math.ceil(symbols.length / symbolsPerGroup);
  writer.write(2, 3);
  writer.write(groups, 15);
  for (let group = 0; group < groups; group++) writer.write(0, 1);
  writeCode(writer, lengths);
  writeCode(writer, lengths);
  for (const symbol of symbols) writer.write(codes[symbol] ?? 0, lengths[symbol] ?? 0);
};

/** Compresses into the bzip2 format, at about a megabyte a second. */
export const writeBzip2 = (bytes: Uint8Array): Uint8Array => {
  const writer = new BitWriter();
  for (const character of Buffer.from('BZh1')) writer.write(character, 8);
  let combined = 0;
  // Replacing runs makes a text at most a quarter longer.
  const step = Math.floor((blockBytes * 4) / 5);
  for (let at = 0; at < bytes.length; at += step) {
    const part = bytes.subarray(at, at + step);
    const crc = computeCrc(part);
    combined = (((combined << 1) | (combined >>> 31)) ^ crc) >>> 0;
    writeBlock(writer, shortenRuns(part), crc);
  }
  writer.write(0x177245, 24);
  writer.write(0x385090, 24);
  writer.write(combined, 32);
  return writer.finish();
};

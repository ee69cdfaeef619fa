import { CodecError } from '../codec-error.ts';

// The format has no published specification. These are the rules of bzip2 1.0.8 (https://sourceware.org/bzip2/).
const blockMagic = [0x314159, 0x265359] as const;
const endMagic = [0x177245, 0x385090] as const;
/** The size of a block, in bytes, divided by the level. */
export const bytesPerLevel = 100_000;
const symbolsPerGroup = 50;
const maxCodeLength = 20;
const lookupBits = 10;

/** How many bytes may be read beyond the end of a block that is cut off. */
export const readAhead = 256;

/** Reads bits, most significant first. The buffer must have `readAhead` bytes after `end`. */
export class BitReader {
  private readonly bytes: Uint8Array;
  private readonly end: number;
  position: number;

  /** `end` and `position` count bits from the start of `bytes`. */
  constructor(bytes: Uint8Array, end: number, position: number) {
    this.bytes = bytes;
    this.end = end;
    this.position = position;
  }

  /** The next 1 to 24 bits, which are not consumed. */
  peek(count: number): number {
    const at = this.position >>> 3;
    const { bytes } = this;
    const word =
      ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
    return (word << (this.position & 7)) >>> (32 - count);
  }

  read(count: number): number {
    const value = this.peek(count);
    this.position += count;
    return value;
  }

  /** Whether more bits were consumed than there are. */
  overrun(): boolean {
    return this.position > this.end;
  }
}

/** What comes next: a block, or the end of the stream with the checksum over all blocks. */
export type Bzip2Part = { kind: 'block' } | { kind: 'end'; crc: number };

/** Reads the level, 1 to 9, from a stream header. Throws CodecError if there is no header. */
export const readStreamHeader = (bits: BitReader): number => {
  const magic = bits.read(24);
  const level = bits.read(8) - 0x30;
  if (magic !== 0x425a68 || level < 1 || level > 9) throw new CodecError('corrupt', 'no stream header');
  return level;
};

/** Reads the magic number that begins a block or ends a stream. */
export const readPart = (bits: BitReader): Bzip2Part => {
  const high = bits.read(24);
  const low = bits.read(24);
  if (high === blockMagic[0] && low === blockMagic[1]) return { kind: 'block' };
  if (high === endMagic[0] && low === endMagic[1]) return { kind: 'end', crc: readWord(bits) };
  throw new CodecError('corrupt', 'neither a block nor the end of the stream');
};

const readWord = (bits: BitReader): number => bits.read(16) * 0x10000 + bits.read(16);

/** A block that is decoded except for the last step, which `expandBlock` does. */
export interface Bzip2Block {
  crc: number;
  /** For each position the byte and, in the higher bits, the position that follows. */
  links: Uint32Array;
  start: number;
  length: number;
}

/**
 * Decodes a block (after its magic number) into `links`, which must have room for the level's block size. Throws
 * CodecError. If the reader has overrun, neither the result nor the error means anything.
 */
export const decodeBlock = (bits: BitReader, links: Uint32Array, level: number): Bzip2Block => {
  const crc = readWord(bits);
  // No program has written these since 1996.
  if (bits.read(1) === 1) throw new CodecError('corrupt', 'a randomised block');
  const origin = bits.read(24);
  const symbols = readSymbolMap(bits);
  const { tables, selectors } = readTables(bits, symbols.length + 2);
  const length = readSymbols(bits, symbols, tables, selectors, links, level * bytesPerLevel);
  if (origin >= length) throw new CodecError('corrupt', 'the block begins outside itself');
  linkPositions(links, length);
  return { crc, links, start: origin, length };
};

const readSymbolMap = (bits: BitReader): Uint8Array => {
  const used = bits.read(16);
  const symbols: number[] = [];
  for (let high = 0; high < 16; high += 1) {
    if ((used & (0x8000 >> high)) === 0) continue;
    const row = bits.read(16);
    for (let low = 0; low < 16; low += 1) if ((row & (0x8000 >> low)) !== 0) symbols.push(high * 16 + low);
  }
  if (symbols.length === 0) throw new CodecError('corrupt', 'a block without symbols');
  return Uint8Array.from(symbols);
};

/** A canonical Huffman code: a lookup by the first bits, and limits per length for longer codes. */
interface CodeTable {
  /** Symbol and length (symbol << 5 | length) by the first `lookupBits` bits; 0 where the code is longer. */
  lookup: Uint16Array;
  /** By length: one past the last code, aligned to `maxCodeLength` bits. */
  limits: Int32Array;
  /** By length: what to add to a code to get its place in `order`. */
  offsets: Int32Array;
  order: Uint16Array;
}

const readTables = (bits: BitReader, alphabet: number): { tables: CodeTable[]; selectors: Uint8Array } => {
  const tableCount = bits.read(3);
  const selectorCount = bits.read(15);
  if (tableCount < 2 || tableCount > 6 || selectorCount === 0)
    throw new CodecError('corrupt', 'impossible table counts');
  const recent = Uint8Array.from({ length: tableCount }, (_, index) => index);
  const selectors = new Uint8Array(selectorCount);
  for (let index = 0; index < selectorCount; index += 1) {
    let place = 0;
    while (bits.read(1) === 1) {
      place += 1;
      if (place >= tableCount) throw new CodecError('corrupt', 'a selector of no table');
    }
    const table = recent[place] ?? 0;
    recent.copyWithin(1, 0, place);
    recent[0] = table;
    selectors[index] = table;
  }
  const tables: CodeTable[] = [];
  for (let index = 0; index < tableCount; index += 1) tables.push(buildTable(readCodeLengths(bits, alphabet)));
  return { tables, selectors };
};

const readCodeLengths = (bits: BitReader, alphabet: number): Uint8Array => {
  const lengths = new Uint8Array(alphabet);
  let length = bits.read(5);
  for (let symbol = 0; symbol < alphabet; symbol += 1) {
    for (;;) {
      if (length < 1 || length > maxCodeLength) throw new CodecError('corrupt', 'a code of impossible length');
      if (bits.read(1) === 0) break;
      length += bits.read(1) === 0 ? 1 : -1;
      if (bits.overrun()) throw new CodecError('corrupt', 'code lengths without end');
    }
    lengths[symbol] = length;
  }
  return lengths;
};

const buildTable = (lengths: Uint8Array): CodeTable => {
  const counts = new Int32Array(maxCodeLength + 1);
  for (const length of lengths) counts[length] = (counts[length] ?? 0) + 1;
  const limits = new Int32Array(maxCodeLength + 2);
  const offsets = new Int32Array(maxCodeLength + 2);
  const order = new Uint16Array(lengths.length);
  const lookup = new Uint16Array(1 << lookupBits);
  let code = 0;
  let placed = 0;
  for (let length = 1; length <= maxCodeLength; length += 1) {
    offsets[length] = placed - code;
    for (let symbol = 0; symbol < lengths.length; symbol += 1) {
      if (lengths[symbol] !== length) continue;
      order[placed] = symbol;
      if (length <= lookupBits) {
        const from = code << (lookupBits - length);
        lookup.fill((symbol << 5) | length, from, from + (1 << (lookupBits - length)));
      }
      placed += 1;
      code += 1;
    }
    limits[length] = code << (maxCodeLength - length);
    code <<= 1;
  }
  return { lookup, limits, offsets, order };
};

const readSymbol = (bits: BitReader, table: CodeTable): number => {
  const ahead = bits.peek(maxCodeLength);
  const found = table.lookup[ahead >>> (maxCodeLength - lookupBits)] ?? 0;
  if (found !== 0) {
    bits.position += found & 31;
    return found >> 5;
  }
  for (let length = lookupBits + 1; length <= maxCodeLength; length += 1) {
    if (ahead >= (table.limits[length] ?? 0)) continue;
    bits.position += length;
    const place = (ahead >>> (maxCodeLength - length)) + (table.offsets[length] ?? 0);
    const symbol = table.order[place];
    if (symbol !== undefined) return symbol;
  }
  throw new CodecError('corrupt', 'bits that are no code');
};

/** Undoes the Huffman, run-length and move-to-front steps; returns how many bytes there are. */
const readSymbols = (
  bits: BitReader,
  symbols: Uint8Array,
  tables: CodeTable[],
  selectors: Uint8Array,
  out: Uint32Array,
  capacity: number,
): number => {
  const recent = Uint8Array.from(symbols);
  const endOfBlock = symbols.length + 1;
  let length = 0;
  let run = 0;
  let runBit = 1;
  for (const selector of selectors) {
    const table = tables[selector];
    if (!table || bits.overrun()) break;
    for (let left = symbolsPerGroup; left > 0; left -= 1) {
      const symbol = readSymbol(bits, table);
      if (symbol <= 1) {
        run += runBit << symbol;
        runBit <<= 1;
        if (run > capacity) throw new CodecError('corrupt', 'a block larger than its stream allows');
        continue;
      }
      if (run > 0) {
        if (length + run > capacity) throw new CodecError('corrupt', 'a block larger than its stream allows');
        out.fill(recent[0] ?? 0, length, length + run);
        length += run;
        run = 0;
        runBit = 1;
      }
      if (symbol === endOfBlock) return length;
      if (length >= capacity) throw new CodecError('corrupt', 'a block larger than its stream allows');
      const place = symbol - 1;
      const byte = recent[place] ?? 0;
      for (let index = place; index > 0; index -= 1) recent[index] = recent[index - 1] ?? 0;
      recent[0] = byte;
      out[length] = byte;
      length += 1;
    }
  }
  throw new CodecError('corrupt', 'a block without an end');
};

/** Undoes the Burrows-Wheeler step: puts above each byte the position of the one that follows it. */
const linkPositions = (links: Uint32Array, length: number): void => {
  const starts = new Uint32Array(256);
  for (let index = 0; index < length; index += 1) {
    const byte = (links[index] ?? 0) & 0xff;
    starts[byte] = (starts[byte] ?? 0) + 1;
  }
  let sum = 0;
  for (let byte = 0; byte < 256; byte += 1) {
    const count = starts[byte] ?? 0;
    starts[byte] = sum;
    sum += count;
  }
  for (let index = 0; index < length; index += 1) {
    const byte = (links[index] ?? 0) & 0xff;
    const place = starts[byte] ?? 0;
    starts[byte] = place + 1;
    links[place] = (links[place] ?? 0) | (index << 8);
  }
};

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x80000000 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  return crc >>> 0;
});

/** Undoes the outer run-length step in pieces of `pieceBytes`; throws CodecError after the last where the checksum is wrong. */
export function* expandBlock(block: Bzip2Block, pieceBytes: number): Generator<Uint8Array> {
  const { links } = block;
  let link = (links[block.start] ?? 0) >>> 8;
  let piece = Buffer.allocUnsafe(pieceBytes);
  let filled = 0;
  let crc = 0xffffffff;
  let previous = -1;
  let equal = 0;
  for (let left = block.length; left > 0; left -= 1) {
    const entry = links[link] ?? 0;
    link = entry >>> 8;
    let byte = entry & 0xff;
    let copies = 1;
    if (equal === 4) {
      copies = byte;
      byte = previous;
      equal = 0;
    } else if (byte === previous) equal += 1;
    else {
      previous = byte;
      equal = 1;
    }
    for (; copies > 0; copies -= 1) {
      piece[filled] = byte;
      filled += 1;
      crc = (crc << 8) ^ (crcTable[(crc >>> 24) ^ byte] ?? 0);
      if (filled === pieceBytes) {
        yield piece;
        piece = Buffer.allocUnsafe(pieceBytes);
        filled = 0;
      }
    }
  }
  if (filled > 0) yield piece.subarray(0, filled);
  if (~crc >>> 0 !== block.crc) throw new CodecError('corrupt', 'a block with a wrong checksum');
}

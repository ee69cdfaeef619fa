import { CodecError } from '../codec-error.ts';
import { areCrumbs, Crumbs } from '../crumbs.ts';
import {
  BitReader,
  bytesPerLevel,
  decodeBlock,
  expandBlock,
  readAhead,
  readPart,
  readStreamHeader,
} from './decoder.ts';

// The most bytes of a compressed block: 900,000 symbols of 20 bits, the selectors, and tables with room to spare.
const maxBlockBytes = 2_500_000;
const pieceBytes = 64 << 10;

/**
 * Decompresses bzip2, including concatenated streams, and checks the checksum of every block and stream. Holds one
 * block and up to 5 MB of input, and yields pieces of up to 64 KiB on demand. `onConsumed` is called with the number of
 * compressed bytes used so far. Throws CodecError.
 */
export async function* decodeBzip2(
  source: AsyncIterable<Uint8Array>,
  onConsumed: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const input = createWindow(source);
  let links = new Uint32Array(0);
  let pieces = 0;
  const count = (): void => {
    pieces += 1;
    if (areCrumbs(pieces, input.consumed())) throw new Crumbs('blocks');
  };
  try {
    for (let streams = 0; ; streams += 1) {
      if ((await input.fill()) === 0) {
        if (streams === 0) throw new CodecError('truncated', 'nothing at all');
        return;
      }
      count();
      const level = input.read(readStreamHeader, streams === 0 ? 'corrupt' : 'trailing-garbage');
      if (links.length < level * bytesPerLevel) links = new Uint32Array(level * bytesPerLevel);
      let combined = 0;
      for (;;) {
        await input.fill();
        const part = input.read(readPart, 'corrupt');
        if (part.kind === 'end') {
          if (part.crc !== combined) throw new CodecError('corrupt', 'the stream has a wrong checksum');
          input.alignToByte();
          break;
        }
        count();
        const room = links;
        const block = input.read((bits) => decodeBlock(bits, room, level), 'corrupt');
        onConsumed(input.consumed());
        yield* expandBlock(block, pieceBytes);
        combined = (((combined << 1) | (combined >>> 31)) ^ block.crc) >>> 0;
      }
    }
  } finally {
    await input.close();
  }
}

interface InputWindow {
  /** Reads until the next block is complete, if the source has it. Returns how many bytes are available. */
  fill(): Promise<number>;
  /** Reads a part that must not reach beyond the input. If it does, the error has this code. */
  read<T>(part: (bits: BitReader) => T, code: 'corrupt' | 'trailing-garbage'): T;
  alignToByte(): void;
  consumed(): number;
  close(): Promise<void>;
}

const createWindow = (source: AsyncIterable<Uint8Array>): InputWindow => {
  const iterator = source[Symbol.asyncIterator]();
  let bytes = Buffer.alloc(pieceBytes + readAhead);
  let end = 0;
  let position = 0;
  let dropped = 0;
  let ended = false;

  const append = (piece: Uint8Array): void => {
    if (end + piece.length + readAhead > bytes.length) {
      const grown = Buffer.alloc(Math.max(bytes.length * 2, end + piece.length + readAhead));
      bytes.copy(grown, 0, 0, end);
      bytes = grown;
    }
    bytes.set(piece, end);
    end += piece.length;
  };

  return {
    async fill() {
      const used = position >>> 3;
      if (ended || end - used >= maxBlockBytes) return end - used;
      bytes.copyWithin(0, used, end);
      end -= used;
      dropped += used;
      position &= 7;
      // Twice what is needed, so that many small blocks do not each move the rest.
      while (end < 2 * maxBlockBytes) {
        const next = await iterator.next();
        ended = next.done === true;
        if (next.done) break;
        append(next.value);
      }
      bytes.fill(0, end, end + readAhead);
      return end;
    },
    read(part, code) {
      const bits = new BitReader(bytes, end * 8, position);
      let value: ReturnType<typeof part>;
      try {
        value = part(bits);
      } catch (error) {
        if (bits.overrun()) throw new CodecError(ended ? 'truncated' : 'corrupt', 'the input ends inside a block');
        throw error instanceof CodecError ? new CodecError(code, error.message) : error;
      }
      if (bits.overrun()) throw new CodecError(ended ? 'truncated' : 'corrupt', 'the input ends inside a block');
      position = bits.position;
      return value;
    },
    alignToByte() {
      position = (position + 7) & ~7;
    },
    consumed() {
      return dropped + (position >>> 3);
    },
    async close() {
      if (!ended) await iterator.return?.();
    },
  };
};

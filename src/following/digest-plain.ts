import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { cutAtFrames } from './source.ts';

/**
 * The SHA-256, in hex, of the decompressed content of a file; undefined if it is damaged, or has more than that many
 * bytes.
 */
export const digestPlain = async (file: string, mostBytes: number): Promise<string | undefined> => {
  const digest = createHash('sha256');
  let bytes = 0;
  try {
    await pipeline(
      createReadStream(file),
      cutAtFrames,
      createZstdDecompress(),
      async (pieces: AsyncIterable<Buffer>) => {
        for await (const piece of pieces) {
          digest.update(piece);
          bytes += piece.length;
          if (bytes > mostBytes) throw new Error('it has more bytes than were announced');
        }
      },
    );
    return digest.digest('hex');
  } catch {
    return undefined;
  }
};

import { hash } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync, statSync, writeSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { constants, zstdCompress } from 'node:zlib';
import { z } from 'zod';
import { type FileDigest, pieceBytes, piecesAtOnce, readPiece } from '../catalog/pieces.ts';
import { writeWholeFile } from '../disk/whole-file.ts';
import type { OutputFolder } from './output-folder.ts';

// A catalog of a million packages has three gigabytes, and from one generation to the next some hundred pages of it are
// others. So each piece of it is a frame of its own (RFC 8878, section 3: such a file is one or more of them), and a
// frame of a piece that did not change is taken from the file before.

/** Half the time of the usual level for a twentieth more bytes. */
const level = 2;

const compress = promisify(zstdCompress);

const frameSchema = z.strictObject({
  /** SHA-256 in lower-case hex of the plain piece. */
  plain: z.string(),
  /** The same of the frame, and its bytes. */
  frame: z.string(),
  size: z.int(),
});
const frameListSchema = z.strictObject({
  /** Below the output folder. */
  file: z.string(),
  /** In the order in which they stand in it. */
  frames: z.array(frameSchema),
});
type Frame = z.infer<typeof frameSchema>;
type MadeFrame = readonly [frame: Frame, bytes: Buffer];
type FrameList = z.infer<typeof frameListSchema>;

const notePath = (state: string): string => path.join(state, 'publication', 'frames.json');

const readNote = (state: string): FrameList | undefined => {
  try {
    return frameListSchema.parse(JSON.parse(readFileSync(notePath(state), 'utf8')));
  } catch {
    return undefined;
  }
};

/** The frames of the file that was written last, as far as it still stands as it was written. */
class FormerFrames {
  readonly #descriptor: number | undefined;
  readonly #byPiece = new Map<string, Frame & { readonly at: number }>();

  constructor(output: OutputFolder, state: string) {
    const known = readNote(state);
    if (known === undefined) return;
    let at = 0;
    for (const frame of known.frames) {
      this.#byPiece.set(frame.plain, { ...frame, at });
      at += frame.size;
    }
    const file = output.resolve(known.file);
    if (statSync(file, { throwIfNoEntry: false })?.size === at) this.#descriptor = openSync(file, 'r');
  }

  /** The frame of a piece, by the SHA-256 of that; undefined where there is none, or its bytes are others by now. */
  take(plain: string): MadeFrame | undefined {
    const known = this.#byPiece.get(plain);
    if (known === undefined || this.#descriptor === undefined) return undefined;
    const { frame, size, at } = known;
    const bytes = Buffer.allocUnsafe(size);
    const length = readSync(this.#descriptor, bytes, 0, size, at);
    return length === size && hash('sha256', bytes) === frame ? [{ plain, frame, size }, bytes] : undefined;
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
  }
}

const makeFrame = async (plain: string, piece: Buffer): Promise<MadeFrame> => {
  const params = { [constants.ZSTD_c_compressionLevel]: level };
  const bytes = await compress(piece, { pledgedSrcSize: piece.length, params });
  return [{ plain, frame: hash('sha256', bytes), size: bytes.length }, bytes];
};

/** The frames of a file, in their order: those of pieces that did not change, and new ones of those that did. */
async function* framesOf(file: string, pieces: readonly string[], former: FormerFrames): AsyncGenerator<MadeFrame> {
  const buffers = Array.from({ length: piecesAtOnce }, () => Buffer.alloc(pieceBytes));
  const descriptor = openSync(file, 'r');
  try {
    for (let first = 0; first < pieces.length; first += piecesAtOnce) {
      const some = pieces.slice(first, first + piecesAtOnce);
      const made = some.map((plain, index) => {
        const buffer = buffers[index] ?? Buffer.alloc(pieceBytes);
        return former.take(plain) ?? makeFrame(plain, readPiece(descriptor, first + index, buffer));
      });
      yield* await Promise.all(made);
    }
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Writes a file, of which these are the digests of its pieces, compressed by zstd to this path of the output folder. What is alike in the file that this wrote last, of
 * which the state folder has a note, is not compressed again; the bytes are the same either way.
 */
export const writeFramedCopy = async (
  output: OutputFolder,
  state: string,
  { file, pieces, target }: Pick<FileDigest, 'pieces'> & { readonly file: string; readonly target: string },
): Promise<void> => {
  const temporary = output.temporary();
  const frames: Frame[] = [];
  const former = new FormerFrames(output, state);
  try {
    const descriptor = openSync(temporary, 'wx');
    try {
      for await (const [frame, bytes] of framesOf(file, pieces, former)) {
        frames.push(frame);
        for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
      }
    } finally {
      closeSync(descriptor);
    }
  } finally {
    former.close();
  }
  output.place(temporary, target);
  output.note(target);
  writeWholeFile(notePath(state), JSON.stringify({ file: target, frames } satisfies FrameList));
};

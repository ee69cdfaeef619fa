import { createHash, subtle } from 'node:crypto';
import { readSync } from 'node:fs';
import { openFile } from '../disk/open-file.ts';

/** A catalog is hashed, and published, in pieces of this many bytes. The last may be shorter. */
export const pieceBytes = 2 ** 20;
/** How many pieces are in memory, and hashed at the same time. */
export const piecesAtOnce = 4;

/** Identifies the content of a file. */
export interface FileDigest {
  /** SHA-256 of all its bytes, in lower-case hex. */
  readonly sha256: string;
  /** The same of each of its pieces, in their order. */
  readonly pieces: readonly string[];
}

/** Reads a piece of an open file (numbered from 0) into a buffer. Returns the filled part of the buffer. */
export const readPiece = (descriptor: number, number: number, buffer: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> => {
  let length = 0;
  for (let read = -1; read !== 0 && length < pieceBytes; length += read) {
    read = readSync(descriptor, buffer, length, pieceBytes - length, number * pieceBytes + length);
  }
  return buffer.subarray(0, length);
};

/** A buffer for a piece. It is filled before anything of it is read, so it is not cleared first. */
export const makePieceBuffer = (): Buffer<ArrayBuffer> => Buffer.allocUnsafeSlow(pieceBytes);

const digestPiece = async (piece: Buffer<ArrayBuffer>): Promise<string> =>
  Buffer.from(await subtle.digest('SHA-256', piece)).toString('hex');

/** Hashes a file while reading it once: the pieces on other threads, the whole on this one. */
export const digestPieces = async (file: string): Promise<FileDigest> => {
  // Made as they are needed: most catalogs are of one piece, and the others' megabytes would be for nothing.
  const buffers: Buffer<ArrayBuffer>[] = [];
  const whole = createHash('sha256');
  const pieces: string[] = [];
  using opened = openFile(file, 'r');
  for (let isOver = false; !isOver; ) {
    const some: Buffer<ArrayBuffer>[] = [];
    while (some.length < piecesAtOnce && !isOver) {
      const buffer = buffers[some.length] ?? makePieceBuffer();
      buffers[some.length] = buffer;
      const piece = readPiece(opened.descriptor, pieces.length + some.length, buffer);
      isOver = piece.length < pieceBytes;
      if (piece.length > 0) some.push(piece);
    }
    const digests = some.map(digestPiece);
    for (const piece of some) whole.update(piece);
    pieces.push(...(await Promise.all(digests)));
  }
  return { sha256: whole.digest('hex'), pieces };
};

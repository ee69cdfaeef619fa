import { createHash } from 'node:crypto';
import { closeSync, lstatSync, openSync, readSync } from 'node:fs';
import type { LedgerEntry } from '../catalog/ledger.ts';
import { dateOf, statusHead, successHead } from '../documents/document.ts';

const pieceBytes = 2 ** 20;
const heads = [successHead, statusHead];

/**
 * What the ledger would say of a document as it stands on disk, read piece by piece: digest of the content without its
 * date, the date, undefined where it has none, and the size in bytes.
 */
export const readEntry = (file: string): Omit<LedgerEntry, 'date'> & { readonly date: string | undefined } => {
  const descriptor = openSync(file, 'r');
  try {
    const piece = Buffer.allocUnsafe(pieceBytes);
    let length = readSync(descriptor, piece);
    let size = length;
    const beginning = piece.toString('latin1', 0, Math.min(length, 256));
    const date = dateOf(beginning);
    const head = date === undefined ? undefined : heads.find((one) => beginning.startsWith(one));
    const digest = createHash('sha256');
    if (head === undefined || date === undefined) digest.update(piece.subarray(0, length));
    else digest.update(head).update(piece.subarray(head.length + date.length, length));
    for (length = readSync(descriptor, piece); length > 0; length = readSync(descriptor, piece)) {
      digest.update(piece.subarray(0, length));
      size += length;
    }
    return { digest: digest.digest().subarray(0, 16), date, size };
  } finally {
    closeSync(descriptor);
  }
};

/** The size of a document on disk; undefined where there is none, or something else stands in its place. */
const sizeOf = (file: string): number | undefined => {
  const found = lstatSync(file, { throwIfNoEntry: false });
  return found?.isFile() ? found.size : undefined;
};

/**
 * Whether a document stands on disk as the ledger has it: by its size, which costs one system call, and with `verify`
 * by all of its bytes.
 */
export const isSound = (file: string, entry: Pick<LedgerEntry, 'digest' | 'size'>, verify: boolean): boolean => {
  if (sizeOf(file) !== entry.size) return false;
  return !verify || Buffer.compare(readEntry(file).digest, entry.digest) === 0;
};

import { createHash, hash } from 'node:crypto';
import { readSync } from 'node:fs';
import type { LedgerEntry } from '../catalog/ledger.ts';
import { openFile } from '../disk/open-file.ts';
import { type Document, dateOf, statusHead, successHead } from '../documents/document.ts';

/** 16 bytes of SHA-256 over the content without its date, so that it shows whether the content has changed. */
export const documentDigest = ({ head, tail }: Document): Uint8Array =>
  hash('sha256', head + tail, 'buffer').subarray(0, 16);

// All documents are read into one buffer, one after another. A new one for each costs far more than reading them.
const pieceBytes = 2 ** 20;
let shared: Buffer<ArrayBuffer> | undefined;
const heads = [successHead, statusHead];

/**
 * Describes a document on disk as in the ledger, reading it piece by piece: digest of the content without its date, the
 * date (undefined if it has none), and the size in bytes.
 */
export const readEntry = (file: string): Omit<LedgerEntry, 'date'> & { readonly date: string | undefined } => {
  using opened = openFile(file, 'r');
  shared ??= Buffer.allocUnsafe(pieceBytes);
  const piece = shared;
  let length = readSync(opened.descriptor, piece);
  let size = length;
  const beginning = piece.toString('latin1', 0, Math.min(length, 256));
  const date = dateOf(beginning);
  const head = date === undefined ? undefined : heads.find((one) => beginning.startsWith(one));
  const digest = createHash('sha256');
  if (head === undefined || date === undefined) digest.update(piece.subarray(0, length));
  else digest.update(head).update(piece.subarray(head.length + date.length, length));
  for (length = readSync(opened.descriptor, piece); length > 0; length = readSync(opened.descriptor, piece)) {
    digest.update(piece.subarray(0, length));
    size += length;
  }
  return { digest: digest.digest().subarray(0, 16), date, size };
};

/** Whether a file has the content with this digest from the ledger. Throws if it cannot be read. */
export const hasDigest = (file: string, digest: Uint8Array): boolean =>
  Buffer.compare(readEntry(file).digest, digest) === 0;

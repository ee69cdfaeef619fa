import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { flushFile } from './flush-file.ts';

/**
 * Writes a file that one process at a time writes, such as the notes of a build in its state folder: whoever reads it
 * finds what it was before, or this. Where it is not `durable`, a power cut may leave one that cannot be read, which is
 * for what counts as lost then. The output folder has a writer of its own.
 *
 * @throws what the system refuses, a full disk among it; the file stays as it was
 */
export const writeWholeFile = (
  file: string,
  content: string | Uint8Array,
  { durable = false }: { readonly durable?: boolean } = {},
): void => {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(`${file}.next`, content, { flush: durable });
  renameSync(`${file}.next`, file);
  // The name is in the folder: a power cut may else leave the file that stood there before, or none.
  if (durable) flushFile(path.dirname(file));
};

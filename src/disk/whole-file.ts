import { renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { flushFile } from './flush-file.ts';
import { makeFolder } from './make-folder.ts';

/**
 * Writes a file that only one process at a time writes, such as the notes of a build in its state folder. Readers see
 * the old content or the new. If it is not `durable`, a power cut may leave an unreadable file, which callers must
 * treat as missing. The output folder has a writer of its own.
 *
 * @throws any error of the system, such as a full disk; the file stays as it was
 */
export const writeWholeFile = (
  file: string,
  content: string | Uint8Array,
  { durable = false }: { readonly durable?: boolean } = {},
): void => {
  makeFolder(path.dirname(file));
  writeFileSync(`${file}.next`, content, { flush: durable });
  renameSync(`${file}.next`, file);
  // The folder contains the name. Otherwise a power cut may leave the old file, or none.
  if (durable) flushFile(path.dirname(file));
};

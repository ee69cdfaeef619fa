import { readFileSync } from 'node:fs';
import path from 'node:path';
import { listFiles } from './folder-entries.ts';
import type { OutputFolder } from './output-folder.ts';

const isPublished = (output: OutputFolder, file: string, content: Uint8Array): boolean => {
  const present = output.lookUp(file);
  return (
    present?.isFile() === true && present.size === content.length && readFileSync(output.resolve(file)).equals(content)
  );
};

/** Publishes files by path, in this order and unchanged, but only those that differ. Returns how many were written. */
export const publishFiles = (output: OutputFolder, files: Iterable<readonly [path: string, content: Uint8Array]>) => {
  let written = 0;
  for (const [file, content] of files) {
    if (isPublished(output, file, content)) continue;
    output.write(file, content);
    written++;
  }
  return written;
};

/** Publishes the files of a folder unchanged, but only those that differ. Returns how many were written. */
export const publishAssets = (output: OutputFolder, folder: string): number => {
  function* read(): Generator<[string, Uint8Array]> {
    for (const name of listFiles(folder)) yield [name, readFileSync(path.join(folder, name))];
  }
  return publishFiles(output, read());
};

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { OutputFolder } from './output-folder.ts';

/** Publishes the files of a folder as they are, those alone that differ. Returns how many were written. */
export const publishAssets = (out: string, folder: string): number => {
  const output = new OutputFolder(out);
  let written = 0;
  try {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const source = path.join(entry.parentPath, entry.name);
      const document = path.relative(folder, source).split(path.sep).join('/');
      const content = readFileSync(source);
      if (readIfPresent(output.resolve(document))?.equals(content) === true) continue;
      output.write(document, content);
      written++;
    }
  } finally {
    output.sweep();
  }
  return written;
};

const readIfPresent = (file: string): Buffer | undefined => {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
};

import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import type { Generation } from '../../src/contract/generation.ts';

const read = (folder: string, file: string | undefined): string[] => {
  if (file === undefined) return [];
  const text = zstdDecompressSync(readFileSync(path.join(folder, file))).toString();
  if (!path.basename(file).startsWith(hash('sha256', text))) throw new Error(`${file} is not named after its content`);
  return text.split('\n').filter((line) => line !== '');
};

/** The SHA-256 of each file of a generation, by path. Reads the format of docs/publication.md with code of its own. */
export const readInventoryOf = (folder: string, documents: Generation['documents']): Map<string, string> => {
  const lines = [...read(folder, documents.inventory), ...read(folder, documents.differences)];
  const digests = new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
  const present = [...digests].filter(([, digest]) => !/^0+$/.test(digest));
  return new Map(present.sort(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other))));
};

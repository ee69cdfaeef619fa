import { lstatSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { readJsonFile } from '../disk/json-file.ts';
import { writeWholeFile } from '../disk/whole-file.ts';
import { walkFiles } from './folder-entries.ts';
import type { OutputFolder } from './output-folder.ts';

const sizeSchema = z.strictObject({
  files: z.int(),
  bytes: z.int(),
  largest: z.strictObject({ path: z.string(), bytes: z.int() }),
});

/** How much is published: the number and size of all files that a host has to hold, and the largest. */
export type PublishedSize = Readonly<z.infer<typeof sizeSchema>>;

/** The size of a folder of the output that is already known, so that its files need not be examined one by one. */
export interface KnownFolder extends PublishedSize {
  /** Its path below the output folder. */
  readonly folder: string;
}

const notedSchema = z.strictObject({ generation: z.string(), size: sizeSchema });

/** Our own notes beside what is published, which are not meant for hosts. */
const isOwn = (file: string): boolean => file.startsWith('.') && !file.startsWith('.well-known/');

type Largest = PublishedSize['largest'];

const largerOf = (one: Largest, other: Largest): Largest =>
  other.bytes > one.bytes || (other.bytes === one.bytes && other.path < one.path) ? other : one;

/** Adds up sizes. */
export class SizeCounter {
  #files = 0;
  #bytes = 0;
  #largest: Largest = { path: '', bytes: 0 };

  add(path: string, bytes: number): void {
    this.addAll({ files: 1, bytes, largest: { path, bytes } });
  }

  addAll({ files, bytes, largest }: PublishedSize): void {
    if (files === 0) return;
    this.#largest = this.#files === 0 ? largest : largerOf(this.#largest, largest);
    this.#files += files;
    this.#bytes += bytes;
  }

  get size(): PublishedSize {
    return { files: this.#files, bytes: this.#bytes, largest: this.#largest };
  }
}

const measure = (output: OutputFolder, known: readonly KnownFolder[]): PublishedSize => {
  const counter = new SizeCounter();
  for (const one of known) counter.addAll(one);
  const folders = new Set(known.map(({ folder }) => folder));
  for (const file of walkFiles(output.root, '', (folder) => folders.has(folder))) {
    if (!isOwn(file)) counter.add(file, lstatSync(output.resolve(file)).size);
  }
  return counter.size;
};

/**
 * The size of what is published; to be called when vanished files are gone. It is measured once for each generation
 * (identified by `generation`) and recorded in the state folder; only then is `known` called.
 */
export const readPublishedSize = (
  output: OutputFolder,
  state: string,
  generation: string,
  known: () => readonly KnownFolder[] = () => [],
): PublishedSize => {
  const file = path.join(state, 'publication', 'size.json');
  // Undefined if it was never measured, or the record is lost.
  const noted = readJsonFile(file, notedSchema);
  if (noted?.generation === generation) return noted.size;
  const size = measure(output, known());
  writeWholeFile(file, JSON.stringify({ generation, size }));
  return size;
};

import { lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { writeWholeFile } from '../disk/whole-file.ts';
import { walkFiles } from './folder-entries.ts';
import type { OutputFolder } from './output-folder.ts';

const sizeSchema = z.strictObject({
  files: z.int(),
  bytes: z.int(),
  largest: z.strictObject({ path: z.string(), bytes: z.int() }),
});

/** How much is published: all files that a host is to hold, and the largest of them. */
export type PublishedSize = Readonly<z.infer<typeof sizeSchema>>;

/** How much is in a folder of the output of which that is known, so that its files need not be looked at one by one. */
export interface KnownFolder extends PublishedSize {
  /** Its path below the output folder. */
  readonly folder: string;
}

const notedSchema = z.strictObject({ generation: z.string(), size: sizeSchema });

/** What hosts are not to be given: our own notes beside what is published. */
const isOwn = (file: string): boolean => file.startsWith('.') && !file.startsWith('.well-known/');

type Largest = PublishedSize['largest'];

const largerOf = (one: Largest, other: Largest): Largest =>
  other.bytes > one.bytes || (other.bytes === one.bytes && other.path < one.path) ? other : one;

const measure = (output: OutputFolder, known: KnownFolder | undefined): PublishedSize => {
  let [files, bytes] = [known?.files ?? 0, known?.bytes ?? 0];
  let largest = known?.largest ?? { path: '', bytes: 0 };
  for (const file of walkFiles(output.root, '', (folder) => folder === known?.folder)) {
    if (isOwn(file)) continue;
    const { size } = lstatSync(output.resolve(file));
    files++;
    bytes += size;
    largest = largerOf(largest, { path: file, bytes: size });
  }
  return { files, bytes, largest };
};

/**
 * The size of what is published, to be asked for when what vanished is gone. It is measured once for each generation
 * (`generation` tells one from another), and noted in the state folder; `known` is asked then.
 */
export const readPublishedSize = (
  output: OutputFolder,
  state: string,
  generation: string,
  known: () => KnownFolder | undefined = () => undefined,
): PublishedSize => {
  const file = path.join(state, 'publication', 'size.json');
  try {
    const noted = notedSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
    if (noted.generation === generation) return noted.size;
  } catch {
    // Never measured, or lost.
  }
  const size = measure(output, known());
  writeWholeFile(file, JSON.stringify({ generation, size }));
  return size;
};

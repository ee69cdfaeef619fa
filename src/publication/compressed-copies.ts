import { createReadStream, createWriteStream, existsSync, lstatSync, readFileSync, rmSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants, createBrotliCompress, createGzip, gunzip, gzip } from 'node:zlib';
import { type Coding, codings, copyPath, fileOfCopy } from '../contract/compressed-paths.ts';
import { contentTypeOf, isCompressible } from '../contract/file-headers.ts';
import { eachAtOnce } from './each-at-once.ts';
import { listFiles } from './folder-entries.ts';
import { copiesRecord, type OutputFolder } from './output-folder.ts';

// Files compressed once, when they are written, for the servers that find such copies beside them.

/** Smaller files, in bytes, travel in one packet anyway. */
const smallest = 1400;
/** Larger files, in bytes, are compressed piece by piece and with less effort: they are a list of everything. */
const largestAtOnce = 4 * 2 ** 20;
/** So many at once keep two cores busy. */
const concurrency = 4;

const options = (size: number) => ({
  br: {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: size > largestAtOnce ? 5 : 9,
      [constants.BROTLI_PARAM_SIZE_HINT]: size,
    },
  },
  gzip: { level: size > largestAtOnce ? 6 : 9 },
});

const compressors = { br: promisify(brotliCompress), gzip: promisify(gzip) } as const;
const decompressors = { br: promisify(brotliDecompress), gzip: promisify(gunzip) } as const;

/** Bytes of each copy by its path; 0 where none is worth its place. */
type CopySizes = Map<string, number>;

const readSizes = (output: OutputFolder): CopySizes => {
  const file = output.resolve(copiesRecord);
  if (!existsSync(file)) return new Map();
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return new Map(lines.map((line) => [line.slice(line.indexOf(' ') + 1), Number.parseInt(line, 10)]));
};

const writeSizes = (output: OutputFolder, sizes: CopySizes): void => {
  let text = '';
  for (const [file, size] of sizes) text += `${size} ${file}\n`;
  output.write(copiesRecord, text);
};

/** What to compress. */
export interface CopiesInput {
  /** One that keeps copies; see `keepCopies`. */
  readonly output: OutputFolder;
  /** The paths of the published files. */
  readonly paths: Iterable<string>;
  /** Whether a file may have other bytes than when its copies were made. */
  readonly isTouched: (path: string) => boolean;
  /** Whether to read every copy, and not look at its size alone. */
  readonly verify: boolean;
  readonly onCopy?: (done: number, total: number) => void;
}

interface Missing {
  readonly file: string;
  readonly size: number;
  readonly coding: Coding;
}

/**
 * Makes the compressed copies of published files that are missing or not as they were made: brotli and gzip, beside the
 * file, under its name with `.br` and `.gz`. A copy appears whole, and only beside the file that it was made of, since
 * whatever replaces a file removes its copies first. They belong to the folder, and are no part of a generation: where
 * one is missing, a server sends the file itself. Returns how many were made.
 *
 * @throws Error where a file cannot be read or written
 */
export const writeCopies = async (input: CopiesInput): Promise<number> => {
  const { output } = input;
  const known = readSizes(output);
  const sizes: CopySizes = new Map();
  const missing: Missing[] = [];
  for (const file of input.paths) {
    if (!isCompressible(contentTypeOf(file))) continue;
    for (const coding of codings) {
      const copy = copyPath(file, coding);
      const size = known.get(copy);
      if (size !== undefined && (await isThere(input, file, coding, size))) sizes.set(copy, size);
      else missing.push({ file, size: statSync(output.resolve(file)).size, coding });
    }
  }
  let [done, written] = [0, 0];
  await eachAtOnce(missing, { concurrency, count: missing.length }, async (one) => {
    const size = await makeCopy(output, one);
    sizes.set(copyPath(one.file, one.coding), size);
    if (size > 0) written++;
    input.onCopy?.(++done, missing.length);
  });
  await output.flush();
  // Of files that are not among these and stand as they were, such as pages that were not built this time.
  for (const [copy, size] of known) {
    if (!sizes.has(copy) && existsSync(output.resolve(fileOfCopy(copy) ?? ''))) sizes.set(copy, size);
  }
  if (missing.length > 0 || sizes.size !== known.size) {
    writeSizes(output, sizes);
    await output.flush();
  }
  return written;
};

const sizeOf = (file: string): number | undefined => lstatSync(file, { throwIfNoEntry: false })?.size;

/** Whether a copy is as it was made. One that stands beside a file is of that file: it would have been removed with it. */
const isThere = async (
  { output, isTouched, verify }: CopiesInput,
  file: string,
  coding: Coding,
  size: number,
): Promise<boolean> => {
  if (size === 0) return !isTouched(file);
  return sizeOf(output.resolve(copyPath(file, coding))) === size && (!verify || (await isCopyOf(output, file, coding)));
};

/** Whether a copy, read whole, is of its file. */
const isCopyOf = async (output: OutputFolder, file: string, coding: Coding): Promise<boolean> => {
  try {
    const whole = await readFile(output.resolve(file));
    const copy = await readFile(output.resolve(copyPath(file, coding)));
    return whole.equals(await decompressors[coding](copy, { maxOutputLength: whole.length + 1 }));
  } catch {
    return false;
  }
};

/** Makes one copy; returns its size, 0 where it is left out because it would not be smaller. */
const makeCopy = async (output: OutputFolder, { file, size, coding }: Missing): Promise<number> => {
  const [source, copy] = [output.resolve(file), copyPath(file, coding)];
  rmSync(output.resolve(copy), { force: true });
  if (size < smallest) return 0;
  if (size > largestAtOnce) {
    const temporary = output.temporary();
    const compressor = coding === 'br' ? createBrotliCompress(options(size).br) : createGzip(options(size).gzip);
    await pipeline(createReadStream(source), compressor, createWriteStream(temporary));
    output.place(temporary, copy);
    output.note(copy);
    return statSync(output.resolve(copy)).size;
  }
  const compressed = await compressors[coding](await readFile(source), options(size)[coding]);
  if (compressed.length >= size) return 0;
  output.write(copy, compressed);
  return compressed.length;
};

/** Removes the copies of a folder that is to have none any more, whoever made them. */
export const removeCopies = (output: OutputFolder): void => {
  if (!output.keepsCopies) return;
  for (const file of listFiles(output.root)) if (fileOfCopy(file) !== undefined) rmSync(output.resolve(file));
  output.endCopies();
};

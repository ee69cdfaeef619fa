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

// Files are compressed once, when they are written, for servers that look for such copies beside them.

/** Smaller files, in bytes, travel in one packet anyway. */
const smallest = 1400;
/** Larger files, in bytes, are compressed piece by piece and with less effort: they are lists of everything. */
const largestAtOnce = 4 * 2 ** 20;
/** Enough at the same time to keep two cores busy. */
const concurrency = 4;

/** A window of Brotli that spans 65,520 bytes, the largest for which it does not prepare 33 MB for every single file. */
const smallWindow = { bits: 16, bytes: 2 ** 16 - 16 };

const options = (size: number) => ({
  br: {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: size > largestAtOnce ? 5 : 9,
      // What fits into it becomes as small as with a larger one, in a twelfth of the time.
      [constants.BROTLI_PARAM_LGWIN]: size > smallWindow.bytes ? constants.BROTLI_DEFAULT_WINDOW : smallWindow.bits,
      [constants.BROTLI_PARAM_SIZE_HINT]: size,
    },
  },
  gzip: { level: size > largestAtOnce ? 6 : 9 },
});

const compressors = { br: promisify(brotliCompress), gzip: promisify(gzip) } as const;
const decompressors = { br: promisify(brotliDecompress), gzip: promisify(gunzip) } as const;

/** The size of each copy in bytes, by path; 0 if it would not be smaller. */
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
  /** A folder that keeps copies; see `keepCopies`. */
  readonly output: OutputFolder;
  /** The paths of the published files. */
  readonly paths: Iterable<string>;
  /** Whether a file may have changed since its copies were made. */
  readonly isTouched: (path: string) => boolean;
  /** Whether to read every copy, rather than only compare its size. */
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
 * file, under its name with `.br` and `.gz`. A copy appears whole, and only beside the file that it was made from,
 * because whatever replaces a file removes its copies first. Copies belong to the folder and not to a generation: if
 * one is missing, a server sends the file itself. Returns how many were made.
 *
 * @throws Error if a file cannot be read or written
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
  // For unchanged files that are not among these, such as pages that were not built this time.
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

/**
 * Whether a copy is as it was made. A copy beside a file belongs to that file, because it would have been removed with
 * it.
 */
const isThere = async (
  { output, isTouched, verify }: CopiesInput,
  file: string,
  coding: Coding,
  size: number,
): Promise<boolean> => {
  if (size === 0) return !isTouched(file);
  return sizeOf(output.resolve(copyPath(file, coding))) === size && (!verify || (await isCopyOf(output, file, coding)));
};

/** Reads a copy; whether it belongs to its file. */
const isCopyOf = async (output: OutputFolder, file: string, coding: Coding): Promise<boolean> => {
  try {
    const whole = await readFile(output.resolve(file));
    const copy = await readFile(output.resolve(copyPath(file, coding)));
    return whole.equals(await decompressors[coding](copy, { maxOutputLength: whole.length + 1 }));
  } catch {
    return false;
  }
};

/** Makes one copy. Returns its size; 0 if it is left out because it would not be smaller. */
const makeCopy = async (output: OutputFolder, { file, size, coding }: Missing): Promise<number> => {
  const [source, copy] = [output.resolve(file), copyPath(file, coding)];
  rmSync(output.resolve(copy), { force: true });
  if (size < smallest) return 0;
  if (size > largestAtOnce) {
    const temporary = output.temporary();
    const compressor = coding === 'br' ? createBrotliCompress(options(size).br) : createGzip(options(size).gzip);
    await pipeline(createReadStream(source), compressor, createWriteStream(temporary));
    output.placeNoted(temporary, copy);
    return statSync(output.resolve(copy)).size;
  }
  const compressed = await compressors[coding](await readFile(source), options(size)[coding]);
  if (compressed.length >= size) return 0;
  output.write(copy, compressed);
  return compressed.length;
};

/** Removes all copies from a folder that should not have any, whoever made them. */
export const removeCopies = (output: OutputFolder): void => {
  if (!output.keepsCopies) return;
  for (const file of listFiles(output.root)) if (fileOfCopy(file) !== undefined) rmSync(output.resolve(file));
  output.endCopies();
};

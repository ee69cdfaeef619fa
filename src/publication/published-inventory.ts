import { hash } from 'node:crypto';
import { zstdDecompressSync } from 'node:zlib';
import type { Generation } from '../contract/generation.ts';
import { comparePaths, parseInventory } from './inventory.ts';
import { isSafePath } from './safe-paths.ts';

// A compressed inventory consists mostly of digests, which do not compress: for sixty thousand files it has two
// megabytes. So that a generation with few changes has little to download, it names the inventory of an earlier one and
// all differences from that. A client that has none, or any other, needs two files, however many generations have
// passed.

/** SHA-256 of each file in lower-case hex, by path. */
export type Inventory = ReadonlyMap<string, string>;

/** The compressed files of an inventory; undefined for one that is missing or not named. */
export interface InventoryFiles {
  readonly whole: Uint8Array | undefined;
  readonly differences: Uint8Array | undefined;
}

/** The digest in differences for a file of the whole inventory that no longer exists. */
const noDigest = '0'.repeat(64);

/** The most bytes of differences, or the largest share of the whole inventory. */
const mostBytes = 2048;
const mostShare = 1 / 64;

// Enough for two million files, and half of the longest possible string. A stranger may have written a file that
// decompresses to more.
export const longestText: number = 2 ** 28;
const pathAt = 66;

// One at a time: the lines of a million files are a million strings.
function* linesOf(text: string): Generator<string, undefined> {
  for (let begin = 0; begin < text.length; ) {
    const next = text.indexOf('\n', begin);
    const end = next < 0 ? text.length : next;
    if (end > begin) yield text.slice(begin, end);
    begin = end + 1;
  }
}

/** The lines of two inventories, each with the line for the same path in the other, in order. */
function* pairLines(one: string, other: string): Generator<readonly [string | undefined, string | undefined]> {
  const [first, second] = [linesOf(one), linesOf(other)];
  let [line, counterpart] = [first.next().value, second.next().value];
  while (line !== undefined || counterpart !== undefined) {
    const order =
      line === undefined
        ? 1
        : counterpart === undefined
          ? -1
          : comparePaths(line.slice(pathAt), counterpart.slice(pathAt));
    yield [order <= 0 ? line : undefined, order >= 0 ? counterpart : undefined];
    if (order <= 0) line = first.next().value;
    if (order >= 0) counterpart = second.next().value;
  }
}

/** The lines in which an inventory differs from an earlier one; see `generationSchema`. */
export const listDifferences = (earlier: string, text: string): string => {
  let differences = '';
  for (const [before, now] of pairLines(earlier, text)) {
    if (before !== now) differences += `${now ?? `${noDigest}  ${before?.slice(pathAt)}`}\n`;
  }
  return differences;
};

/** The inventory that differs from an earlier one in these lines. */
const applyDifferences = (earlier: string, differences: string): string => {
  if (differences === '') return earlier;
  let text = '';
  for (const [before, now] of pairLines(earlier, differences)) {
    const line = now ?? before ?? '';
    if (!line.startsWith(noDigest)) text += `${line}\n`;
  }
  return text;
};

/** Whether differences are short enough to be published instead of a whole inventory. */
export const areWorthwhile = (differences: string, text: string): boolean =>
  differences.length < text.length && differences.length <= Math.max(mostBytes, text.length * mostShare);

const decompress = (bytes: Uint8Array | undefined): Buffer | undefined => {
  try {
    return bytes && zstdDecompressSync(bytes, { maxOutputLength: longestText });
  } catch {
    return undefined;
  }
};

/** A decompressed text; undefined if it is missing or cannot be decompressed. */
const readText = (bytes: Uint8Array | undefined): string | undefined => decompress(bytes)?.toString();

const findNamed = (bytes: Uint8Array | undefined, file: string): Buffer | undefined => {
  const found = decompress(bytes);
  const name = file.slice(file.lastIndexOf('/') + 1);
  return found !== undefined && name.startsWith(hash('sha256', found)) ? found : undefined;
};

/** Whether this is the compressed text with this name, which is its SHA-256. Does not make a string of it. */
export const isNamed = (bytes: Uint8Array | undefined, file: string): boolean => findNamed(bytes, file) !== undefined;

/**
 * The text of a compressed file that is named after the SHA-256 of the text; undefined if it differs, or is missing.
 */
export const readNamed = (bytes: Uint8Array | undefined, file: string): string | undefined =>
  findNamed(bytes, file)?.toString();

/**
 * The files of a generation, composed from the files that list them; undefined if these are missing, or do not match
 * the generation. A stranger may have written the paths.
 */
export const composeInventory = (
  { digest, differences: named }: Pick<Generation['documents'], 'digest' | 'differences'>,
  { whole, differences }: InventoryFiles,
): Inventory | undefined => {
  const earlier = readText(whole);
  const differing = named === undefined ? '' : readText(differences);
  if (earlier === undefined || differing === undefined) return undefined;
  const text = applyDifferences(earlier, differing);
  return hash('sha256', text) === digest ? parseInventory(text) : undefined;
};

/** The same; also undefined if it contains a path that no build writes (C9). */
export const composeSafeInventory = (
  ...[documents, files]: Parameters<typeof composeInventory>
): Inventory | undefined => {
  const inventory = composeInventory(documents, files);
  return inventory !== undefined && [...inventory.keys()].every(isSafePath) ? inventory : undefined;
};

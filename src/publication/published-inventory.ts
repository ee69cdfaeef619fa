import { hash } from 'node:crypto';
import { zstdDecompressSync } from 'node:zlib';
import type { Generation } from '../contract/generation.ts';
import { comparePaths, parseInventory } from './inventory.ts';
import { isSafePath } from './safe-paths.ts';

// Most of a compressed inventory is digests, which nothing compresses: of sixty thousand files it has two megabytes. So
// that a generation in which little changed brings little, it names the inventory of an earlier one and what differs from
// that, all of it at once: whoever has none, or any other, needs two files, however many generations went by.

/** SHA-256 of each file in lower-case hex, by its path. */
export type Inventory = ReadonlyMap<string, string>;

/** The compressed files that an inventory is made of; undefined of what is missing, or not named. */
export interface InventoryFiles {
  readonly whole: Uint8Array | undefined;
  readonly differences: Uint8Array | undefined;
}

/** The digest that differences have for a file of the whole inventory that is no longer there. */
const noDigest = '0'.repeat(64);

/** Differences stay below so many bytes of text, or this share of the whole inventory. */
const mostBytes = 2048;
const mostShare = 1 / 64;

// Of two million files, and half of what a string can be: a stranger may have written what decompresses to more.
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

/** The lines of two inventories, each with that of the same path in the other, in order. */
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

/** Whether differences are short enough to be published in place of the whole inventory. */
export const areWorthwhile = (differences: string, text: string): boolean =>
  differences.length < text.length && differences.length <= Math.max(mostBytes, text.length * mostShare);

const decompress = (bytes: Uint8Array | undefined): Buffer | undefined => {
  try {
    return bytes && zstdDecompressSync(bytes, { maxOutputLength: longestText });
  } catch {
    return undefined;
  }
};

/** A compressed text as it is; undefined where it is missing or cannot be decompressed. */
const readText = (bytes: Uint8Array | undefined): string | undefined => decompress(bytes)?.toString();

const findNamed = (bytes: Uint8Array | undefined, file: string): Buffer | undefined => {
  const found = decompress(bytes);
  const name = file.slice(file.lastIndexOf('/') + 1);
  return found !== undefined && name.startsWith(hash('sha256', found)) ? found : undefined;
};

/** Whether this is the compressed text that has this name, which is the SHA-256 of it. Makes no text of it. */
export const isNamed = (bytes: Uint8Array | undefined, file: string): boolean => findNamed(bytes, file) !== undefined;

/** The text of a compressed file that is named after the SHA-256 of that; undefined where it has another, or is missing. */
export const readNamed = (bytes: Uint8Array | undefined, file: string): string | undefined =>
  findNamed(bytes, file)?.toString();

/**
 * The files of a generation, put together from the files that tell of them; undefined where these are missing, or others
 * than the generation says. A stranger may have written the paths.
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

/** The same; undefined as well where it names what no build writes (C9). */
export const composeSafeInventory = (
  ...[documents, files]: Parameters<typeof composeInventory>
): Inventory | undefined => {
  const inventory = composeInventory(documents, files);
  return inventory !== undefined && [...inventory.keys()].every(isSafePath) ? inventory : undefined;
};

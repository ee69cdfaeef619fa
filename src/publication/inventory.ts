import { createHash } from 'node:crypto';
import { readSync, writeFileSync } from 'node:fs';
import { openFile } from '../disk/open-file.ts';

/** A file of a generation. */
export interface InventoryEntry {
  /** Below the output folder, with "/" between segments. */
  readonly path: string;
  /** SHA-256 of its bytes, in lower-case hex. */
  readonly sha256: string;
}

/** A summary of an inventory, and what changed since the last one. */
export interface InventorySummary {
  readonly count: number;
  /** SHA-256 of the inventory as text; see `generationSchema`. */
  readonly digest: string;
  /** In the order of the inventory. */
  readonly written: readonly string[];
  readonly removed: readonly string[];
}

// Below these units, the order of UTF-16, which JavaScript uses, is the order of UTF-8.
const high = /[\ud800-\uffff]/;

/** The order of paths in an inventory: by their UTF-8 bytes. */
export const comparePaths = (one: string, other: string): number => {
  if (one === other) return 0;
  if (high.test(one) || high.test(other)) return Buffer.compare(Buffer.from(one), Buffer.from(other));
  return one < other ? -1 : 1;
};

const pieceBytes = 2 ** 20;

// Each piece is overwritten by the next.
function* readPieces(file: string, piece = Buffer.allocUnsafe(pieceBytes)): Generator<Uint8Array> {
  using opened = openFile(file, 'r');
  for (let length = readSync(opened.descriptor, piece); length > 0; length = readSync(opened.descriptor, piece)) {
    yield piece.subarray(0, length);
  }
}

// Hashing is synchronous, so all files can share one buffer. A megabyte for each of sixty thousand small files took
// twenty times as long as the hashing.
let shared: Buffer<ArrayBuffer> | undefined;

/** The SHA-256 of a file in lower-case hex. Throws if it cannot be read. */
export const digestFile = (file: string): string => {
  shared ??= Buffer.allocUnsafe(pieceBytes);
  const digest = createHash('sha256');
  for (const piece of readPieces(file, shared)) digest.update(piece);
  return digest.digest('hex');
};

/** Formats an entry as a line of an inventory. */
export const formatEntry = ({ path, sha256 }: InventoryEntry): string => `${sha256}  ${path}\n`;

const parseLine = (line: string): InventoryEntry => ({ sha256: line.slice(0, 64), path: line.slice(66) });

/** The SHA-256 of each file in an inventory, by path. */
export const parseInventory = (text: string): Map<string, string> => {
  const inventory = new Map<string, string>();
  for (let begin = 0; begin < text.length; ) {
    const next = text.indexOf('\n', begin);
    const end = next < 0 ? text.length : next;
    if (end > begin) inventory.set(text.slice(begin + 66, end), text.slice(begin, begin + 64));
    begin = end + 1;
  }
  return inventory;
};

/** The entries of the inventory in this file. Throws if it cannot be read. */
export function* readInventory(file: string): Generator<InventoryEntry> {
  const decoder = new TextDecoder();
  let rest = '';
  for (const piece of readPieces(file)) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines.map(parseLine);
  }
}

/** What an inventory is made from. */
export interface InventorySources {
  /** The paths of all files of the generation, in the order of `comparePaths`, without repetitions. */
  readonly paths: readonly string[];
  /** The last inventory, in the same order. */
  readonly before: Iterable<InventoryEntry>;
  /** Whether a file of the last inventory that is not among these belongs to this one, too. */
  readonly isCarried?: ((path: string) => boolean) | undefined;
  /** Whether a file may have changed since the last inventory. */
  readonly isTouched: (path: string) => boolean;
  /** The SHA-256 of a file as it is now. */
  readonly digestOf: (path: string) => string;
}

/**
 * Writes the inventory of a generation to a file and compares it with the last one, both line by line. Reads only files
 * that may have changed.
 */
export const writeInventory = (
  file: string,
  { paths, before, isCarried, isTouched, digestOf }: InventorySources,
): InventorySummary => {
  const [written, removed]: [string[], string[]] = [[], []];
  let count = 0;
  const digest = createHash('sha256');
  using opened = openFile(file, 'w');
  let text = '';
  const flush = () => {
    const bytes = Buffer.from(text);
    digest.update(bytes);
    writeFileSync(opened.descriptor, bytes);
    text = '';
  };
  const add = (path: string, known: string | undefined) => {
    const sha256 = known === undefined || isTouched(path) ? digestOf(path) : known;
    if (sha256 !== known) written.push(path);
    text += formatEntry({ path, sha256 });
    count++;
    if (text.length > pieceBytes) flush();
  };
  const leave = ({ path, sha256 }: InventoryEntry) => {
    if (isCarried?.(path) === true) add(path, sha256);
    else removed.push(path);
  };
  const former = before[Symbol.iterator]();
  let next = former.next();
  for (const path of paths) {
    for (; !next.done && comparePaths(next.value.path, path) < 0; next = former.next()) leave(next.value);
    const known = !next.done && next.value.path === path ? next.value.sha256 : undefined;
    if (known !== undefined) next = former.next();
    add(path, known);
  }
  for (; !next.done; next = former.next()) leave(next.value);
  flush();
  return { count, digest: digest.digest('hex'), written, removed };
};

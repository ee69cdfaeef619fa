import { hash } from 'node:crypto';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

/** A file of the search index, as Pagefind hands it out. */
export interface IndexFile {
  readonly path: string;
  readonly content: Uint8Array;
}

// Pagefind keeps its filters in hash maps, whose order changes from run to run, and names files after their bytes. Here
// the filters, their values and the sort orders are put in order of names, so that equal records give equal files.
// Its files are gzip of this mark and one CBOR item (RFC 8949).
const mark = Buffer.from('pagefind_dcd');
const list = 4;

/** The head of a CBOR item: its major type, its argument, and where what follows begins (RFC 8949, section 3). */
const readHead = (bytes: Buffer, at: number): { major: number; argument: number; next: number } => {
  const initial = bytes.readUInt8(at);
  const [major, short] = [initial >> 5, initial & 0x1f];
  if (short < 24) return { major, argument: short, next: at + 1 };
  if (short > 27) throw new Error('search index: Pagefind wrote an item of unknown length');
  const size = 2 ** (short - 24);
  const argument = size === 8 ? Number(bytes.readBigUInt64BE(at + 1)) : bytes.readUIntBE(at + 1, size);
  return { major, argument, next: at + 1 + size };
};

/** Where the item that begins here ends. */
const endOf = (bytes: Buffer, at: number): number => {
  const { major, argument, next } = readHead(bytes, at);
  if (major === 2 || major === 3) return next + argument;
  let end = next;
  // Maps hold two items for each entry, a tag one.
  const items = major === list ? argument : major === 5 ? 2 * argument : major === 6 ? 1 : 0;
  for (let item = 0; item < items; item++) end = endOf(bytes, end);
  return end;
};

/** The head of a list, and its items as they are written. */
const readList = (item: Buffer): { head: Buffer; items: Buffer[] } => {
  const { major, argument, next } = readHead(item, 0);
  if (major !== list) throw new Error('search index: Pagefind wrote something else where a list was expected');
  const items: Buffer[] = [];
  let at = next;
  for (let count = 0; count < argument; count++) {
    const end = endOf(item, at);
    items.push(item.subarray(at, end));
    at = end;
  }
  return { head: item.subarray(0, next), items };
};

// Each item begins with its name.
const sortList = (item: Buffer): Buffer => {
  const { head, items } = readList(item);
  return Buffer.concat([head, ...items.sort(Buffer.compare)]);
};

/** Replaces items of a list by their places in it. */
const mapList = (item: Buffer, changes: Readonly<Record<number, (item: Buffer) => Buffer>>): Buffer => {
  const { head, items } = readList(item);
  return Buffer.concat([head, ...items.map((one, place) => changes[place]?.(one) ?? one)]);
};

const unpack = (file: IndexFile): Buffer => {
  const bytes = gunzipSync(file.content);
  if (!bytes.subarray(0, mark.length).equals(mark)) throw new Error(`search index: ${file.path} has no mark`);
  return bytes.subarray(mark.length);
};

const pack = (item: Buffer): Buffer => gzipSync(Buffer.concat([mark, item]), { level: 9 });

// The part of a file's name that is a digest of its bytes, as its referrers write it.
const hashOf = (file: IndexFile): string => {
  const name = path.posix.parse(file.path).name;
  return name.slice(name.indexOf('unknown_'));
};

const rename = (file: IndexFile, item: Buffer): { from: string; to: string; file: IndexFile } => {
  const from = hashOf(file);
  const to = `unknown_${hash('sha256', item).slice(0, from.length - 'unknown_'.length)}`;
  return { from, to, file: { path: file.path.replace(from, to), content: pack(item) } };
};

const replaceText = (item: Buffer, from: string, to: string): Buffer => {
  const at = item.indexOf(from);
  if (at < 0) throw new Error(`search index: nothing refers to ${from}`);
  return Buffer.concat([item.subarray(0, at), Buffer.from(to), item.subarray(at + from.length)]);
};

/**
 * The same index with its files in an order, and under names, that depend on its records alone.
 *
 * @param files an index in one language, with all its files
 * @throws Error where Pagefind wrote something else than version 1.5 does
 */
export const stabilise = (files: readonly IndexFile[]): IndexFile[] => {
  const filters = files.filter((file) => file.path.endsWith('.pf_filter'));
  // A filter: its name, then its values with the pages that have them.
  const renamed = filters.map((file) => rename(file, mapList(unpack(file), { 1: sortList })));
  const [meta, ...others] = files.filter((file) => file.path.endsWith('.pf_meta'));
  const entry = files.find((file) => file.path === 'pagefind-entry.json');
  if (meta === undefined || others.length > 0 || entry === undefined) {
    throw new Error('search index: Pagefind wrote no index, or several');
  }
  let item = unpack(meta);
  for (const { from, to } of renamed) item = replaceText(item, from, to);
  // Version, pages, chunks of words, filters, sort orders, fields.
  const sorted = rename(meta, mapList(item, { 3: sortList, 4: sortList }));
  const text = Buffer.from(entry.content).toString().replace(sorted.from, sorted.to);
  const untouched = files.filter((file) => file !== meta && file !== entry && !filters.includes(file));
  return [
    ...untouched,
    ...renamed.map(({ file }) => file),
    sorted.file,
    { path: entry.path, content: Buffer.from(text) },
  ];
};

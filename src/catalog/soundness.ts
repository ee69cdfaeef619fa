import { existsSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { readJsonFile } from '../disk/json-file.ts';
import { openFile } from '../disk/open-file.ts';
import { writeWholeFile } from '../disk/whole-file.ts';
import { CatalogFile, resultCode } from './node-sqlite.ts';
import { digestPieces, type FileDigest } from './pieces.ts';

const markSchema = z.strictObject({
  size: z.number(),
  /** When the file last changed, in nanoseconds. A catalog in force is never written to. */
  changed: z.string(),
  sha256: z.string(),
  /** The digest of each piece; undefined if an earlier version put the catalog into force. */
  pieces: z.array(z.string()).optional(),
});

// The catalog in force and, while one replaces the other, the next one.
const marksSchema = z.array(markSchema).min(1).max(2);
export type Mark = z.infer<typeof markSchema>;

const markPath = (state: string): string => path.join(state, 'catalog.mark.json');

const outside = (file: string): Pick<Mark, 'size' | 'changed'> => {
  const { size, mtimeNs } = statSync(file, { bigint: true });
  return { size: Number(size), changed: String(mtimeNs) };
};

const readMarks = (state: string): Mark[] => readJsonFile(markPath(state), marksSchema) ?? [];

const writeMarks = (state: string, marks: readonly Mark[]): void =>
  writeWholeFile(markPath(state), `${JSON.stringify(marks)}\n`);

/** The size, time and digests of a finished catalog, which are remembered for the one in force. */
export const markCatalog = async (file: string): Promise<Mark> => {
  const { sha256, pieces } = await digestPieces(file);
  return { ...outside(file), sha256, pieces: [...pieces] };
};

/**
 * Puts a finished catalog with this mark into force, by calling `place`, and remembers the mark, so that a later change
 * to the file is noticed. After a crash in between, either catalog is known.
 */
export const placeMarked = (state: string, mark: Mark, place: () => void): void => {
  const [before] = readMarks(state);
  writeMarks(state, before === undefined ? [mark] : [mark, before]);
  place();
  writeMarks(state, [mark]);
};

/** The digests of the catalog in force. Throws if there is none. */
export const readCatalogDigest = async (state: string): Promise<FileDigest> => {
  const file = path.join(state, 'catalog.sqlite');
  const now = outside(file);
  const mark = readMarks(state).find(({ size, changed }) => size === now.size && changed === now.changed);
  return mark?.pieces === undefined ? digestPieces(file) : { sha256: mark.sha256, pieces: mark.pieces };
};

// https://sqlite.org/fileformat.html#magic_header_string
const header = 'SQLite format 3\0';

const hasHeader = (file: string): boolean => {
  using opened = openFile(file, 'r');
  const bytes = Buffer.alloc(header.length);
  readSync(opened.descriptor, bytes);
  return bytes.toString('latin1') === header;
};

const passesQuickCheck = (file: string): boolean => {
  try {
    using database = CatalogFile.openReadOnly(file);
    return database.prepare<[string]>('PRAGMA quick_check(1)').get()?.[0] === 'ok';
  } catch {
    return false;
  }
};

/**
 * Whether a catalog file is the one that was put into force. Its size and time show that at almost no cost. If they
 * differ, as after a backup was restored, or with `verify`, all of its bytes are checked. If an earlier version put it
 * into force, SQLite examines it.
 */
export const isCatalogSound = async (state: string, file: string, verify: boolean): Promise<boolean> => {
  if (!existsSync(file)) return true;
  if (!hasHeader(file)) return false;
  const marks = readMarks(state);
  if (marks.length === 0) return passesQuickCheck(file);
  const now = outside(file);
  if (!verify && marks.some(({ size, changed }) => size === now.size && changed === now.changed)) return true;
  const { sha256, pieces } = await digestPieces(file);
  if (!marks.some((mark) => mark.sha256 === sha256)) return false;
  writeMarks(state, [{ ...now, sha256, pieces: [...pieces] }]);
  return true;
};

// https://sqlite.org/rescode.html: SQLITE_CORRUPT and SQLITE_NOTADB.
const damageCodes = new Set([11, 26]);

/** Whether an error means that a database is damaged. */
export const isDamage = (error: unknown): boolean => damageCodes.has(resultCode(error) ?? 0);

import type { PlacedPortion } from '../../src/catalog/portion-writer.ts';
import { isPortionTable } from '../../src/catalog/portions.ts';
import { catalogFormat } from '../../src/catalog/schema.ts';
import {
  type Generation,
  generationPath,
  generationSchema,
  isDetachedJws,
  type PortionList,
  portionListSchema,
} from '../../src/contract/generation.ts';
import { toHex } from '../../src/contract/hex.ts';
import type { TakeOrder } from './catalog-stub.ts';
import { digestOf, type PublishedFiles, readAll } from './published-files.ts';
import { isSignedBy } from './signature.ts';

/** Why a publication cannot be taken, as a sentence that says what to do. */
export class CannotTake extends Error {
  override name = 'CannotTake';
}

/** The most bytes of `generation.json` with its signature, which are stored in one row. */
const smallBytes = 2 ** 18;
/**
 * The most bytes of a list of portions. It is stored in one row, which may have 2 MB with quotes escaped; that is nine
 * times the list for all of Debian.
 */
const listBytes = 1_700_000;
/**
 * The most bytes of a portion, both as text and as a file. A host has 128 MB, and holds a portion several times over
 * while it writes it.
 */
const portionBytes = 8 * 2 ** 20;

const decode = (bytes: Uint8Array): string => new TextDecoder('utf-8', { fatal: true }).decode(bytes);

const sha256 = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> => toHex(await digestOf(bytes));

const noJson = (name: string, cause: unknown): CannotTake =>
  new CannotTake(`${name} is no JSON: see that the publication is whole, and is where it is looked for.`, { cause });

const parse = <T>(schema: { parse(value: unknown): T }, text: string, name: string): T => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw noJson(name, cause);
  }
  try {
    return schema.parse(value);
  } catch (cause) {
    throw new CannotTake(`${name} is not of a form that this version knows: deploy the version that publishes.`, {
      cause,
    });
  }
};

/** Parses a `generation.json`. Throws CannotTake. */
export const parseGeneration = (text: string): Generation => parse(generationSchema, text, generationPath.current);

/** The generation in force, as a publication describes it. */
export interface FoundGeneration {
  readonly generation: Generation;
  readonly text: string;
  readonly jws: string | null;
}

/**
 * Reads the generation in force. With a public key, it must be signed by that key.
 *
 * @throws CannotTake, Unavailable
 */
export const readGeneration = async (
  files: PublishedFiles,
  publicKey: string | undefined,
): Promise<FoundGeneration> => {
  const bytes = await readAll(files, generationPath.current, smallBytes);
  if (bytes === undefined) {
    throw new CannotTake(
      `There is no ${generationPath.current} that may be read: bring a publication of npm run build there.`,
    );
  }
  let text: string;
  try {
    text = decode(bytes);
  } catch (cause) {
    throw noJson(generationPath.current, cause);
  }
  const generation = parseGeneration(text);
  let jws: string | null = null;
  let isOther = false;
  for (const path of [generationPath.signatureOf(await sha256(bytes)), generationPath.signature]) {
    const found = await readAll(files, path, smallBytes);
    if (found === undefined) continue;
    // A host may have a page in place of a file that is missing, of any encoding. That is no signature, and no error.
    const decoded = new TextDecoder().decode(found);
    if (!isDetachedJws(decoded)) {
      isOther = true;
      continue;
    }
    jws = decoded;
    if (publicKey === undefined || (await isSignedBy(publicKey, jws, text))) return { generation, text, jws };
  }
  if (publicKey === undefined) return { generation, text, jws };
  const missing = isOther ? 'no signature, but such as a web page' : 'missing';
  throw new CannotTake(
    `${generationPath.signature} is ${jws === null ? missing : 'not by the public key that is configured, or of another text'}: nothing was taken.`,
  );
};

const isLater = (one: Generation, other: Generation): boolean =>
  one.number > other.number || (one.number === other.number && one.date > other.date);

/**
 * Whether one `generation.json` is newer than another: by number, and then by date, for an output that was restored and
 * continued. Throws CannotTake.
 */
export const isNewer = (one: string, other: string): boolean => isLater(parseGeneration(one), parseGeneration(other));

/** Refuses a generation that is older than the one held, because it may be a replayed copy (P3). Throws CannotTake. */
export const assertNotOlder = (found: Generation, held: Generation): void => {
  if (isLater(found, held)) return;
  throw new CannotTake(
    `Generation ${found.number} of ${found.date} is published, which is older than generation ${held.number} of ${held.date}, from which is answered: nothing was taken. Where its maintainer began anew, deploy under another name.`,
  );
};

/** Reads what is needed to take a generation. Throws CannotTake, Unavailable. */
export const readOrder = async (
  files: PublishedFiles,
  { generation, text, jws }: FoundGeneration,
): Promise<Omit<TakeOrder, 'answering'>> => {
  if (generation.portions === undefined) {
    throw new CannotTake('The catalog is not published as rows: publish with npm run build -- --portions.');
  }
  const { path, sha256: named } = generation.portions;
  const bytes = await readAll(files, path, listBytes);
  if (bytes === undefined || (await sha256(bytes)) !== named) {
    throw new CannotTake(`${path} is missing or has other bytes than the generation says; it is tried again.`);
  }
  const list = decode(bytes);
  assertSameTables(parseList(list));
  return { text, jws, list };
};

/** Throws CannotTake if the rows of a list belong to other tables than those of this program. */
export const assertSameTables = ({ catalog_format: format }: PortionList): void => {
  if (format === catalogFormat) return;
  throw new CannotTake(
    `The catalog is of another version of Debdex (tables ${format}, here ${catalogFormat}): deploy the version that publishes.`,
  );
};

/** Parses a list of portions. Throws CannotTake. */
export const parseList = (text: string): PortionList => parse(portionListSchema, text, 'The list of portions');

/** A portion of a list, and what the list says of its file. */
export interface ListedPortion extends PlacedPortion {
  readonly size: number;
  readonly compressedSize: number;
}

/** The portions of a list, each with the key at which it ends. Throws CannotTake. */
export const placePortions = ({ portions }: PortionList): ListedPortion[] =>
  portions.map(({ table, first, sha256: digest, size, compressed_size: compressedSize }, index) => {
    if (!isPortionTable(table))
      throw new CannotTake(`There is no table "${table}": deploy the version that publishes.`);
    const next = portions[index + 1];
    return { table, first, end: next?.table === table ? next.first : null, sha256: digest, size, compressedSize };
  });

/** Undefined if there are more bytes than stated. If there are fewer, zeros follow, which the digest reveals. */
const unpack = async (bytes: Uint8Array<ArrayBuffer>, size: number): Promise<Uint8Array<ArrayBuffer> | undefined> => {
  const plain = new Uint8Array(size);
  let end = 0;
  for await (const piece of new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))) {
    // Stops a decompression bomb at the first byte too many.
    if (end + piece.byteLength > size) return undefined;
    plain.set(piece, end);
    end += piece.byteLength;
  }
  return plain;
};

/**
 * The text of a portion, checked against its digest.
 *
 * @throws CannotTake if it is gone or has other bytes; Unavailable
 */
export const readPortion = async (
  files: PublishedFiles,
  { sha256: digest, size, compressedSize }: ListedPortion,
): Promise<string> => {
  if (size === 0) return '';
  const path = generationPath.portion(digest);
  if (Math.max(size, compressedSize) > portionBytes)
    throw new CannotTake(`${path} has more than ${portionBytes / 2 ** 20} MB.`);
  const bytes = await readAll(files, path, compressedSize);
  const plain = bytes && (await unpack(bytes, size).catch(() => undefined));
  if (plain !== undefined && (await sha256(plain)) === digest) return decode(plain);
  throw new CannotTake(`${path} is missing or has other bytes than the generation says; it is tried again.`);
};

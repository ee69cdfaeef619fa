import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import type { Generation } from '../contract/generation.ts';
import { eachAtOnce } from '../publication/each-at-once.ts';
import { comparePaths, formatEntry } from '../publication/inventory.ts';
import type { OutputFolder } from '../publication/output-folder.ts';
import type { Plan } from './mirror-plan.ts';
import { assertTelling, Superseded } from './mirror-refusals.ts';
import { cutAtFrames, type PublicationSource } from './source.ts';

const usualConcurrency = 16;

/** Where files are taken from, and how. */
export interface Taking {
  readonly source: PublicationSource;
  /** How many files are taken at once. */
  readonly concurrency?: number;
  readonly onProgress?: (done: number, total: number) => void;
}

/** A file that waits for its name. */
export interface Taken {
  readonly temporary: string;
  readonly sha256: string;
}

/** Gives a file that was taken its name, and has it flushed before a generation is in force that names it. */
export const placeNoted = (temporary: string, file: string, output: OutputFolder): void => {
  output.place(temporary, file);
  output.note(file);
};

/** Takes what a plan wants; the files of a first copy get their names at once. */
export const takeAll = async (
  { wanted, isFirst }: Plan,
  output: OutputFolder,
  { source, concurrency = usualConcurrency, onProgress }: Taking,
): Promise<Map<string, Taken>> => {
  const taken = new Map<string, Taken>();
  await eachAtOnce(wanted, { concurrency, count: wanted.size }, async ([file, expected]) => {
    const temporary = output.temporary();
    const sha256 = await source.take(file, temporary);
    if (sha256 === undefined) throw new Superseded(`${file} is not there`);
    if (sha256 !== expected) throw new Superseded(`${file} has other bytes`);
    taken.set(file, { temporary, sha256 });
    // An interrupted first copy goes on with what it has.
    if (isFirst) placeNoted(temporary, file, output);
    onProgress?.(taken.size, wanted.size);
  });
  return taken;
};

/** Holds what there is against what the generation says of all its files together. */
export const assertComplete = ({ kept }: Plan, taken: ReadonlyMap<string, Taken>, { documents }: Generation): void => {
  const all = new Map(kept);
  for (const [file, { sha256 }] of taken) all.set(file, sha256);
  const digest = createHash('sha256');
  for (const file of [...all.keys()].sort(comparePaths))
    digest.update(formatEntry({ path: file, sha256: all.get(file) ?? '' }));
  if (digest.digest('hex') !== documents.digest) throw new Superseded('its files are not those of its generation');
};

/** The SHA-256 of a compressed file as it is, in hex; undefined where it is damaged, or of more bytes than these. */
const digestPlain = async (file: string, mostBytes: number): Promise<string | undefined> => {
  const digest = createHash('sha256');
  let bytes = 0;
  try {
    await pipeline(
      createReadStream(file),
      cutAtFrames,
      createZstdDecompress(),
      async (pieces: AsyncIterable<Buffer>) => {
        for await (const piece of pieces) {
          digest.update(piece);
          bytes += piece.length;
          if (bytes > mostBytes) throw new Error('it has more bytes than were announced');
        }
      },
    );
    return digest.digest('hex');
  } catch {
    return undefined;
  }
};

/** Takes a file as it is, of so many bytes at most; returns where it waits for its name. */
export const takeWhole = async (
  file: string,
  output: OutputFolder,
  source: PublicationSource,
  maxBytes?: number,
): Promise<string> => {
  assertTelling(file);
  const temporary = output.temporary();
  if ((await source.take(file, temporary, maxBytes)) === undefined) throw new Superseded(`${file} is missing`);
  return temporary;
};

/**
 * Takes the catalog of a generation, unless it is there; returns where it waits for its name. With `isDoubtful`, what is
 * there may not be whole: a power cut came before it was flushed.
 */
export const takeCatalog = async (
  { path, sha256, size }: Generation['catalog'],
  isDoubtful: boolean,
  output: OutputFolder,
  source: PublicationSource,
): Promise<string | undefined> => {
  assertTelling(path);
  const standing = output.resolve(path);
  if (existsSync(standing) && (!isDoubtful || (await digestPlain(standing, size)) === sha256)) return undefined;
  const temporary = await takeWhole(path, output, source);
  if ((await digestPlain(temporary, size)) !== sha256) throw new Superseded(`${path} is cut short or another`);
  return temporary;
};

import { statSync } from 'node:fs';
import { CatalogFile, isTooLong } from '../catalog/node-sqlite.ts';
import { isOwnCatalog } from '../catalog/state-catalog.ts';
import { findShortage } from '../disk/room.ts';
import { NotOfCatalog } from '../documents/catalog-documents.ts';
import { digestFile } from '../publication/inventory.ts';
import { digestPlain } from './digest-plain.ts';
import { type FoundGeneration, type PublicationSource, SourceError } from './source.ts';
import { largestComposed, TakenCatalog } from './taken-catalog.ts';
import { describeFile, type LargeDocument, type Taken, type TakenFolder, takenOf } from './taken-folder.ts';

/** Where to take a generation from and to, and what is there already. */
interface TakeOptions {
  readonly source: PublicationSource;
  readonly folder: TakenFolder;
  readonly before: Taken | undefined;
}

/** The disk has too little room for what is published. */
export class NoRoomToTake extends Error {
  override name = 'NoRoomToTake';
}

/** How many documents are made from a catalog and compared with its records before it comes into force. */
const samples = 200;

/**
 * Takes the catalog of a generation, and its large documents, which are made from it. At the end everything is in the
 * folder, flushed and under its own name, but not in force. What is there already is not taken again. Undefined if the
 * catalog does not exist any more, so that there must be another generation.
 *
 * @throws SourceError, NetworkError, NoRoomToTake, and errors of the disk; what is in force stays as it is
 */
export const stage = async (found: FoundGeneration, options: TakeOptions): Promise<Taken | undefined> => {
  const { source, folder, before } = options;
  const { catalog } = found.generation;
  const about = {
    format: 1,
    text: found.text.toString(),
    jws: found.jws?.toString() ?? null,
    etag: found.etag,
  } as const;
  if (before?.note.catalog.sha256 === catalog.sha256) return takenOf({ ...before.note, ...about });
  const [file, compressed] = [folder.catalog(catalog.sha256, 'sqlite'), folder.catalog(catalog.sha256, 'sqlite.zst')];
  let plain = file;
  let digest: string | undefined;
  let placed = Promise.resolve();
  if (!(await isComplete(file, compressed, catalog))) {
    assertRoom(folder.root, catalog.size + catalog.compressed_size);
    const into = { compressed: folder.temporary(), plain: folder.temporary() };
    digest = await source.takeCatalog(catalog, into);
    if (digest === undefined) return undefined;
    plain = into.plain;
    // Documents are made while the disk is flushed.
    placed = folder.place(into.compressed, compressed).then(() => folder.place(into.plain, file));
  }
  const [large] = await allEnded([writeLarge(plain, options), placed]);
  return takenOf({
    ...about,
    catalog: describeFile(file, catalog.sha256),
    compressed: describeFile(compressed, digest ?? digestFile(compressed)),
    large,
  });
};

const sizeOf = (file: string): number | undefined => {
  const found = statSync(file, { throwIfNoEntry: false });
  return found?.isFile() === true ? found.size : undefined;
};

// They may be left of a take that ended early, or be damaged, and then nobody says that they are in force.
const isComplete = async (
  file: string,
  compressed: string,
  catalog: FoundGeneration['generation']['catalog'],
): Promise<boolean> =>
  sizeOf(file) === catalog.size &&
  sizeOf(compressed) === catalog.compressed_size &&
  digestFile(file) === catalog.sha256 &&
  (await digestPlain(compressed, catalog.size)) === catalog.sha256;

/**
 * The results of all of these. If some fail, throws the first failure after all have ended, so that none continues
 * unobserved.
 */
const allEnded = async <const T extends readonly Promise<unknown>[]>(promises: T) => {
  await Promise.allSettled(promises);
  return Promise.all(promises);
};

const assertRoom = (folder: string, bytes: number): void => {
  const shortage = findShortage(folder, bytes);
  if (shortage === undefined) return;
  throw new NoRoomToTake(
    `The disk of ${folder} has ${shortage.left} left, and the next generation needs ${shortage.needed}: make room.`,
  );
};

const writeLarge = async (file: string, { source, folder, before }: TakeOptions): Promise<LargeDocument[]> => {
  if (!isOwnCatalog(file)) {
    throw new SourceError(
      'of another version',
      `The catalog of ${source.base} is of another version of Debdex: run the version here that publishes there.`,
    );
  }
  const known = new Map(before?.note.large.map((one) => [keyOf(one), one]));
  using database = CatalogFile.openForeign(file);
  try {
    const taken = new TakenCatalog(database);
    assertSame(taken);
    const placing: Promise<LargeDocument>[] = [];
    for (const one of taken.large()) {
      const there = known.get(keyOf(one));
      placing.push(there === undefined ? writeOne(taken, one, folder) : Promise.resolve(there));
    }
    return await allEnded(placing);
  } catch (error) {
    if (isTooLong(error)) {
      throw new SourceError(
        'damaged',
        `The catalog of ${source.base} has a text that is longer than any Debdex writes: it was not taken.`,
        { cause: error },
      );
    }
    if (!(error instanceof NotOfCatalog)) throw error;
    throw new SourceError('of another version', `${error.message}.`, { cause: error });
  }
};

type Listed = Pick<LargeDocument, 'path' | 'digest' | 'date'>;
const keyOf = ({ path, digest, date }: Listed): string => `${path}\n${digest}\n${date}`;

/** Writes a document. Resolves when it is on disk under its name. */
const writeOne = async (taken: TakenCatalog, one: Listed, folder: TakenFolder): Promise<LargeDocument> => {
  const temporary = folder.temporary();
  const digest = taken.write(one, temporary);
  await folder.place(temporary, folder.document(digest));
  return { ...one, file: describeFile(folder.document(digest), digest) };
};

/** Makes some documents from the catalog, and checks that they are as published. Throws NotOfCatalog. */
const assertSame = (taken: TakenCatalog): void => {
  const { documents } = taken;
  for (const path of documents.reading.everyNth(Math.max(1, Math.floor(documents.reading.count / samples)))) {
    if ((documents.reading.entry(path)?.size ?? 0) <= largestComposed) taken.read(path);
  }
};

import { createHash, hash } from 'node:crypto';
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, zstdCompressSync } from 'node:zlib';
import type { FileDigest } from '../catalog/pieces.ts';
import {
  type ChangeList,
  catalogFolder,
  changesFolder,
  differencesEnding,
  type Generation,
  generationPath,
  generationSchema,
  inventoryFolder,
  keptCatalogs,
  keptChangeLists,
  signaturesFolder,
} from '../contract/generation.ts';
import { writeFramedCopy } from './framed-copy.ts';
import { comparePaths, digestFile, type InventorySummary, readInventory, writeInventory } from './inventory.ts';
import type { OutputFolder } from './output-folder.ts';
import { forgetPendingChanges } from './package-changes.ts';
import { areWorthwhile, isNamed, listDifferences, readNamed } from './published-inventory.ts';
import { type Signer, verifySignature } from './signature.ts';

/** Files that stand as the generation in force tells of them, and belong to the one after it too. */
export interface StandingFiles {
  readonly count: number;
  has(path: string): boolean;
}

/** What a generation is made of. */
export interface GenerationInput {
  readonly output: OutputFolder;
  /** The state folder, which keeps the inventory of the generation in force. */
  readonly state: string;
  readonly now: Date;
  /** The catalog in force: its file, and what tells that from others. */
  readonly catalog: FileDigest & { readonly file: string };
  /** The paths of all published files, those that tell of generations left out, in any order. */
  readonly paths: Iterable<string>;
  /** Files that are not among these, nor looked at; only where `isInventoryKnown`. */
  readonly standing?: StandingFiles | undefined;
  /** Whether a file of the generation in force that is not among these, and still stands, belongs to this one too. */
  readonly isCarried?: (path: string) => boolean;
  /** Whether a file was written since the generation in force; undefined where that is not known of any. */
  readonly isTouched: ((path: string) => boolean) | undefined;
  readonly packages: ChangeList['packages'];
  /** The catalog as rows, where it is published so: its list, which is among `paths`, as are the portions. */
  readonly portions?: Generation['portions'];
  readonly signer?: Signer | undefined;
}

const inventoryPath = (state: string): string => path.join(state, 'publication', 'inventory.txt');

const readText = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
};

/** The generation in force in an output folder; undefined where there is none, or it cannot be read. */
export const readGeneration = (output: OutputFolder): Generation | undefined => {
  try {
    const text = readText(output.resolve(generationPath.current)) ?? '';
    return generationSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
};

/** The greatest number that any generation had of which something is left. */
const greatestNumber = (output: OutputFolder): number => {
  const folder = output.resolve(changesFolder);
  if (!existsSync(folder)) return 0;
  return Math.max(0, ...readdirSync(folder).map((name) => Number(/^(\d+)\.json$/.exec(name)?.[1] ?? 0)));
};

/** The inventory of this generation, wherever a killed build left it; undefined where it is lost. */
const findInventory = (state: string, { documents }: Generation): string | undefined =>
  [inventoryPath(state), `${inventoryPath(state)}.next`].find(
    (file) => existsSync(file) && digestFile(file) === documents.digest,
  );

/** Whether it is known which files the generation in force is made of. */
export const isInventoryKnown = (output: OutputFolder, state: string): boolean => {
  const before = readGeneration(output);
  return before !== undefined && findInventory(state, before) !== undefined;
};

// Half the time of the usual level and pieces, for a twentieth more bytes.
const level = 2;
const pieceBytes = 2 ** 20;

/** Has a file written that is named after its content, unless it stands there already; returns its size. */
const publishNamed = async (output: OutputFolder, target: string, write: () => Promise<void>): Promise<number> => {
  // It is one of the newest again: `removeOld` goes by the time.
  if (existsSync(output.resolve(target))) utimesSync(output.resolve(target), new Date(), new Date());
  else await write();
  return statSync(output.resolve(target)).size;
};

const writeCompressed = async (output: OutputFolder, file: string, target: string): Promise<void> => {
  const temporary = output.temporary();
  await pipeline(
    createReadStream(file, { highWaterMark: pieceBytes }),
    createZstdCompress({ chunkSize: pieceBytes, params: { [constants.ZSTD_c_compressionLevel]: level } }),
    createWriteStream(temporary, { highWaterMark: pieceBytes }),
  );
  output.place(temporary, target);
  output.note(target);
};

const readBytes = (file: string): Uint8Array | undefined => (existsSync(file) ? readFileSync(file) : undefined);

/** An inventory as it was published under this name; undefined where it is lost. */
const readPublished = (output: OutputFolder, file: string): string | undefined =>
  readNamed(readBytes(output.resolve(file)), file);

/** Whether it stands as it was published. That of a million files is longer than anything else that a build reads. */
const isPublished = (output: OutputFolder, file: string): boolean => isNamed(readBytes(output.resolve(file)), file);

/** Publishes an inventory: what differs from the whole one that the generation before names, or another whole one. */
const publishInventory = async (
  output: OutputFolder,
  file: string,
  { digest }: InventorySummary,
  before: Generation | undefined,
): Promise<Pick<Generation['documents'], 'inventory' | 'differences'>> => {
  const earlier = before && readPublished(output, before.documents.inventory);
  if (before !== undefined && earlier !== undefined) {
    const text = readFileSync(file, 'utf8');
    const differing = listDifferences(earlier, text);
    if (differing === '') return { inventory: before.documents.inventory };
    if (areWorthwhile(differing, text)) {
      const differences = generationPath.differences(hash('sha256', differing));
      output.write(differences, zstdCompressSync(differing));
      return { inventory: before.documents.inventory, differences };
    }
  }
  const inventory = generationPath.inventory(digest);
  // One that was damaged stands in the way of a right one.
  if (!isPublished(output, inventory)) rmSync(output.resolve(inventory), { force: true });
  await publishNamed(output, inventory, () => writeCompressed(output, file, inventory));
  return { inventory };
};

/** Whether the files stand that a generation names: its catalog, and those that tell which files belong to it. */
const standsWhole = (output: OutputFolder, { catalog, documents }: Generation): boolean =>
  existsSync(output.resolve(catalog.path)) &&
  [documents.inventory, documents.differences].every((file) => file === undefined || isPublished(output, file));

/**
 * Whether numbers tell that these files are those of a generation: of the same catalog the same documents are made, none of
 * them was written since, and there are as many.
 */
const isUnchanged = (
  before: Generation,
  paths: ReadonlySet<string>,
  { output, catalog, standing, isTouched }: GenerationInput,
): boolean =>
  before.catalog.sha256 === catalog.sha256 &&
  before.documents.count === paths.size + (standing?.count ?? 0) &&
  isTouched !== undefined &&
  !paths.values().some(isTouched) &&
  standsWhole(output, before);

/** The path of the signature that is named after what it signs: the bytes of a `generation.json`. */
export const signaturePathOf = (text: string | Uint8Array): string =>
  generationPath.signatureOf(createHash('sha256').update(text).digest('hex'));

/**
 * Writes what `placeSignature` is to put in force later, flushed with all else: from then on whoever reads this
 * generation finds a signature that fits, however this ends.
 */
export const writeSignature = (output: OutputFolder, text: string | Uint8Array, jws: string | Uint8Array): void =>
  output.write(signaturePathOf(text), jws);

/** Puts a signature in force, or none; to be called right before, or long after, the generation is. */
export const placeSignature = (output: OutputFolder, jws: string | Uint8Array | undefined): void => {
  if (jws !== undefined) {
    output.write(generationPath.signature, jws);
    return;
  }
  rmSync(output.resolve(generationPath.signature), { force: true });
  output.prune(signaturesFolder);
};

/** Signs the generation in force where it is not signed by this key, or no longer at all. */
const renewSignature = async (output: OutputFolder, signer: Signer | undefined): Promise<void> => {
  const text = readText(output.resolve(generationPath.current)) ?? '';
  const isRight = async (file: string): Promise<boolean> => {
    const jws = readText(output.resolve(file));
    if (signer === undefined || jws === undefined) return signer === undefined && jws === undefined;
    return verifySignature(jws, Buffer.from(text), signer.publicKey);
  };
  if ((await isRight(generationPath.signature)) && (await isRight(signaturePathOf(text)))) return;
  const jws = await signer?.sign(Buffer.from(text));
  if (jws !== undefined) writeSignature(output, text, jws);
  placeSignature(output, jws);
  await output.flush();
};

/**
 * Signs the generation in force anew where a publishing was killed between its signature and itself, so that nobody has
 * to wait for the next one; to be called at the start of a build. Nothing is signed that was not signed before.
 */
export const mendSignature = async (output: OutputFolder, signer: Signer | undefined): Promise<void> => {
  if (signer === undefined || readGeneration(output) === undefined) return;
  const isSigned = [generationPath.signature, signaturesFolder].some((file) => existsSync(output.resolve(file)));
  if (isSigned) await renewSignature(output, signer);
};

/** A disk of another machine may have another clock, by so many milliseconds. */
const clockTolerance = 60_000;

/** Keeps this file, if any, and the newest of the others in a folder of which the names end so, or not. */
const keepNewest = (
  output: OutputFolder,
  folder: string,
  current: string | undefined,
  isOfKind: (name: string) => boolean = () => true,
): void => {
  if (!existsSync(output.resolve(folder))) return;
  const soon = Date.now() + clockTolerance;
  const others = readdirSync(output.resolve(folder))
    .filter(isOfKind)
    .map((name) => `${folder}/${name}`)
    .filter((name) => name !== current)
    .map((name) => ({ name, at: statSync(output.resolve(name)).mtimeMs }))
    // What is of a time to come was written before the clock was set back.
    .sort((one, other) => Number(one.at > soon) - Number(other.at > soon) || other.at - one.at);
  for (const { name } of others.slice(keptCatalogs - 1)) rmSync(output.resolve(name));
};

/** Removes what tells of generations that are long past; the one that is given is in force. */
export const removeOld = (output: OutputFolder, { number, catalog, documents }: Generation): void => {
  keepNewest(output, catalogFolder, catalog.path);
  // A whole inventory is written after those that earlier generations name, so that the last three have theirs.
  const isDifferences = (name: string) => name.endsWith(differencesEnding);
  keepNewest(output, inventoryFolder, documents.inventory, (name) => !isDifferences(name));
  keepNewest(output, inventoryFolder, documents.differences, isDifferences);
  keepNewest(output, signaturesFolder, signaturePathOf(readText(output.resolve(generationPath.current)) ?? ''));
  const lists = output.resolve(changesFolder);
  for (const name of existsSync(lists) ? readdirSync(lists) : []) {
    const old = Number.parseInt(name, 10) <= number - keptChangeLists;
    if (old) rmSync(output.resolve(`${changesFolder}/${name}`));
  }
};

/**
 * Publishes what stands in the output folder as a generation, unless it is the one in force; to be called when all of
 * it stands, and before anything that is gone is removed. Returns the generation in force then, and whether it is new.
 *
 * Whenever this ends, `generation.json` tells of the generation before or of this one, and what it names stands. Where
 * what was published before is not known any more, `previous` is null: whoever follows takes all of it anew.
 */
export const publishGeneration = async (input: GenerationInput): ReturnType<typeof publish> => {
  try {
    return await publish(input);
  } finally {
    input.output.sweep();
  }
};

const publish = async (
  input: GenerationInput,
): Promise<{ readonly generation: Generation; readonly isNew: boolean; readonly changes?: InventorySummary }> => {
  const { output, state, catalog, standing, signer } = input;
  const before = readGeneration(output);
  const inventory = inventoryPath(state);
  mkdirSync(path.dirname(inventory), { recursive: true });
  const known = before && findInventory(state, before);
  if (known !== undefined && known !== inventory) renameSync(known, inventory);
  const paths = new Set(input.paths);
  if (before !== undefined && known !== undefined && isUnchanged(before, paths, input)) {
    await renewSignature(output, signer);
    return { generation: before, isNew: false };
  }
  let found = 0;
  const summary = writeInventory(`${inventory}.next`, {
    paths: [...paths].sort(comparePaths),
    before: known === undefined ? [] : readInventory(inventory),
    isCarried: (file) => {
      if (standing?.has(file) === true) {
        found++;
        return true;
      }
      return input.isCarried?.(file) === true && existsSync(output.resolve(file));
    },
    isTouched: input.isTouched ?? (() => true),
    digestOf: (file) => digestFile(output.resolve(file)),
  });
  if (found !== (standing?.count ?? 0)) {
    throw new Error(
      'The inventory in the state folder does not tell of all that stands. Build again: nothing is taken from it then.',
    );
  }
  const hasSame = before?.documents.digest === summary.digest && before.catalog.sha256 === catalog.sha256;
  if (before !== undefined && hasSame && standsWhole(output, before)) {
    renameSync(`${inventory}.next`, inventory);
    await renewSignature(output, signer);
    return { generation: before, isNew: false };
  }
  const number = (before?.number ?? greatestNumber(output)) + 1;
  const date = input.now.toISOString();
  const previous = known === undefined ? null : (before?.number ?? null);
  const target = generationPath.catalog(catalog.sha256);
  const compressed = await publishNamed(output, target, () => writeFramedCopy(output, state, { ...catalog, target }));
  const listed = await publishInventory(output, `${inventory}.next`, summary, before);
  const documents = { written: [...summary.written], removed: [...summary.removed] };
  const changes: ChangeList = { format: 1, number, date, previous, documents, packages: input.packages };
  output.write(generationPath.changes(number), JSON.stringify(changes));
  const generation: Generation = {
    format: 1,
    number,
    date,
    previous,
    catalog: {
      path: target,
      sha256: catalog.sha256,
      size: statSync(catalog.file).size,
      compressed_size: compressed,
    },
    documents: { count: summary.count, digest: summary.digest, ...listed },
    changes: generationPath.changes(number),
    ...(input.portions === undefined ? {} : { portions: input.portions }),
  };
  const text = JSON.stringify(generation);
  const jws = await signer?.sign(Buffer.from(text));
  if (jws !== undefined) writeSignature(output, text, jws);
  await output.flush();
  placeSignature(output, jws);
  output.write(generationPath.current, text);
  await output.flush();
  renameSync(`${inventory}.next`, inventory);
  forgetPendingChanges(state);
  removeOld(output, generation);
  return { generation, isNew: true, changes: summary };
};

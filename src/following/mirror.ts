import { createHash } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createZstdDecompress } from 'node:zlib';
import { type ChangeList, type Generation, generationPath, inventoryFolder } from '../contract/generation.ts';
import { apiRoot } from '../contract/paths.ts';
import { eachAtOnce } from '../publication/each-at-once.ts';
import { isEntrance } from '../publication/entrances.ts';
import { readContent } from '../publication/folder-content.ts';
import {
  placeSignature,
  readGeneration,
  removeOld,
  signaturePathOf,
  writeSignature,
} from '../publication/generation.ts';
import { comparePaths, digestFile, formatEntry, parseInventory } from '../publication/inventory.ts';
import { OutputFolder } from '../publication/output-folder.ts';
import { isOutputOfBuilds } from '../publication/owner.ts';
import {
  composeInventory,
  composeSafeInventory,
  type Inventory,
  isNamed,
  isSafePath,
  readNamed,
} from '../publication/published-inventory.ts';
import { isUnderWay, markUnderWay, unmarkUnderWay } from './mirror-mark.ts';
import {
  assertNotOlder,
  cutAtFrames,
  type FoundGeneration,
  type PublicationSource,
  SourceError,
  unaskedNotModified,
} from './source.ts';

/** What to mirror, and where to. */
export interface MirrorOptions {
  readonly source: PublicationSource;
  /** The folder that holds the mirror, which is a publication itself. */
  readonly folder: string;
  /** How many files are taken at once. */
  readonly concurrency?: number;
  readonly onProgress?: (done: number, total: number) => void;
  /** Resolves after so many milliseconds; for tests, which need not wait. */
  readonly pause?: (milliseconds: number) => Promise<unknown>;
}

/** What a mirror took. */
export interface MirrorSummary {
  readonly generation: Generation;
  /** What led from the generation that was there to this one; `none` where it was there. */
  readonly by: 'none' | 'changes' | 'inventory';
  readonly fetched: number;
  readonly removed: number;
}

/** The publication went on while it was read: what was read is of more than one generation. */
class Superseded extends Error {}

interface Plan {
  readonly by: 'changes' | 'inventory';
  /** What to take, and the SHA-256 that each must have, where that is known. */
  readonly wanted: ReadonlyMap<string, string | undefined>;
  readonly removed: readonly string[];
  /** The inventory without what is to be taken. */
  readonly kept: Inventory;
  readonly lists: readonly ChangeList[];
  /** Whether nobody reads the folder yet, so that files may appear in any order. */
  readonly isFirst: boolean;
}

const usualConcurrency = 16;
const mostTries = 10;
// Change lists do not say which bytes a file has, so all that they name is taken before one knows. After so many tries, which
// any cache has caught up by, the inventory says it, and the first file that is another one ends the try.
const triesByChanges = 5;

// A server, and any cache before it, may answer what it holds for a moment after a new generation is in force: our own
// for a quarter of a second. Together the pauses are some nine seconds.
const firstPauseMs = 50;
const longestPauseMs = 2_000;

const assertSafe = (file: string): void => {
  if (!isSafePath(file))
    throw new SourceError(
      'damaged',
      `The publication names a file ${JSON.stringify(file)}, which no Debdex writes: nothing was taken.`,
    );
};

/** A folder that holds what no mirror put there, as a sentence that says what to do. */
export class FolderTaken extends Error {
  override readonly name = 'FolderTaken';
}

// A mirror removes what its publication does not name, and a build what it does not know.
const assertOurs = (folder: string, output: OutputFolder): void => {
  if (isOutputOfBuilds(output.root))
    throw new FolderTaken(
      `${folder} is the output folder of builds, which a mirror would put into disorder: name another folder.`,
    );
  // One that lost the name of its generation goes on with the files that it has.
  if (isUnderWay(output) || existsSync(output.resolve(apiRoot)) || readContent(output.root).length === 0) return;
  throw new FolderTaken(`${folder} holds something, and no publication: nothing was taken. Name an empty folder.`);
};

/**
 * Brings a folder to the generation in force of a publication: by the change lists where they lead there from what the
 * folder holds, else by the inventory. Files appear whole, those that others name before those, `generation.json`
 * last; then what is gone is removed. A mirror that was interrupted goes on with what it has. Where what is read is not
 * of one generation it is read again, after growing pauses.
 *
 * @throws SourceError where the publication cannot be taken, FolderTaken where the folder holds something else; NetworkError
 */
export const mirror = async (options: MirrorOptions): Promise<MirrorSummary> => {
  const { pause = sleep } = options;
  const output = new OutputFolder(options.folder);
  assertOurs(options.folder, output);
  mkdirSync(output.root, { recursive: true });
  for (let tries = 1; ; tries++) {
    output.sweep();
    const found = await options.source.readGeneration();
    if (found === undefined) throw unaskedNotModified(options.source.base);
    try {
      return await bringTo(found, output, { ...options, byChanges: tries <= triesByChanges });
    } catch (error) {
      if (!(error instanceof Superseded)) throw error;
      if (tries === mostTries)
        throw new SourceError(
          'changing',
          `${options.source.base} holds other files than it says, or changes faster than it can be read (${mostTries} tries; at last: ${error.message}). Try again later.`,
        );
    } finally {
      output.sweep();
    }
    await pause(Math.min(longestPauseMs, firstPauseMs * 2 ** (tries - 1)));
  }
};

const bringTo = async (
  found: FoundGeneration,
  output: OutputFolder,
  options: MirrorOptions & { readonly byChanges: boolean },
): Promise<MirrorSummary> => {
  const { generation } = found;
  const local = readGeneration(output);
  const isSame = local !== undefined && readFileSync(output.resolve(generationPath.current)).equals(found.text);
  const wasKilled = isUnderWay(output);
  if (isSame && !wasKilled) {
    await placeSignatures(found, output);
    return { generation, by: 'none', fetched: 0, removed: 0 };
  }
  if (!isSame) assertNotOlder(generation, local, { base: options.source.base, folder: options.folder });
  const held = local && !wasKilled ? readHeld(output, local) : undefined;
  const account = await takeInventory(generation, output, options);
  const plan =
    (held && options.byChanges ? await planByChanges(found, local, held, options) : undefined) ??
    (await planByInventory(found, output, held, account.inventory, options));
  if (plan.isFirst) await markUnderWay(output);
  // Before the first file of a generation stands where others of it are missing. A mirror that is killed then, or finds
  // another generation, knows by it what may stand there that no generation after it names.
  if (plan.isFirst) placeWhole(account.files, output);
  const taken = await takeAll(plan, output, options);
  assertComplete(plan, taken, generation);
  const { catalog } = generation;
  const takenCatalog = await takeWhole(catalog.path, output, options);
  if (takenCatalog !== undefined && (await digestPlain(takenCatalog, catalog.size)) !== catalog.sha256) {
    throw new Superseded(`${catalog.path} is cut short or another`);
  }
  if (!plan.isFirst) {
    await markUnderWay(output);
    placeWhole(account.files, output);
  }
  const fresh = [...taken.keys()].filter((file) => output.lookUp(file) === undefined);
  const changed = [...taken.keys()].filter((file) => output.lookUp(file) !== undefined);
  changed.sort((one, other) => Number(isEntrance(one)) - Number(isEntrance(other)));
  if (!plan.isFirst) for (const file of [...fresh, ...changed]) output.place(taken.get(file)?.temporary ?? '', file);
  if (takenCatalog !== undefined) output.place(takenCatalog, catalog.path);
  await placeAccount(found, plan, output);
  const gone = listGone(plan, output);
  for (const file of gone) removeFile(file, output);
  removeOld(output, generation);
  unmarkUnderWay(output);
  return { generation, by: plan.by, fetched: taken.size, removed: gone.length };
};

/** The files that stand and do not belong to the generation: of all those that were ever wanted here, and are known still. */
const listGone = ({ removed, kept, wanted }: Plan, output: OutputFolder): string[] => {
  const known = new Set(removed);
  const inventories = existsSync(output.resolve(inventoryFolder)) ? readdirSync(output.resolve(inventoryFolder)) : [];
  for (const name of inventories) {
    const text = readNamed(readFileSync(output.resolve(`${inventoryFolder}/${name}`)), name);
    for (const listed of parseInventory(text ?? '').keys()) if (isSafePath(listed)) known.add(listed);
  }
  return [...known].filter((file) => !kept.has(file) && !wanted.has(file) && existsSync(output.resolve(file)));
};

const removeFile = (file: string, output: OutputFolder): void => {
  rmSync(output.resolve(file), { force: true });
  for (let folder = path.posix.dirname(file); folder !== '.'; folder = path.posix.dirname(folder)) {
    if (!output.removeEmpty(folder)) return;
  }
};

const readStanding = (file: string | undefined, output: OutputFolder): Buffer | undefined =>
  file !== undefined && isSafePath(file) && existsSync(output.resolve(file))
    ? readFileSync(output.resolve(file))
    : undefined;

/** What the folder holds, as the inventory of its generation says; undefined where that is lost. */
const readHeld = (output: OutputFolder, { documents }: Generation): Inventory | undefined =>
  composeSafeInventory(documents, {
    whole: readStanding(documents.inventory, output),
    differences: readStanding(documents.differences, output),
  });

/** The inventory of a generation, and where the files of it that do not stand yet wait for their names. */
interface Account {
  readonly inventory: Inventory;
  readonly files: ReadonlyMap<string, string>;
}

const takeInventory = async (
  { documents }: Generation,
  output: OutputFolder,
  options: MirrorOptions,
): Promise<Account> => {
  const files = new Map<string, string>();
  const take = async (file: string | undefined): Promise<Buffer | undefined> => {
    if (file === undefined) return undefined;
    assertSafe(file);
    const standing = readStanding(file, output);
    if (isNamed(standing, file)) return standing;
    const temporary = output.temporary();
    if ((await options.source.take(file, temporary)) === undefined) throw new Superseded(`${file} is missing`);
    files.set(file, temporary);
    return readFileSync(temporary);
  };
  const whole = await take(documents.inventory);
  const inventory = composeInventory(documents, { whole, differences: await take(documents.differences) });
  if (inventory === undefined) throw new Superseded(`${documents.inventory} is cut short or another`);
  for (const file of inventory.keys()) assertSafe(file);
  return { inventory, files };
};

const placeWhole = (files: Account['files'], output: OutputFolder): void => {
  for (const [file, temporary] of files) output.place(temporary, file);
};

const planByChanges = async (
  { generation }: FoundGeneration,
  local: Generation | undefined,
  held: Inventory,
  { source }: MirrorOptions,
): Promise<Plan | undefined> => {
  if (local === undefined || generation.number <= local.number) return undefined;
  const lists: ChangeList[] = [];
  for (let number = local.number + 1; number <= generation.number; number++) {
    const list = await source.readChanges(number);
    if (list === undefined || list.previous !== number - 1) return undefined;
    lists.push(list);
  }
  const wanted = new Map<string, string | undefined>();
  const removed = new Set<string>();
  for (const { documents } of lists) {
    for (const file of documents.written) {
      wanted.set(file, undefined);
      removed.delete(file);
    }
    for (const file of documents.removed) {
      wanted.delete(file);
      removed.add(file);
    }
  }
  for (const file of [...wanted.keys(), ...removed]) assertSafe(file);
  const kept = new Map(held);
  for (const file of [...wanted.keys(), ...removed]) kept.delete(file);
  return { by: 'changes', wanted, removed: [...removed], kept, lists, isFirst: false };
};

const planByInventory = async (
  { generation }: FoundGeneration,
  output: OutputFolder,
  held: Inventory | undefined,
  all: Inventory,
  { source }: MirrorOptions,
): Promise<Plan> => {
  const wanted = new Map<string, string>();
  const kept = new Map<string, string>();
  for (const [file, sha256] of all) {
    // What an interrupted mirror has taken already, or a copy made by other means, is not taken again.
    const known = held?.get(file) ?? (existsSync(output.resolve(file)) ? digestFile(output.resolve(file)) : undefined);
    if (known === sha256) kept.set(file, sha256);
    else wanted.set(file, sha256);
  }
  const removed = [...(held?.keys() ?? [])].filter((file) => !all.has(file));
  const list = await source.readChanges(generation.number);
  return {
    by: 'inventory',
    wanted,
    removed,
    kept,
    lists: list === undefined ? [] : [list],
    // Whoever finds that in force reads on, though nobody knows any more what belongs to it.
    isFirst: !existsSync(output.resolve(generationPath.current)),
  };
};

interface Taken {
  readonly temporary: string;
  readonly sha256: string;
}

const takeAll = async (
  { wanted, isFirst }: Plan,
  output: OutputFolder,
  { source, concurrency = usualConcurrency, onProgress }: MirrorOptions,
): Promise<Map<string, Taken>> => {
  const taken = new Map<string, Taken>();
  await eachAtOnce(wanted, { concurrency, count: wanted.size }, async ([file, expected]) => {
    const temporary = output.temporary();
    const sha256 = await source.take(file, temporary);
    if (sha256 === undefined) throw new Superseded(`${file} is not there`);
    if (expected !== undefined && sha256 !== expected) throw new Superseded(`${file} has other bytes`);
    taken.set(file, { temporary, sha256 });
    // An interrupted first copy goes on with what it has.
    if (isFirst) output.place(temporary, file);
    onProgress?.(taken.size, wanted.size);
  });
  return taken;
};

/** Holds what there is against what the generation says of all its files together. */
const assertComplete = ({ kept }: Plan, taken: ReadonlyMap<string, Taken>, { documents }: Generation): void => {
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
          if (bytes > mostBytes) throw new Superseded('it has more bytes than were announced');
        }
      },
    );
    return digest.digest('hex');
  } catch {
    return undefined;
  }
};

/** Takes a file as it is, unless it is there; returns where it waits for its name. */
const takeWhole = async (
  file: string,
  output: OutputFolder,
  { source }: MirrorOptions,
): Promise<string | undefined> => {
  assertSafe(file);
  if (existsSync(output.resolve(file))) return undefined;
  const temporary = output.temporary();
  if ((await source.take(file, temporary)) === undefined) throw new Superseded(`${file} is missing`);
  return temporary;
};

/** Writes what tells of the generation, `generation.json` last. */
const placeAccount = async ({ text, jws }: FoundGeneration, { lists }: Plan, output: OutputFolder): Promise<void> => {
  for (const list of lists) output.write(generationPath.changes(list.number), JSON.stringify(list));
  if (jws !== undefined) writeSignature(output, text, jws);
  await output.flush();
  placeSignature(output, jws);
  output.write(generationPath.current, text);
  await output.flush();
};

/** Brings the signature of the generation in force up to date: it may be by another key now, or none. */
const placeSignatures = async ({ text, jws }: FoundGeneration, output: OutputFolder): Promise<void> => {
  const isThere = (file: string): boolean => {
    const present = output.lookUp(file)?.isFile() ? readFileSync(output.resolve(file)) : undefined;
    return jws === undefined ? present === undefined : present?.equals(jws) === true;
  };
  if (isThere(generationPath.signature) && isThere(signaturePathOf(text))) return;
  if (jws !== undefined) writeSignature(output, text, jws);
  placeSignature(output, jws);
  await output.flush();
};

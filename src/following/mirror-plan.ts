import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import {
  type ChangeList,
  type Generation,
  generationPath,
  inventoryFolder,
  keptChangeLists,
} from '../contract/generation.ts';
import { digestFile, parseInventory } from '../publication/inventory.ts';
import type { OutputFolder } from '../publication/output-folder.ts';
import { type Inventory, readNamed } from '../publication/published-inventory.ts';
import { readText } from '../publication/read-text.ts';
import { isSafePath } from '../publication/safe-paths.ts';
import { assertSafe } from './mirror-refusals.ts';
import { changesBytes, type PublicationSource } from './source.ts';

/** A publication of which only the change lists are read. */
export type ListSource = Pick<PublicationSource, 'readChanges'>;

/** How to get from the content of a folder to a generation. */
export interface Plan {
  readonly by: 'changes' | 'inventory';
  /** The files to take, with the SHA-256 that each must have. */
  readonly wanted: Inventory;
  readonly removed: readonly string[];
  /** The inventory without the files to take. */
  readonly kept: Inventory;
  readonly lists: readonly ChangeList[];
  /** Whether nobody reads the folder yet, so that files may appear in any order. */
  readonly isFirst: boolean;
}

/**
 * A plan from the change lists, if they lead from the present generation to exactly these files (`all`); undefined if
 * they do not. Nobody signs a list, so none is trusted beyond that: it cannot cause a file to be taken or removed
 * unless the generation agrees.
 */
export const planByChanges = async (
  generation: Generation,
  local: Generation | undefined,
  { held, all }: { readonly held: Inventory; readonly all: Inventory },
  source: ListSource,
): Promise<Plan | undefined> => {
  // A publication keeps no more change lists, and a stranger may have made up the number.
  const steps = generation.number - (local?.number ?? generation.number);
  if (local === undefined || steps < 1 || steps > keptChangeLists) return undefined;
  const lists: ChangeList[] = [];
  // All of them are in memory at once, so together they must not be longer than one may be.
  let left = changesBytes;
  for (let number = local.number + 1; number <= generation.number; number++) {
    const found = await source.readChanges(number, left);
    if (found?.list.previous !== number - 1) return undefined;
    left -= found.bytes;
    lists.push(found.list);
  }
  const [written, removed] = [new Set<string>(), new Set<string>()];
  for (const { documents } of lists) {
    for (const file of documents.written) {
      written.add(file);
      removed.delete(file);
    }
    for (const file of documents.removed) {
      written.delete(file);
      removed.add(file);
    }
  }
  for (const file of [...written, ...removed]) assertSafe(file);
  const kept = new Map(held);
  for (const file of [...written, ...removed]) kept.delete(file);
  const wanted = new Map([...written].map((file) => [file, all.get(file) ?? '']));
  const leadsThere =
    kept.size + wanted.size === all.size &&
    [...all].every(([file, sha256]) => (wanted.get(file) ?? kept.get(file)) === sha256);
  if (!leadsThere) return undefined;
  return { by: 'changes', wanted, removed: [...removed].filter((file) => held.has(file)), kept, lists, isFirst: false };
};

/** A plan from the inventory of all files, compared with that of the folder, or with its files. */
export const planByInventory = async (
  generation: Generation,
  output: OutputFolder,
  { held, all }: { readonly held: Inventory | undefined; readonly all: Inventory },
  source: ListSource,
): Promise<Plan> => {
  const wanted = new Map<string, string>();
  const kept = new Map<string, string>();
  for (const [file, sha256] of all) {
    // Files from an interrupted mirror, or from a copy made by other means, are not taken again.
    const known = held?.get(file) ?? (existsSync(output.resolve(file)) ? digestFile(output.resolve(file)) : undefined);
    if (known === sha256) kept.set(file, sha256);
    else wanted.set(file, sha256);
  }
  const removed = [...(held?.keys() ?? [])].filter((file) => !all.has(file));
  const found = await source.readChanges(generation.number);
  return {
    by: 'inventory',
    wanted,
    removed,
    kept,
    lists: found === undefined ? [] : [found.list],
    // If a generation is in force there, it has readers, even if it is unknown which files belong to it.
    isFirst: !existsSync(output.resolve(generationPath.current)),
  };
};

/**
 * Whether the change lists in the folder belong to another history than that of the publication, because that was
 * restored from a backup and reused numbers. If it no longer has the list of the folder's generation, that is unknown,
 * but then no list continues from there either.
 */
export const hasOtherHistory = async (
  { number }: Generation,
  next: Generation,
  output: OutputFolder,
  source: ListSource,
): Promise<boolean> => {
  // Nobody keeps a list that is so old.
  if (next.number - number >= keptChangeLists) return false;
  const ours = readText(output.resolve(generationPath.changes(number)));
  return ours !== undefined && JSON.stringify((await source.readChanges(number))?.list) !== ours;
};

/**
 * Takes the change lists of a publication before that of the generation in force, with one at a time in memory. Returns
 * where they wait for their names.
 */
export const takeEarlierLists = async (
  { number: last }: Generation,
  output: OutputFolder,
  source: ListSource,
): Promise<Map<string, string>> => {
  const taken = new Map<string, string>();
  for (let number = Math.max(1, last - keptChangeLists + 1); number < last; number++) {
    const found = await source.readChanges(number);
    if (found === undefined) continue;
    const temporary = output.temporary();
    writeFileSync(temporary, JSON.stringify(found.list));
    taken.set(generationPath.changes(number), temporary);
  }
  return taken;
};

/**
 * The existing files that do not belong to the generation, among all that were ever wanted here and are still known.
 */
export const listGone = ({ removed, kept, wanted }: Plan, output: OutputFolder): string[] => {
  const known = new Set(removed);
  const inventories = existsSync(output.resolve(inventoryFolder)) ? readdirSync(output.resolve(inventoryFolder)) : [];
  for (const name of inventories) {
    const text = readNamed(readFileSync(output.resolve(`${inventoryFolder}/${name}`)), name);
    for (const listed of parseInventory(text ?? '').keys()) if (isSafePath(listed)) known.add(listed);
  }
  return [...known].filter((file) => !kept.has(file) && !wanted.has(file) && existsSync(output.resolve(file)));
};

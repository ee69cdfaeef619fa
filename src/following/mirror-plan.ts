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

/** What leads from what a folder holds to a generation. */
export interface Plan {
  readonly by: 'changes' | 'inventory';
  /** What to take, and the SHA-256 that each must have. */
  readonly wanted: Inventory;
  readonly removed: readonly string[];
  /** The inventory without what is to be taken. */
  readonly kept: Inventory;
  readonly lists: readonly ChangeList[];
  /** Whether nobody reads the folder yet, so that files may appear in any order. */
  readonly isFirst: boolean;
}

/**
 * By the change lists, where they lead from the generation that is held to just these files (`all`); undefined where they
 * do not. Nobody signs a list, so none is believed beyond that: it has nothing taken, or removed, that the generation does
 * not say.
 */
export const planByChanges = async (
  generation: Generation,
  local: Generation | undefined,
  { held, all }: { readonly held: Inventory; readonly all: Inventory },
  source: PublicationSource,
): Promise<Plan | undefined> => {
  // A publication keeps no more of them; a number may be one that a stranger made up.
  const steps = generation.number - (local?.number ?? generation.number);
  if (local === undefined || steps < 1 || steps > keptChangeLists) return undefined;
  const lists: ChangeList[] = [];
  // All of them are in memory at once, so together they may be no longer than one.
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

/** By the inventory of all files, held against that of what the folder has, or against its files. */
export const planByInventory = async (
  generation: Generation,
  output: OutputFolder,
  { held, all }: { readonly held: Inventory | undefined; readonly all: Inventory },
  source: PublicationSource,
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
  const found = await source.readChanges(generation.number);
  return {
    by: 'inventory',
    wanted,
    removed,
    kept,
    lists: found === undefined ? [] : [found.list],
    // Whoever finds that in force reads on, though nobody knows any more what belongs to it.
    isFirst: !existsSync(output.resolve(generationPath.current)),
  };
};

/**
 * Whether the change lists in the folder are of another history than that of the publication: it was restored from a backup,
 * and gave numbers anew. Where it does not have the list any more that the folder has of the generation in force here, nobody
 * knows, and nothing leads on from there.
 */
export const hasOtherHistory = async (
  { number }: Generation,
  next: Generation,
  output: OutputFolder,
  source: PublicationSource,
): Promise<boolean> => {
  // What is as old as that is kept by nobody.
  if (next.number - number >= keptChangeLists) return false;
  const ours = readText(output.resolve(generationPath.changes(number)));
  return ours !== undefined && JSON.stringify((await source.readChanges(number))?.list) !== ours;
};

/**
 * Takes the change lists that a publication has besides that of the generation in force, one at a time in memory; returns
 * where they wait for their names.
 */
export const takeEarlierLists = async (
  { number: last }: Generation,
  output: OutputFolder,
  source: PublicationSource,
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

/** The files that stand and do not belong to the generation: of all those that were ever wanted here, and are known still. */
export const listGone = ({ removed, kept, wanted }: Plan, output: OutputFolder): string[] => {
  const known = new Set(removed);
  const inventories = existsSync(output.resolve(inventoryFolder)) ? readdirSync(output.resolve(inventoryFolder)) : [];
  for (const name of inventories) {
    const text = readNamed(readFileSync(output.resolve(`${inventoryFolder}/${name}`)), name);
    for (const listed of parseInventory(text ?? '').keys()) if (isSafePath(listed)) known.add(listed);
  }
  return [...known].filter((file) => !kept.has(file) && !wanted.has(file) && existsSync(output.resolve(file)));
};

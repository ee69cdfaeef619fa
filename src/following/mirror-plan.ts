import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { type ChangeList, type Generation, generationPath, inventoryFolder } from '../contract/generation.ts';
import { digestFile, parseInventory } from '../publication/inventory.ts';
import type { OutputFolder } from '../publication/output-folder.ts';
import { type Inventory, isSafePath, readNamed } from '../publication/published-inventory.ts';
import { assertSafe } from './mirror-refusals.ts';
import type { PublicationSource } from './source.ts';

/** What leads from what a folder holds to a generation. */
export interface Plan {
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

/** By the change lists, where they lead from the generation that is held; undefined where they do not. */
export const planByChanges = async (
  generation: Generation,
  local: Generation | undefined,
  held: Inventory,
  source: PublicationSource,
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

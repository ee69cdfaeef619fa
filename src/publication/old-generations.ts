import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import {
  catalogFolder,
  changesFolder,
  differencesEnding,
  type Generation,
  inventoryFolder,
  keptCatalogs,
  keptChangeLists,
  signaturesFolder,
} from '../contract/generation.ts';
import { newestFirst } from '../disk/newest-first.ts';
import { readGenerationText } from './generation-in-force.ts';
import { signaturePathOf } from './generation-signature.ts';
import type { OutputFolder } from './output-folder.ts';

/** Keeps this file, if given, and the newest others in a folder, among the names that `isOfKind` accepts. */
const keepNewest = (
  output: OutputFolder,
  folder: string,
  current: string | undefined,
  isOfKind: (name: string) => boolean = () => true,
): void => {
  if (!existsSync(output.resolve(folder))) return;
  const others = readdirSync(output.resolve(folder))
    .filter(isOfKind)
    .map((name) => `${folder}/${name}`)
    .filter((name) => name !== current)
    .map((name) => ({ name, at: statSync(output.resolve(name)).mtimeMs }));
  for (const { name } of newestFirst(others, ({ at }) => at).slice(keptCatalogs - 1)) rmSync(output.resolve(name));
};

/**
 * Removes the files about generations that are long past, or belong to another history than the given generation, which
 * is in force, because an older copy was restored over them.
 */
export const removeOld = (output: OutputFolder, { number, catalog, documents }: Generation): void => {
  keepNewest(output, catalogFolder, catalog.path);
  // A whole inventory is written after the ones that earlier generations name, so the last three generations have
  // theirs.
  const isDifferences = (name: string) => name.endsWith(differencesEnding);
  keepNewest(output, inventoryFolder, documents.inventory, (name) => !isDifferences(name));
  keepNewest(output, inventoryFolder, documents.differences, isDifferences);
  keepNewest(output, signaturesFolder, signaturePathOf(readGenerationText(output)));
  const lists = output.resolve(changesFolder);
  for (const name of existsSync(lists) ? readdirSync(lists) : []) {
    const of = Number.parseInt(name, 10);
    if (of <= number - keptChangeLists || of > number) rmSync(output.resolve(`${changesFolder}/${name}`));
  }
};

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
import { readGenerationText } from './generation-in-force.ts';
import { signaturePathOf } from './generation-signature.ts';
import type { OutputFolder } from './output-folder.ts';

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

/**
 * Removes what tells of generations that are long past, or of another history than that of the one that is given, which is in
 * force: where an older copy was brought back over them.
 */
export const removeOld = (output: OutputFolder, { number, catalog, documents }: Generation): void => {
  keepNewest(output, catalogFolder, catalog.path);
  // A whole inventory is written after those that earlier generations name, so that the last three have theirs.
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

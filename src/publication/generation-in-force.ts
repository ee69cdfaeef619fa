import { existsSync } from 'node:fs';
import path from 'node:path';
import { type Generation, generationPath, generationSchema } from '../contract/generation.ts';
import { digestFile } from './inventory.ts';
import type { OutputFolder } from './output-folder.ts';
import { readText } from './read-text.ts';

/** The inventory of the generation in force, as the state folder keeps it. */
export const inventoryPath = (state: string): string => path.join(state, 'publication', 'inventory.txt');

/** The text of `generation.json`; empty where there is none. */
export const readGenerationText = (output: OutputFolder): string =>
  readText(output.resolve(generationPath.current)) ?? '';

/** The generation in force in an output folder; undefined where there is none, or it cannot be read. */
export const readGeneration = (output: OutputFolder): Generation | undefined => {
  try {
    return generationSchema.parse(JSON.parse(readGenerationText(output)));
  } catch {
    return undefined;
  }
};

/** The inventory of this generation, wherever a killed build left it; undefined where it is lost. */
export const findInventory = (state: string, { documents }: Generation): string | undefined =>
  [inventoryPath(state), `${inventoryPath(state)}.next`].find(
    (file) => existsSync(file) && digestFile(file) === documents.digest,
  );

/** Whether it is known which files the generation in force is made of. */
export const isInventoryKnown = (output: OutputFolder, state: string): boolean => {
  const before = readGeneration(output);
  return before !== undefined && findInventory(state, before) !== undefined;
};

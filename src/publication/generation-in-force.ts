import { existsSync } from 'node:fs';
import path from 'node:path';
import { type Generation, generationPath, generationSchema } from '../contract/generation.ts';
import { writeWholeFile } from '../disk/whole-file.ts';
import { digestFile } from './inventory.ts';
import type { OutputFolder } from './output-folder.ts';
import { readText } from './read-text.ts';

/** The inventory of the generation in force, as kept in the state folder. */
export const inventoryPath = (state: string): string => path.join(state, 'publication', 'inventory.txt');

/** The text of `generation.json`; empty if there is none. */
export const readGenerationText = (output: OutputFolder): string =>
  readText(output.resolve(generationPath.current)) ?? '';

const parseGeneration = (text: string): Generation | undefined => {
  try {
    return generationSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
};

/** The generation in force in an output folder; undefined if there is none, or it cannot be read. */
export const readGeneration = (output: OutputFolder): Generation | undefined =>
  parseGeneration(readGenerationText(output));

const keptPath = (state: string): string => path.join(state, 'publication', 'generation.json');

/** Records in the state folder which generation was last published from it. */
export const keepGeneration = (state: string, text: string): void => writeWholeFile(keptPath(state), text);

/** The generation that was last published from a state folder; undefined if it is not recorded. */
const readKept = (state: string): Generation | undefined => parseGeneration(readText(keptPath(state)) ?? '');

/**
 * The greatest generation number in a state folder; 0 if there is none. The output folder may have an older generation,
 * if it was restored from a copy.
 */
export const readKeptNumber = (state: string): number => readKept(state)?.number ?? 0;

/** The number of the last generation, as far as output and state folder know; 0 where there was none. */
export const readLastNumber = (output: OutputFolder, state: string): number =>
  Math.max(readGeneration(output)?.number ?? 0, readKeptNumber(state));

/**
 * The generation before the next one: the one in force or, if the output folder is lost or replaced, the last one
 * recorded in the state folder. If numbers began again, followers would take them for older ones.
 */
export const readGenerationBefore = (output: OutputFolder, state: string): Generation | undefined =>
  readGeneration(output) ?? readKept(state);

/** The inventory of this generation, wherever a killed build left it; undefined if it is lost. */
export const findInventory = (state: string, { documents }: Generation): string | undefined =>
  [inventoryPath(state), `${inventoryPath(state)}.next`].find(
    (file) => existsSync(file) && digestFile(file) === documents.digest,
  );

/** Whether it is known which files the generation in force consists of. */
export const isInventoryKnown = (output: OutputFolder, state: string): boolean => {
  const before = readGeneration(output);
  return before !== undefined && findInventory(state, before) !== undefined;
};

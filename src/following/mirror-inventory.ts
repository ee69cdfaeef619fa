import { existsSync, readFileSync } from 'node:fs';
import type { Generation } from '../contract/generation.ts';
import type { OutputFolder } from '../publication/output-folder.ts';
import {
  composeInventory,
  composeSafeInventory,
  type Inventory,
  isNamed,
  longestText,
} from '../publication/published-inventory.ts';
import { isSafePath } from '../publication/safe-paths.ts';
import { type Taking, takeWhole } from './mirror-files.ts';
import { assertWritable, Superseded } from './mirror-refusals.ts';

const readStanding = (file: string | undefined, output: OutputFolder): Buffer | undefined =>
  file !== undefined && isSafePath(file) && existsSync(output.resolve(file))
    ? readFileSync(output.resolve(file))
    : undefined;

/** The files in the folder according to the inventory of its generation; undefined if that is lost. */
export const readHeld = (output: OutputFolder, { documents }: Generation): Inventory | undefined =>
  composeSafeInventory(documents, {
    whole: readStanding(documents.inventory, output),
    differences: readStanding(documents.differences, output),
  });

/** The inventory of a generation, and where those of its files that are new wait for their names. */
export interface Account {
  readonly inventory: Inventory;
  readonly files: ReadonlyMap<string, string>;
}

/** Takes the files of an inventory, except those that exist already. */
export const takeInventory = async (
  { documents }: Generation,
  output: OutputFolder,
  taking: Taking,
): Promise<Account> => {
  const files = new Map<string, string>();
  const take = async (file: string | undefined): Promise<Buffer | undefined> => {
    if (file === undefined) return undefined;
    const standing = readStanding(file, output);
    if (isNamed(standing, file)) return standing;
    // All of it is in memory at once.
    const temporary = await takeWhole(file, output, taking, longestText);
    files.set(file, temporary);
    return readFileSync(temporary);
  };
  const whole = await take(documents.inventory);
  const inventory = composeInventory(documents, { whole, differences: await take(documents.differences) });
  if (inventory === undefined) throw new Superseded(`${documents.inventory} is cut short or another`);
  assertWritable([...inventory.keys()]);
  return { inventory, files };
};

/** Gives the files of an inventory their names. */
export const placeInventory = ({ files }: Account, output: OutputFolder): void => {
  for (const [file, temporary] of files) output.placeNoted(temporary, file);
};

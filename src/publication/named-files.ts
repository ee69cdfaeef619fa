import { existsSync, readFileSync, statSync, utimesSync } from 'node:fs';
import type { OutputFolder } from './output-folder.ts';
import { isNamed, readNamed } from './published-inventory.ts';

// Files of the output folder that are named after their content. Each is written once, and any generation may name it.

/** Writes a file that is named after its content, unless it exists already. Returns its size. */
export const publishNamed = async (
  output: OutputFolder,
  target: string,
  write: () => Promise<void>,
): Promise<number> => {
  // It becomes one of the newest again, because `removeOld` uses the time.
  if (existsSync(output.resolve(target))) utimesSync(output.resolve(target), new Date(), new Date());
  else await write();
  return statSync(output.resolve(target)).size;
};

const readBytes = (file: string): Uint8Array | undefined => (existsSync(file) ? readFileSync(file) : undefined);

/** An inventory as published under this name; undefined if it is lost. */
export const readPublished = (output: OutputFolder, file: string): string | undefined =>
  readNamed(readBytes(output.resolve(file)), file);

/** Whether it exists as published. The inventory of a million files is longer than anything else that a build reads. */
export const isPublished = (output: OutputFolder, file: string): boolean =>
  isNamed(readBytes(output.resolve(file)), file);

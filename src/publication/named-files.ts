import { existsSync, readFileSync, statSync, utimesSync } from 'node:fs';
import type { OutputFolder } from './output-folder.ts';
import { isNamed, readNamed } from './published-inventory.ts';

// Files of the output folder that are named after their content: each is written once, and any generation may name it.

/** Has a file written that is named after its content, unless it stands there already; returns its size. */
export const publishNamed = async (
  output: OutputFolder,
  target: string,
  write: () => Promise<void>,
): Promise<number> => {
  // It is one of the newest again: `removeOld` goes by the time.
  if (existsSync(output.resolve(target))) utimesSync(output.resolve(target), new Date(), new Date());
  else await write();
  return statSync(output.resolve(target)).size;
};

const readBytes = (file: string): Uint8Array | undefined => (existsSync(file) ? readFileSync(file) : undefined);

/** An inventory as it was published under this name; undefined where it is lost. */
export const readPublished = (output: OutputFolder, file: string): string | undefined =>
  readNamed(readBytes(output.resolve(file)), file);

/** Whether it stands as it was published. That of a million files is longer than anything else that a build reads. */
export const isPublished = (output: OutputFolder, file: string): boolean =>
  isNamed(readBytes(output.resolve(file)), file);

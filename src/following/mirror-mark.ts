import { existsSync, rmSync } from 'node:fs';
import type { OutputFolder } from '../publication/output-folder.ts';
import { ownName } from '../publication/owner.ts';

// Stands from before the first file of another generation has its name until the last file of the one before is gone.
// Where it stands when a mirror begins, one was killed in between, and nobody can tell which files are of which: not even
// by the inventory of the generation in force, since what was being taken need not have come in force anywhere.
const markName = `${ownName}/mirroring`;

/** Whether the files in a folder may be others than its generation says. */
export const isUnderWay = (output: OutputFolder): boolean => existsSync(output.resolve(markName));

/** Resolves when whoever finds the folder after a power cut knows that files of it may be others. */
export const markUnderWay = async (output: OutputFolder): Promise<void> => {
  if (isUnderWay(output)) return;
  output.write(markName, '');
  await output.flush();
};

/** To be called when all files are those of the generation in force, and no others stand. */
export const unmarkUnderWay = (output: OutputFolder): void => rmSync(output.resolve(markName), { force: true });

import { existsSync, rmSync } from 'node:fs';
import type { OutputFolder } from '../publication/output-folder.ts';
import { ownName } from '../publication/owner.ts';

// Exists from before the first file of another generation has its name until the last file of the old one is gone. If
// it exists when a mirror begins, an earlier one was killed in between, and it is unknown which files belong to which
// generation. The inventory of the generation in force does not tell, because the one that was being taken may never
// have come into force anywhere.
const markName = `${ownName}/mirroring`;

/** Whether the files in a folder may differ from what its generation says. */
export const isUnderWay = (output: OutputFolder): boolean => existsSync(output.resolve(markName));

/** Resolves when the mark would survive a power cut. */
export const markUnderWay = async (output: OutputFolder): Promise<void> => {
  if (isUnderWay(output)) return;
  output.write(markName, '');
  await output.flush();
};

/** To be called when exactly the files of the generation in force exist. */
export const unmarkUnderWay = (output: OutputFolder): void => rmSync(output.resolve(markName), { force: true });

import { describeListOfBuild } from '../functions/node/other-safety-list.ts';
import { readSafetyEntries } from '../functions/node/safety-file.ts';
import type { Log } from '../src/log/log.ts';
import { createSafetyList } from '../src/safety/safety-list.ts';

/**
 * Warns if the safety list of a server calls safe what is published as unsafe, as if it was started without the --data
 * of the build.
 */
export const warnOfOtherList = (list: URL, out: string, log: Pick<Log, 'warn'>): void => {
  let sentence: string | undefined;
  try {
    const safety = createSafetyList(readSafetyEntries(list));
    const remedy = 'Start the server with the --data of the build, or build again.';
    sentence = describeListOfBuild(out, safety, list, remedy);
  } catch {
    // The list has a mistake. The server reports that itself.
  }
  if (sentence !== undefined) log.warn('other-safety-list', sentence);
};

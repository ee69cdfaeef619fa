import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describeOtherList } from '../functions/node/other-safety-list.ts';
import { readSafetyEntries } from '../functions/node/safety-file.ts';
import { olderOperations } from '../src/contract/older-addresses/operations.ts';
import type { Log } from '../src/log/log.ts';
import { createSafetyList } from '../src/safety/safety-list.ts';

/**
 * Warns if the safety list of a server calls safe what is published as unsafe, as if it was started without the --data
 * of the build.
 */
export const warnOfOtherList = (list: URL, out: string, log: Pick<Log, 'warn'>): void => {
  let sentence: string | undefined;
  try {
    const hosts: string[] = JSON.parse(readFileSync(path.join(out, olderOperations.unsafeHosts.file), 'utf8'));
    const others = 'the build. Start the server with the --data of the build, or build again.';
    sentence = describeOtherList(hosts, createSafetyList(readSafetyEntries(list)), list, others);
  } catch {
    // Nothing is published there, or by another version, or the list has a mistake. The server reports that itself.
  }
  if (sentence !== undefined) log.warn('other-safety-list', sentence);
};

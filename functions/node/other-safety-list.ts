import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { olderOperations } from '../../src/contract/older-addresses/operations.ts';
import { describeOtherList } from '../../src/safety/other-list.ts';
import type { SafetyList } from '../../src/safety/safety-list.ts';
import type { WatchedSafetyList } from './safety-file.ts';

/** Says the same as `describeOtherList` of what a build published into the folder `out`. `remedy` says what to do. */
const describeListOfBuild = (
  out: string,
  safety: Pick<SafetyList, 'check'>,
  list: URL,
  remedy: string,
): string | undefined => {
  try {
    const hosts: string[] = JSON.parse(readFileSync(path.join(out, olderOperations.unsafeHosts.file), 'utf8'));
    return describeOtherList(hosts, safety, fileURLToPath(list), `the build. ${remedy}`);
  } catch {
    // Nothing is published there, or by another version.
    return undefined;
  }
};

/**
 * Returns a function that tells the same of what is published at the moment, once as long as it stays so: a later build
 * may have another list.
 */
export const watchListOfBuild = (
  { out, safety, list, remedy }: { out: string; safety: WatchedSafetyList; list: URL; remedy: string },
  tell: (sentence: string) => void,
): (() => void) => {
  let told: string | undefined;
  return () => {
    // The build may have begun right after the list was changed.
    safety.look();
    const sentence = describeListOfBuild(out, safety, list, remedy);
    if (sentence !== undefined && sentence !== told) tell(sentence);
    told = sentence;
  };
};

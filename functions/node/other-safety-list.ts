import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { olderOperations } from '../../src/contract/older-addresses/operations.ts';
import type { SafetyList } from '../../src/safety/safety-list.ts';

/**
 * Says that the safety list of a server calls safe what is published as unsafe, so that programs are told the opposite
 * of what the page /safety/ says; undefined if it does not. `hosts` are those that are published as unsafe, `list` is
 * the file of the server's list, and `others` says whose list that of the publication is, and what to do.
 */
export const describeOtherList = (
  hosts: readonly string[],
  { check }: Pick<SafetyList, 'check'>,
  list: URL,
  others: string,
): string | undefined => {
  const [first, ...more] = hosts.filter((host) => check(`https://${host}/`));
  if (first === undefined) return undefined;
  const [further, are] = more.length === 0 ? ['', 'is'] : [` and ${more.length} more`, 'are'];
  return `The safety check calls ${first}${further} safe, which ${are} published as unsafe: ${fileURLToPath(list)} is another list than that of ${others}`;
};

/** The same of what a build published into the folder `out`. `remedy` says what to do. */
export const describeListOfBuild = (
  out: string,
  safety: Pick<SafetyList, 'check'>,
  list: URL,
  remedy: string,
): string | undefined => {
  try {
    const hosts: string[] = JSON.parse(readFileSync(path.join(out, olderOperations.unsafeHosts.file), 'utf8'));
    return describeOtherList(hosts, safety, list, `the build. ${remedy}`);
  } catch {
    // Nothing is published there, or by another version.
    return undefined;
  }
};

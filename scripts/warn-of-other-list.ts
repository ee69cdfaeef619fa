import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSafetyEntries } from '../functions/node/safety-file.ts';
import { olderOperations } from '../src/contract/older-addresses/operations.ts';
import type { Log } from '../src/log/log.ts';
import { createSafetyList } from '../src/safety/safety-list.ts';

/** The hosts that are published as unsafe, and that a server's list calls safe; none if one of both cannot be read. */
const findUnlisted = (list: URL, out: string): string[] => {
  try {
    const hosts: string[] = JSON.parse(readFileSync(path.join(out, olderOperations.unsafeHosts.file), 'utf8'));
    const { check } = createSafetyList(readSafetyEntries(list));
    return hosts.filter((host) => check(`https://${host}/`));
  } catch {
    // Nothing is published there, or by another version, or the list has a mistake. The server reports that itself.
    return [];
  }
};

/**
 * Warns if the safety list of a server calls safe what is published as unsafe, as if it was started without the --data
 * of the build: programs would be told the opposite of what the page /safety/ says.
 */
export const warnOfOtherList = (list: URL, out: string, log: Pick<Log, 'warn'>): void => {
  const [first, ...more] = findUnlisted(list, out);
  if (first === undefined) return;
  const others = more.length === 0 ? '' : ` and ${more.length} more`;
  log.warn(
    'other-safety-list',
    `The safety check calls ${first}${others} safe, which ${more.length === 0 ? 'is' : 'are'} published as unsafe: ${fileURLToPath(list)} is another list than that of the build. Start the server with the --data of the build, or build again.`,
  );
};

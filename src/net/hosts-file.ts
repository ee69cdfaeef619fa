import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import path from 'node:path';

/** Where the system keeps the names that it resolves without asking anybody. */
export const systemHostsFile: string =
  process.platform === 'win32'
    ? path.join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'drivers', 'etc', 'hosts')
    : '/etc/hosts';

/**
 * The addresses of each name in a hosts file (hosts(5)), names in lower case: one address and its names on each line, what
 * follows a `#` is no part of it, and a line that begins with no address is passed over. A file that cannot be read
 * holds nothing.
 */
export const readHostsFile = (file: string): ReadonlyMap<string, readonly string[]> => {
  const hosts = new Map<string, string[]>();
  for (const line of readText(file).split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names) {
      const known = hosts.get(name.toLowerCase());
      if (known === undefined) hosts.set(name.toLowerCase(), [address]);
      else known.push(address);
    }
  }
  return hosts;
};

const readText = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import path from 'node:path';

/** The system's file of names that it resolves locally. */
export const systemHostsFile: string =
  process.platform === 'win32'
    ? path.join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'drivers', 'etc', 'hosts')
    : '/etc/hosts';

/**
 * The addresses of each name in a hosts file (hosts(5)), with names in lower case: one address and its names on each
 * line. Text after a `#` is ignored, and so is a line that does not begin with an address. An unreadable file counts as
 * empty.
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

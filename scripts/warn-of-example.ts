import { readFileSync } from 'node:fs';
import path from 'node:path';
import { documentPath } from '../src/contract/paths.ts';
import { isExampleAddress } from '../src/contract/service-file.ts';
import type { Log } from '../src/log/log.ts';

const isLoopback = (host: string): boolean => /^(?:localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/i.test(host);

const readContact = (out: string): unknown => {
  try {
    return JSON.parse(readFileSync(path.join(out, documentPath.landing), 'utf8')).data.reference.contact_email;
  } catch {
    // Nothing is published there, or by another version. The server reports that itself.
    return undefined;
  }
};

/** Warns if others can reach a server whose contact address is an example. */
export const warnOfExample = (host: string, out: string, log: Pick<Log, 'warn'>): void => {
  const contact = isLoopback(host) ? undefined : readContact(out);
  if (typeof contact !== 'string' || !isExampleAddress(contact)) return;
  log.warn(
    'example-address',
    `Others can reach this server (${host}), and what is published names ${contact}, which reaches nobody: name your own contact_email in service.yaml (see --data) and build again.`,
  );
};

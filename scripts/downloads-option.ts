import { type Option, UsageError } from './options.ts';
import { parseWorkerAddress, readOperatorKey } from './worker-operator.ts';

/** The database in which several servers count downloads together. It is the same for all of them and for the build. */
export const downloadsOption = {
  type: 'string',
  value: 'URL',
  environment: 'DEBDEX_DOWNLOADS_DATABASE',
  help:
    'PostgreSQL database, postgres://user:password@host/database, in which several servers count downloads together; without ' +
    'it each counts in its own --state. Other users of the machine can see flags: prefer the variable.',
} as const satisfies Option;

/** The Worker that a build asks for its download counts. */
export const downloadsAtOption = {
  type: 'string',
  value: 'URL',
  environment: 'DEBDEX_DOWNLOADS_AT',
  help:
    'Address of a Worker that counts downloads (deploy/cloudflare/README.md); its counts replace those in --state. Its key is ' +
    'in DEBDEX_OPERATOR_KEY.',
} as const satisfies Option;

/**
 * The Worker and its key, if a build has to ask one. Throws a UsageError if the address is invalid, if the key is
 * missing, or if a database is given, too.
 */
export const readDownloadsAt = (
  address: string | undefined,
  database: string | undefined,
): { readonly address: string; readonly operatorKey: string } | undefined => {
  if (address === undefined) return undefined;
  if (parseWorkerAddress(address) === undefined) {
    throw new UsageError(
      '--downloads-at must be the address of a Worker without user or password, such as https://index.example.org',
    );
  }
  if (database !== undefined) {
    throw new UsageError('Downloads are counted in one place: give --downloads-at or --downloads-database');
  }
  const operatorKey = readOperatorKey();
  if (operatorKey === undefined) {
    throw new UsageError(
      '--downloads-at needs the key of the Worker’s operator in the environment: DEBDEX_OPERATOR_KEY',
    );
  }
  return { address, operatorKey };
};

/** Throws a UsageError if this is not the address of a PostgreSQL database. */
export const assertDownloadsDatabase = (url: string | undefined): void => {
  if (url === undefined) return;
  const { protocol, hostname } = URL.parse(url) ?? {};
  if ((protocol === 'postgres:' || protocol === 'postgresql:') && hostname !== '') return;
  throw new UsageError('--downloads-database must be an address such as postgres://user:password@host/database');
};

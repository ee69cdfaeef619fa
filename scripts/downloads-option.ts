import { type Option, UsageError } from './options.ts';

/** Where downloads are counted that are to add up over several servers: the same for all of them, and for the build. */
export const downloadsOption = {
  type: 'string',
  value: 'URL',
  environment: 'DEBDEX_DOWNLOADS_DATABASE',
  help:
    'A PostgreSQL database, postgres://user:password@host/database, that several servers count downloads into, so that they ' +
    'add up; without it each counts in its own --state. Whoever lists the processes sees flags, so better use the variable.',
} as const satisfies Option;

/** Throws a UsageError where this is no address of a PostgreSQL database. */
export const assertDownloadsDatabase = (url: string | undefined): void => {
  if (url === undefined) return;
  const { protocol, hostname } = URL.parse(url) ?? {};
  if ((protocol === 'postgres:' || protocol === 'postgresql:') && hostname !== '') return;
  throw new UsageError('--downloads-database must be an address such as postgres://user:password@host/database');
};

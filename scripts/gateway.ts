import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  BackupRefused,
  ConfigurationInvalid,
  loadBackup,
  type Restored,
  RestoreUnconfirmed,
  readStoreLocation,
} from '../functions/gateway/on-node.ts';
import { outliveReaders } from '../src/log/program-log.ts';
import { auditCommand } from './accounts/audit.ts';
import { assertPlaceOfStore, assertStoreExists, NoStore } from './accounts/existing-store.ts';
import { readStateFolder } from './accounts/state-folder.ts';
import { assertNoHelp, HelpAsked } from './help-asked.ts';
import { tellUnknownVariables } from './known-variables.ts';
import { describeRefusal, tellRefusal, UsageError } from './options.ts';

const usage = `Usage: npm run gateway -- COMMAND FILE [--keep-sign-ins] [--state DIR]

  backup FILE     write all accounts and sign-ins to a new file; servers may run
  restore FILE    replace everything in the store with a backup, and end every
                  sign-in; servers may run

  --keep-sign-ins restore the sign-ins too. What was spent, signed out or revoked
                  since the backup works again: only for a store that nobody
                  has used since, such as one that moves

The file is as secret as the store. SQLite and PostgreSQL have the same format, so
it also moves one to the other. The store is state/gateway.sqlite, or the same
file in DIR (or DEBDEX_STATE), or the PostgreSQL database that
GATEWAY_DATABASE_URL names.

Exit codes:
  0  done
  1  could not be done; the message says why
  2  bad usage: the command line, or a setting of the gateway
`;

const flags = { state: { type: 'string' }, 'keep-sign-ins': { type: 'boolean' } } as const;

const readArguments = () => {
  try {
    const { values, positionals } = parseArgs({ options: flags, allowPositionals: true });
    const [command, file, ...more] = positionals;
    if (command !== 'backup' && command !== 'restore') {
      throw new UsageError(command === undefined ? 'a COMMAND is missing' : `there is no command ${command}`);
    }
    if (file === undefined || more.length > 0) throw new UsageError(`${command} takes one FILE`);
    const keepSignIns = values['keep-sign-ins'] ?? false;
    if (keepSignIns && command === 'backup') throw new UsageError('--keep-sign-ins goes with restore');
    if (file === '') throw new UsageError('FILE must not be empty');
    const state = readStateFolder(values.state);
    return { command, file: resolve(file), keepSignIns, state };
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(tellRefusal(error as Error, Object.keys(flags)));
  }
};

// Names from a provider are chosen by its users, so control characters must not reach the terminal.
const list = (names: readonly string[]) => names.join(', ').replace(/[\p{Control}\p{Format}]/gu, '?');

const describe = ({ made, accounts, signIns, ...changed }: Restored, keepSignIns: boolean): string => {
  const { stillDisabled, disabledAgain, back, passwords, gone } = changed;
  return [
    `Restored ${accounts} ${accounts === 1 ? 'account' : 'accounts'} as of ${made.toISOString()}.`,
    keepSignIns
      ? `Kept ${signIns} ${signIns === 1 ? 'sign-in' : 'sign-ins'}: what was spent or revoked since then is alive again. To end all of them, restore without --keep-sign-ins. Restart the servers.`
      : 'Every sign-in has ended; everybody signs in again.',
    ...(stillDisabled.length > 0 ? [`Disabled since, and still so: ${list(stillDisabled)}`] : []),
    ...(disabledAgain.length > 0 ? [`Enabled since, and disabled again: ${list(disabledAgain)}`] : []),
    ...(back.length > 0 ? [`Removed since, and back again: ${list(back)}`] : []),
    ...(passwords.length > 0 ? [`With the password of then, not the one of now: ${list(passwords)}`] : []),
    ...(gone.length > 0 ? [`Added since, and gone: ${list(gone)}`] : []),
  ].join('\n');
};

const locked = 'another command, or a server, kept the store locked for five seconds. Give it again.';

outliveReaders();
try {
  assertNoHelp();
  const { command, file, keepSignIns, state } = readArguments();
  const location = readStoreLocation(process.env, state);
  const unknown = tellUnknownVariables(process.env);
  if (unknown !== undefined) process.stderr.write(`${unknown}\n`);
  if (command === 'backup') {
    assertStoreExists(location, state);
    const { backUp } = await loadBackup();
    const { accounts, rows } = await backUp(location, file);
    process.stdout.write(
      `Wrote ${accounts} ${accounts === 1 ? 'account' : 'accounts'} and ${rows - accounts} rows of sign-ins to ${file}.\n`,
    );
  } else {
    assertPlaceOfStore(location, state);
    const { restore } = await loadBackup();
    const restored = await restore(location, file, { keepSignIns }).catch(async (error) => {
      if (error instanceof RestoreUnconfirmed)
        await auditCommand({ event: 'store-restored', reason: 'unconfirmed' }, state);
      throw error;
    });
    process.stdout.write(`${describe(restored, keepSignIns)}\n`);
    const reason = `backup of ${restored.made.toISOString()}, ${keepSignIns ? 'with its sign-ins' : 'all sign-ins ended'}`;
    await auditCommand({ event: 'store-restored', reason }, state);
  }
} catch (error) {
  if (error instanceof HelpAsked) process.stdout.write(usage);
  else if (error instanceof UsageError) {
    process.stderr.write(`gateway: ${error.message}\n\n${usage}`);
    process.exitCode = 2;
  } else if (error instanceof BackupRefused || error instanceof ConfigurationInvalid || error instanceof NoStore) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = error instanceof ConfigurationInvalid ? 2 : 1;
  } else if (error instanceof RestoreUnconfirmed) {
    process.stderr.write(
      'The connection to the database broke in the very commit: all of it was done, or nothing. Look with\n' +
        'npm run accounts -- list, or restore again.\n',
    );
    process.exitCode = 1;
  } else {
    const isLocked = (error as NodeJS.ErrnoException).code === 'too_late';
    const why = isLocked ? locked : error instanceof Error ? describeRefusal(error) : String(error);
    process.stderr.write(`Nothing was changed: ${why}\n`);
    process.exitCode = 1;
  }
}

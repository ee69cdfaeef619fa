import { parseArgs } from 'node:util';
import { normaliseAccountName } from '../functions/gateway/account-name.ts';
import { ConfigurationInvalid, readStoreLocation } from '../functions/gateway/configuration.ts';
import { createNodeCryptography } from '../functions/gateway/node-cryptography.ts';
import { createNodePasswords } from '../functions/gateway/open-gateway.ts';
import { openCredentialStore } from '../functions/gateway/open-store.ts';
import { type CredentialStore, StoreUnavailable } from '../functions/gateway/store.ts';
import { PasswordRefused, readNewPassword } from './accounts/password.ts';
import { formatAccounts } from './accounts/table.ts';

const usage = `Usage: npm run accounts -- COMMAND [NAME] [--state DIR]

  list            every account, whether it is disabled, and its devices
  add NAME        add an account; the password is asked for, or read from the
                  first line of standard input
  password NAME   set a new password, asked for in the same way; devices stay
                  signed in
  disable NAME    refuse sign-ins and every credential of the account
  enable NAME     undo that
  sign-out NAME   end every sign-in of the account, on all devices
  remove NAME     delete the account and everything of it

The store is state/gateway.sqlite, or the same file in DIR (or DEBDEX_STATE), or
the PostgreSQL database that GATEWAY_DATABASE_URL names.
`;

class UsageError extends Error {}

const missing = (name: string) => `There is no account named ${name}.`;

/** Runs one command; resolves to what to print. Throws UsageError, PasswordRefused or StoreUnavailable. */
const run = async (
  store: CredentialStore,
  command: string,
  name: string | undefined,
): Promise<{ text: string; failed?: boolean }> => {
  const passwords = createNodePasswords(1);
  if (command === 'list') return { text: formatAccounts(await store.listAccounts()) };
  if (name === undefined) throw new UsageError(`${command} needs a NAME`);
  const done = (found: boolean, text: string) => (found ? { text } : { text: missing(name), failed: true });
  switch (command) {
    case 'add': {
      const normal = normaliseAccountName(name);
      if (normal === undefined) throw new UsageError('a NAME is 1 to 64 letters, digits, or characters of . _ - + @');
      const passwordHash = await passwords.hash(await readNewPassword());
      const account = { id: createNodeCryptography().randomId(), name: normal, displayName: name, passwordHash };
      const added = await store.addAccount(account);
      return added ? { text: `Added ${normal}.` } : { text: `The name ${normal} is taken.`, failed: true };
    }
    case 'password': {
      if (!(await store.findAccount(name))) return { text: missing(name), failed: true };
      const passwordHash = await passwords.hash(await readNewPassword());
      return done(await store.setPassword(name, passwordHash), `Set a new password for ${name}.`);
    }
    case 'disable':
      return done(await store.setDisabled(name, true), `Disabled ${name}.`);
    case 'enable':
      return done(await store.setDisabled(name, false), `Enabled ${name}.`);
    case 'remove':
      return done(await store.removeAccount(name), `Removed ${name}.`);
    case 'sign-out': {
      const devices = await store.signOutAccount(name);
      return done(devices !== undefined, `Signed ${name} out on ${devices} ${devices === 1 ? 'device' : 'devices'}.`);
    }
    default:
      throw new UsageError(`there is no command ${command}`);
  }
};

const readArguments = () => {
  try {
    const { values, positionals } = parseArgs({ options: { state: { type: 'string' } }, allowPositionals: true });
    const [command, name, ...more] = positionals;
    if (command === undefined) throw new UsageError('a COMMAND is missing');
    if (more.length > 0) throw new UsageError('too many arguments; a password is never one of them');
    // The provider's accounts have a colon in their name and are spelled as `list` prints them.
    const normal = name !== undefined && !name.includes(':') ? (normaliseAccountName(name) ?? name) : name;
    return {
      command,
      name: command === 'add' ? name : normal,
      state: values.state ?? process.env.DEBDEX_STATE ?? 'state',
    };
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(error instanceof Error ? error.message : String(error));
  }
};

let store: CredentialStore | undefined;
try {
  const { command, name, state } = readArguments();
  store = openCredentialStore(readStoreLocation(process.env, state), createNodeCryptography());
  const { text, failed } = await run(store, command, name);
  (failed ? process.stderr : process.stdout).write(`${text}\n`);
  process.exitCode = failed ? 1 : 0;
} catch (error) {
  if (error instanceof UsageError) {
    process.stderr.write(`accounts: ${error.message}\n\n${usage}`);
    process.exitCode = 2;
  } else if (error instanceof PasswordRefused || error instanceof ConfigurationInvalid) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  } else if (error instanceof StoreUnavailable) {
    process.stderr.write(`The credential store cannot be reached: ${String(error.cause)}\n`);
    process.exitCode = 1;
  } else {
    throw error;
  }
} finally {
  await store?.close();
}

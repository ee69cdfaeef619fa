import { parseArgs } from 'node:util';
import {
  ConfigurationInvalid,
  type CredentialStore,
  createNodeCryptography,
  createNodePasswords,
  isOneScript,
  normaliseAccountName,
  openCredentialStore,
  type Passwords,
  readStoreLocation,
  type SecurityEvent,
  StoreUnavailable,
  smallCost,
} from '../functions/gateway/on-node.ts';
import { operatedStore } from '../functions/gateway/on-workers.ts';
import { inWords } from '../src/log/error-chain.ts';
import { outliveReaders } from '../src/log/program-log.ts';
import { auditCommand } from './accounts/audit.ts';
import { assertStateFolder, assertStoreExists, NoStore } from './accounts/existing-store.ts';
import { PasswordRefused, readNewPassword } from './accounts/password.ts';
import { readStateFolder } from './accounts/state-folder.ts';
import { formatAccounts } from './accounts/table.ts';
import { assertNoHelp, HelpAsked } from './help-asked.ts';
import { tellUnknownVariables } from './known-variables.ts';
import { describeRefusal, tellRefusal, UsageError } from './options.ts';
import { parseWorkerAddress, readOperatorKey } from './worker-operator.ts';

const usage = `Usage: npm run accounts -- COMMAND [NAME] [--state DIR] [--at URL]

  list            list every account, whether it is disabled, and its devices
  add NAME        add an account; asks for the password, or reads it from the
                  first line of standard input
  password NAME   set a new password, in the same way; browsers are signed out
                  of the devices page, devices stay signed in
  disable NAME    refuse sign-ins and every credential of the account
  enable NAME     undo that
  sign-out NAME   end every sign-in of the account, on all devices
  sign-out --all  end every sign-in of every account
  remove NAME     delete the account and everything of it

The store is state/gateway.sqlite, or the same file in DIR (or DEBDEX_STATE), or
the PostgreSQL database that GATEWAY_DATABASE_URL names. Changes are written to
the audit log, gateway-audit.jsonl in the state folder.

--at URL sends the command to a Cloudflare Worker at that address. It needs the
Worker's key in DEBDEX_OPERATOR_KEY (see deploy/cloudflare/README.md).

Exit codes:
  0  done
  1  could not be done; the message says why
  2  bad usage: the command line, or a setting of the gateway
`;

const missing = (name: string) => `There is no account named ${name}.`;

interface Outcome {
  readonly text: string;
  readonly failed?: boolean;
  /** The event for the audit log. */
  readonly event?: SecurityEvent;
}

const counted = (devices: number) => `${devices} ${devices === 1 ? 'device' : 'devices'}`;

/** The accounts, and how passwords are hashed where they are kept. */
interface Accounts {
  readonly store: CredentialStore;
  readonly passwords: Passwords;
}

const addAccount = async ({ store, passwords }: Accounts, typed: string): Promise<Outcome> => {
  const name = normaliseAccountName(typed);
  if (name === undefined) throw new UsageError('a NAME is 1 to 64 letters, digits, or characters of . _ - + @');
  if (!isOneScript(name)) {
    throw new UsageError(`the letters of ${name} are of different scripts, so it could pass for another name`);
  }
  const passwordHash = await passwords.hash(await readNewPassword());
  const id = createNodeCryptography().randomId();
  const added = await store.addAccount({ id, name, displayName: typed.trim(), passwordHash });
  if (!added) return { text: `The name ${name} is taken.`, failed: true };
  return { text: `Added ${name}.`, event: { event: 'account-added', account: id, name } };
};

const signOutEverybody = async (store: CredentialStore): Promise<Outcome> => {
  let devices = 0;
  // Another command may have ended the whole of a portion meanwhile, so that none is left is believed the second time.
  for (let idle = 0; idle < 2; ) {
    const ended = await store.signOutEverybody();
    devices += ended.devices;
    idle = ended.more ? 0 : idle + 1;
  }
  return { text: `Signed everybody out, on ${counted(devices)}.`, event: { event: 'everybody-signed-out', devices } };
};

interface Typed {
  readonly command: string;
  readonly name: string | undefined;
  readonly all: boolean;
}

// Checked before a store is looked for, because a wrong command is wrong wherever the accounts are.
const assertCommand = ({ command, name, all }: Typed): void => {
  if (!['list', 'add', 'password', 'disable', 'enable', 'remove', 'sign-out'].includes(command)) {
    throw new UsageError(`there is no command ${command}`);
  }
  if (all && command !== 'sign-out') throw new UsageError('--all goes with sign-out');
  if (all && name !== undefined) throw new UsageError('sign-out takes a NAME or --all, not both');
  if (command === 'list' && name !== undefined) throw new UsageError('list takes no NAME: it lists every account');
  if (command !== 'list' && !all && name === undefined) {
    throw new UsageError(`${command} needs a NAME${command === 'sign-out' ? ', or --all' : ''}`);
  }
};

/** Runs one command; resolves to what to print. Throws UsageError, PasswordRefused or StoreUnavailable. */
const run = async (accounts: Accounts, { command, name }: Typed): Promise<Outcome> => {
  const { store, passwords } = accounts;
  if (command === 'list') return { text: formatAccounts(await store.listAccounts()) };
  if (name === undefined) return signOutEverybody(store);
  if (command === 'add') return addAccount(accounts, name);
  const account = await store.findAccount(name);
  if (!account) return { text: missing(name), failed: true };
  const done = (found: boolean, text: string, event: SecurityEvent['event'], devices?: number): Outcome =>
    found
      ? { text, event: { event, account: account.id, name, ...(devices !== undefined && { devices }) } }
      : { text: missing(name), failed: true };
  switch (command) {
    case 'password': {
      // The sign-in page does not accept such a name, so nobody could ever type the password.
      if (normaliseAccountName(name) === undefined) {
        return { text: `${name} is an account of an OpenID provider, which has its password.`, failed: true };
      }
      const passwordHash = await passwords.hash(await readNewPassword());
      const found = await store.setPassword(name, passwordHash);
      return done(found, `Set a new password for ${name}.`, 'account-password-set');
    }
    case 'disable':
      return done(await store.setDisabled(name, true), `Disabled ${name}.`, 'account-disabled');
    case 'enable':
      return done(await store.setDisabled(name, false), `Enabled ${name}.`, 'account-enabled');
    case 'remove':
      return done(await store.removeAccount(name), `Removed ${name}.`, 'account-removed');
    default: {
      const devices = await store.signOutAccount(name);
      const text = `Signed ${name} out on ${counted(devices ?? 0)}.`;
      return done(devices !== undefined, text, 'account-signed-out', devices);
    }
  }
};

const flags = { state: { type: 'string' }, at: { type: 'string' }, all: { type: 'boolean', default: false } } as const;

const readArguments = () => {
  try {
    const { values, positionals } = parseArgs({ options: flags, allowPositionals: true });
    const [command, name, ...more] = positionals;
    if (command === undefined) throw new UsageError('a COMMAND is missing');
    if (name === '') throw new UsageError('NAME must not be empty');
    if (more.length > 0) throw new UsageError('too many arguments; a password is never one of them');
    // Accounts of a provider have a colon in their name, which our own cannot, and are spelled as `list` prints them.
    const normal = name === undefined ? undefined : (normaliseAccountName(name) ?? name);
    return {
      command,
      name: command === 'add' ? name : normal,
      all: values.all,
      at: values.at,
      state: readStateFolder(values.state),
    };
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(tellRefusal(error as Error, Object.keys(flags)));
  }
};

/** The event of a command that changes something, for where the store does not say what became of it. */
const eventOf = ({ command, name, all }: Typed): SecurityEvent | undefined => {
  const events: Readonly<Record<string, SecurityEvent['event']>> = {
    add: 'account-added',
    password: 'account-password-set',
    disable: 'account-disabled',
    enable: 'account-enabled',
    remove: 'account-removed',
    'sign-out': all ? 'everybody-signed-out' : 'account-signed-out',
  };
  const event = events[command];
  return event && { event, ...(name !== undefined && { name: normaliseAccountName(name) ?? name }) };
};

const openWorkerAccounts = (at: string): Accounts => {
  const url = parseWorkerAddress(at);
  if (url === undefined || url.pathname !== '/') {
    // The text is not repeated: it may have a password.
    throw new UsageError(
      '--at must be the address of a Worker without user, password or path, such as https://index.example.org',
    );
  }
  const key = readOperatorKey();
  if (key === undefined) throw new UsageError('--at needs the key of the Worker in DEBDEX_OPERATOR_KEY');
  return { store: operatedStore(url.origin, key), passwords: createNodePasswords(1, smallCost) };
};

const openStoredAccounts = (command: string, state: string): Accounts => {
  const location = readStoreLocation(process.env, state);
  // Opening a store makes it, and --state may be mistyped.
  (command === 'add' ? assertStateFolder : assertStoreExists)(location, state);
  return { store: openCredentialStore(location, createNodeCryptography()), passwords: createNodePasswords(1) };
};

/** The longest that the end of the connections is waited for, in milliseconds. */
const closingMaximum = 2_000;

let store: CredentialStore | undefined;
let typed: ReturnType<typeof readArguments> | undefined;
outliveReaders();
try {
  assertNoHelp();
  typed = readArguments();
  const { state, at, ...rest } = typed;
  assertCommand(rest);
  const unknown = tellUnknownVariables(process.env);
  if (unknown !== undefined) process.stderr.write(`${unknown}\n`);
  const accounts = at === undefined ? openStoredAccounts(rest.command, state) : openWorkerAccounts(at);
  store = accounts.store;
  const { text, failed, event } = await run(accounts, rest);
  if (event) await auditCommand(event, state);
  (failed ? process.stderr : process.stdout).write(`${text}\n`);
  process.exitCode = failed ? 1 : 0;
} catch (error) {
  if (error instanceof HelpAsked) process.stdout.write(usage);
  else if (error instanceof UsageError) {
    process.stderr.write(`accounts: ${error.message}\n\n${usage}`);
    process.exitCode = 2;
  } else if (error instanceof PasswordRefused || error instanceof ConfigurationInvalid || error instanceof NoStore) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = error instanceof ConfigurationInvalid ? 2 : 1;
  } else if (error instanceof StoreUnavailable) {
    const { cause } = error;
    // What the system refuses of a file is refused before anything is done.
    const refusal = cause instanceof Error && 'path' in cause ? describeRefusal(cause) : undefined;
    process.stderr.write(`The credential store cannot be reached: ${refusal ?? inWords(cause)}\n`);
    const event = typed && eventOf(typed);
    if (typed && event && refusal === undefined) {
      process.stderr.write(
        'Where only its answer was lost all or a part was done: look with list, or give it again.\n',
      );
      await auditCommand({ ...event, reason: 'unconfirmed' }, typed.state);
    }
    process.exitCode = 1;
  } else {
    throw error;
  }
} finally {
  // A database that stands still, or is locked while its tables are updated, would keep the process for as long.
  const ending = setTimeout(() => process.exit(), closingMaximum);
  await store?.close();
  clearTimeout(ending);
}

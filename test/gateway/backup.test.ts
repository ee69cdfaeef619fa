import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { readStoreLocation } from '../../functions/gateway/configuration.ts';
import { createNodeCryptography } from '../../functions/gateway/node/node-cryptography.ts';
import { backUp, restore } from '../../functions/gateway/store/backup.ts';
import type { StoreLocation } from '../../functions/gateway/store/credential-store.ts';
import { openCredentialStore } from '../../functions/gateway/store/open-store.ts';
import { project } from '../support/deployed.ts';
import { temporaryFolder } from '../support/folder.ts';
import { addAccount, post, startGateway, type TestGateway } from '../support/gateway-session.ts';
import { issue, openProtocol } from '../support/issue.ts';
import { newDatabase } from '../support/new-database.ts';
import { type Credentials, signIn } from '../support/package-manager.ts';
import { patience } from '../support/patience.ts';
import { repeatSignIn } from '../support/repeat-rows.ts';
import { runScript } from '../support/run-script.ts';
import { describeStores } from '../support/stores.ts';

const hour = 3_600_000;

let folder: string;
let backups = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-backup-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const newFile = () => join(folder, `backup-${++backups}`);

const isLive = async (gateway: TestGateway, { auth_token }: Credentials) =>
  (await fetch(`${gateway.base}/v2/account`, { headers: { authorization: `Bearer ${auth_token}` } })).status === 200;
const refresh = async (gateway: TestGateway, credentials: Credentials) => {
  const answer = await post(`${gateway.base}/v2/refresh`, credentials);
  return { status: answer.status, set: (await answer.json()) as Credentials };
};

describeStores('backup', (newStore, kind) => {
  let environment: Readonly<Record<string, string>>;
  let gateway: TestGateway;
  let location: StoreLocation;
  beforeAll(async () => {
    environment = await newStore();
    gateway = await startGateway(environment, { now: Date.now() });
    location = readStoreLocation(environment, gateway.folder);
    for (const name of ['alice', 'bob', 'carol']) await addAccount(gateway.store, name);
  });
  afterAll(() => gateway.close());

  test('T15 a restore ends every sign-in, so that nothing spent or revoked since comes back', async () => {
    const [spent, revoked, kept] = [
      await signIn(gateway.base, 'alice'),
      await signIn(gateway.base, 'alice'),
      await signIn(gateway.base, 'bob'),
    ];
    await addAccount(gateway.store, 'erin');
    await gateway.store.setDisabled('erin', true);
    const file = newFile();
    await backUp(location, file);
    gateway.advance(hour);
    const { status, set: successor } = await refresh(gateway, spent);
    expect(status).toBe(200);
    expect((await post(`${gateway.base}/v2/revoke`, revoked)).status).toBe(200);
    await gateway.store.setDisabled('bob', true);
    await gateway.store.setDisabled('erin', false);
    await gateway.store.setPassword('alice', 'another hash');
    await gateway.store.removeAccount('carol');
    await addAccount(gateway.store, 'dave');
    // As many tries as somebody has who is guessing.
    const tries = [{ keyHash: new Uint8Array(32).fill(7), most: 1, window: 24 * hour }];
    expect(await gateway.store.countAttempts(tries)).toBeUndefined();
    expect(await gateway.store.countAttempts(tries)).toBeGreaterThan(0);

    // With the server running, as an operator would.
    expect(await restore(location, file, { keepSignIns: false })).toMatchObject({
      accounts: 4,
      signIns: 0,
      stillDisabled: ['bob'],
      disabledAgain: ['erin'],
      back: ['carol'],
      passwords: ['alice'],
      gone: ['dave'],
    });
    // Sign-ins that were under way take no room of later ones.
    const bounded = openCredentialStore(location, createNodeCryptography(), {
      requestBounds: { requests: 1, bytes: 2 ** 20 },
    });
    const request = { callback: 'sileo://x', application: 'sileo:', model: 'm', maskedUdid: '••••', udidHash: null };
    expect(await bounded.addSignInRequest(new Uint8Array(32), request, hour)).toBe(true);
    await bounded.close();
    for (const set of [spent, revoked, kept, successor]) {
      expect(await isLive(gateway, set)).toBe(false);
      expect((await refresh(gateway, set)).status).toBe(401);
    }
    expect((await gateway.store.findAccount('bob'))?.disabledAt).not.toBeNull();
    // Alice signs in with the password of then.
    expect(await isLive(gateway, await signIn(gateway.base, 'alice'))).toBe(true);
    await gateway.store.setDisabled('bob', false);
    await gateway.store.removeAccount('erin');
    // Whom the passwords of now kept out may try those of then.
    expect(await gateway.store.countAttempts(tries)).toBeUndefined();
  });

  test('a restore that is told to keeps the sign-ins as they were', async () => {
    const [current, live] = [await signIn(gateway.base, 'alice'), await signIn(gateway.base, 'carol')];
    gateway.advance(hour);
    const { set: successor } = await refresh(gateway, current);
    const file = newFile();
    await backUp(location, file);
    await gateway.store.signOutAccount('alice');
    expect(await isLive(gateway, successor)).toBe(false);
    const { signIns } = await restore(location, file, { keepSignIns: true });
    expect(signIns).toBeGreaterThanOrEqual(2);
    expect(await isLive(gateway, successor)).toBe(true);
    expect((await refresh(gateway, live)).status).toBe(200);
    // What was spent before the backup is still known as spent.
    gateway.advance(11_000);
    expect((await refresh(gateway, current)).status).toBe(401);
    expect(await isLive(gateway, successor)).toBe(false);
  });

  test('a backup that is cut short or altered anywhere is refused, and nothing is changed', async () => {
    const account = (await gateway.store.findAccount('bob'))?.id ?? '';
    // More rows than one statement takes.
    const protocol = openProtocol(gateway.store);
    for (let count = 0; count < 110; count++) await issue(protocol, account);
    const file = newFile();
    await backUp(location, file);
    const whole = readFileSync(file);
    const before = newFile();
    await backUp(location, before);
    const damaged = newFile();
    const ends = [
      0,
      1,
      whole.indexOf('\n'),
      whole.indexOf('\n') + 1,
      whole.lastIndexOf('\n', -2) + 1,
      whole.length - 3,
    ];
    const middles = Array.from({ length: 6 }, (_, index) => Math.floor(((index + 0.5) / 6) * whole.length));
    // What is refused is decided above the database, which undoes what was begun: of the other one, some of each.
    const some = (all: readonly number[]) => all.filter((_, index) => kind === 'SQLite' || index % 4 === 0);
    for (const length of some([...ends, ...middles])) {
      writeFileSync(damaged, whole.subarray(0, length));
      const options = { keepSignIns: true };
      await expect(restore(location, damaged, options), `${length} bytes`).rejects.toMatchObject({
        code: 'backup_refused',
      });
    }
    for (const at of some(middles)) {
      const altered = Buffer.from(whole);
      altered[at] = altered[at] === 0x61 ? 0x62 : 0x61;
      writeFileSync(damaged, altered);
      await expect(restore(location, damaged, { keepSignIns: true }), `byte ${at}`).rejects.toThrow();
    }
    writeFileSync(damaged, Buffer.concat([whole, whole]));
    await expect(restore(location, damaged, { keepSignIns: true })).rejects.toMatchObject({ code: 'backup_refused' });
    const after = newFile();
    await backUp(location, after);
    const rows = (name: string) => readFileSync(name, 'utf8').split('\n').slice(1, -2);
    expect(rows(after)).toEqual(rows(before));
  });

  test('the command writes and restores, tells what came back, and replaces no file', async () => {
    const run = async (...parameters: string[]) => {
      const flags = [...parameters, '--state', gateway.folder];
      const { status, text } = await runScript('gateway', flags, { environment });
      return { code: status, text };
    };
    const file = newFile();
    const signedIn = await signIn(gateway.base, 'alice');
    await addAccount(gateway.store, 'erin');
    await gateway.store.setDisabled('erin', true);
    const { code, text } = await run('backup', file);
    // The first line and the last are of the file itself.
    const rows = readFileSync(file, 'utf8').trim().split('\n').length - 2;
    expect([code, text]).toEqual([0, `Wrote 4 accounts and ${rows - 4} rows of sign-ins to ${file}.\n`]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const written = readFileSync(file);
    expect(await run('backup', file)).toMatchObject({ code: 1, text: expect.stringContaining('never replaces') });
    expect(readFileSync(file).equals(written)).toBe(true);
    expect(existsSync(`${file}.partial`)).toBe(false);
    await gateway.store.removeAccount('carol');
    await gateway.store.setDisabled('bob', true);
    await gateway.store.setDisabled('erin', false);
    await gateway.store.setPassword('alice', 'another hash');
    await addAccount(gateway.store, 'idp:\u001b[2Jdave');
    const restored = await run('restore', file);
    expect(restored.code).toBe(0);
    expect(restored.text).toMatch(/^Restored 4 accounts as of \d{4}-.*\nEvery sign-in has ended/);
    expect(restored.text.split('\n').slice(2, -1)).toEqual([
      'Disabled since, and still so: bob',
      'Enabled since, and disabled again: erin',
      'Removed since, and back again: carol',
      'With the password of then, not the one of now: alice',
      'Added since, and gone: idp:?[2Jdave',
    ]);
    expect(await isLive(gateway, signedIn)).toBe(false);
    await gateway.store.setDisabled('bob', false);
    const audit = readFileSync(join(gateway.folder, 'gateway-audit.jsonl'), 'utf8');
    expect(JSON.parse(audit.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      event: 'store-restored',
      reason: expect.stringContaining('all sign-ins ended'),
    });
    const keeping = await run('restore', file, '--keep-sign-ins');
    expect(keeping.text).toContain('alive again');
    expect(await isLive(gateway, signedIn)).toBe(true);
    expect(await run('restore', join(folder, 'missing'))).toMatchObject({ code: 1 });
    for (const wrong of [
      [],
      ['frobnicate', file],
      ['backup'],
      ['backup', file, 'x'],
      ['backup', file, '--keep-sign-ins'],
    ]) {
      expect((await run(...wrong)).code, wrong.join(' ')).toBe(2);
    }
    await gateway.store.removeAccount('erin');
  });

  // Last, for it leaves behind thousands of rows.
  test('a backup made while sign-ins are refreshed is of one moment', async () => {
    const account = (await gateway.store.findAccount('bob'))?.id ?? '';
    const protocol = openProtocol(gateway.store, { credentialLife: 0 });
    const sets = await Promise.all(Array.from({ length: 20 }, () => issue(protocol, account)));
    let stop = false;
    const clients = sets.map(async (set) => {
      for (let current = set; !stop; ) {
        const result = await protocol.refresh(current);
        if (result.decision === 'rotate') current = result.credentials;
      }
    });
    const files = [newFile(), newFile(), newFile()];
    for (const file of files) await backUp(location, file);
    stop = true;
    await Promise.all(clients);
    for (const file of files) {
      const lines = readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      const families = new Map<string, number>();
      for (const { table, row } of lines.slice(1, -1)) {
        if (table === 'gateway_families' && row.account_id === account) families.set(row.id, 0);
        if (table === 'gateway_credential_sets' && row.spent_at === null && families.has(row.family_id)) {
          families.set(row.family_id, (families.get(row.family_id) ?? 0) + 1);
        }
      }
      // Between two moments a family would have no living end, or two.
      expect(families.size).toBeGreaterThanOrEqual(20);
      expect([...families.values()].every((living) => living === 1)).toBe(true);
    }
  });
});

/** Locks of tables that somebody waits for in this database: other tests have theirs on the same server. */
const locksAwaited =
  'pg_locks where not granted and database = (select oid from pg_database where datname = current_database())';

test('T15 what PostgreSQL had not yet committed when a restore began does not outlive it', async () => {
  const environment = { GATEWAY_DATABASE_URL: await newDatabase() };
  const gateway = await startGateway(environment, { now: Date.now() });
  const location = readStoreLocation(environment, gateway.folder);
  await addAccount(gateway.store, 'alice');
  const file = newFile();
  await backUp(location, file);
  const credentials = await signIn(gateway.base, 'alice');
  const writer = new Client(environment.GATEWAY_DATABASE_URL);
  const watcher = new Client(environment.GATEWAY_DATABASE_URL);
  await Promise.all([writer.connect(), watcher.connect()]);
  const count = async (what: string) =>
    (await watcher.query<{ count: number }>(`select count(*)::int as count from ${what}`)).rows[0]?.count ?? 0;
  // The same account and sign-in once more under other names, under way at another server.
  await writer.query('begin');
  for (const [table, change] of [
    ['gateway_accounts', "id = 'another', name = 'another'"],
    ['gateway_families', "id = 'another', account_id = 'another'"],
  ]) {
    await writer.query(`create temporary table again on commit drop as select * from ${table}`);
    await writer.query(`update again set ${change}`);
    await writer.query(`insert into ${table} select * from again`);
    await writer.query('drop table again');
  }
  const restored = restore(location, file, { keepSignIns: false });
  const isOver = restored.then(() => true);
  await expect.poll(() => Promise.race([isOver, count(locksAwaited)])).toBeTruthy();
  await writer.query('commit');
  expect(await restored).toMatchObject({ accounts: 1, signIns: 0, gone: ['another'] });
  expect(await count('gateway_accounts')).toBe(1);
  expect(await count('gateway_families')).toBe(0);
  expect(await isLive(gateway, credentials)).toBe(false);
  await Promise.all([writer.end(), watcher.end()]);
  await gateway.close();
});

test('a restore waits for a sign-in and a sign-out that PostgreSQL has half of, and neither waits for it', async () => {
  const environment = { GATEWAY_DATABASE_URL: await newDatabase() };
  const gateway = await startGateway(environment, { now: Date.now() });
  onTestFinished(gateway.close);
  const location = readStoreLocation(environment, gateway.folder);
  const account = await addAccount(gateway.store, 'alice');
  const file = newFile();
  await backUp(location, file);
  await signIn(gateway.base, 'alice');
  const clients = [1, 2].map(() => new Client(environment.GATEWAY_DATABASE_URL));
  const [writer, watcher] = clients as [Client, Client];
  await Promise.all(clients.map((client) => client.connect()));
  onTestFinished(async () => void (await Promise.all(clients.map((client) => client.end()))));
  // The first statements of each, and the others.
  for (const [first, then] of [
    ['update gateway_sign_in_requests set consumed_at = 1', 'update gateway_families set last_used_at = 1'],
    ['delete from gateway_browsers', `update gateway_families set revoked_at = 1 where account_id = '${account}'`],
  ] as const) {
    await writer.query('begin');
    expect((await writer.query(first)).rowCount).toBe(1);
    const restored = restore(location, file, { keepSignIns: false });
    const isOver = restored.then(
      () => true,
      () => true,
    );
    const waits = async () =>
      (await watcher.query<{ waits: boolean }>(`select count(*) > 0 as waits from ${locksAwaited}`)).rows[0]?.waits;
    await expect.poll(() => Promise.race([isOver, waits()])).toBe(true);
    await writer.query(then);
    await writer.query('commit');
    expect(await restored).toMatchObject({ accounts: 1, signIns: 0 });
    await signIn(gateway.base, 'alice');
  }
});

test('PostgreSQL undoes a restore that stands still, as it does an operation of a server', async () => {
  const environment = { GATEWAY_DATABASE_URL: await newDatabase() };
  const gateway = await startGateway(environment, { now: Date.now() });
  onTestFinished(gateway.close);
  const location = readStoreLocation(environment, gateway.folder);
  await addAccount(gateway.store, 'alice');
  const file = newFile();
  await backUp(location, file);
  const operator = new Client(environment.GATEWAY_DATABASE_URL);
  await operator.connect();
  onTestFinished(() => operator.end());
  await operator.query(`create table noted (most text);
    create function note() returns trigger language plpgsql as
      $$ begin insert into noted select current_setting('idle_in_transaction_session_timeout'); return new; end $$;
    create trigger note after insert on gateway_accounts for each row execute function note()`);
  await restore(location, file, { keepSignIns: false });
  expect((await operator.query('select most from noted')).rows).toEqual([{ most: '1min' }]);
});

// As a pooler says it that has lost the server.
const fatal = (() => {
  const fields = Buffer.from('SFATAL\0VFATAL\0C08P01\0Mserver conn crashed?\0\0');
  const head = Buffer.from('E\0\0\0\0', 'latin1');
  head.writeUInt32BE(4 + fields.length, 1);
  return Buffer.concat([head, fields]);
})();

/** The address of a database through a proxy that breaks in the commit of what locked the tables. */
const breakingInCommit = async (url: string, { arrives, last }: { arrives: boolean; last: Buffer }) => {
  const { hostname, port } = new URL(url);
  const server = createServer((client) => {
    const database = connect(Number(port), hostname);
    let hasLocked = false;
    let isCommitting = false;
    for (const socket of [client, database]) {
      socket.on('error', () => {});
      socket.on('close', () => {
        for (const end of [client, database]) end.destroy();
      });
    }
    client.on('data', (data) => {
      hasLocked ||= data.includes('lock table');
      isCommitting ||= hasLocked && data.includes('commit\0');
      if (isCommitting && !arrives) client.end(last);
      else database.write(data);
    });
    database.on('data', (data) => {
      if (isCommitting) client.end(last);
      else client.write(data);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return Object.assign(new URL(url), { port: String((server.address() as AddressInfo).port) }).href;
};

test.each([
  { what: 'before it arrives', arrives: false, last: Buffer.alloc(0) },
  { what: 'after it arrived', arrives: true, last: Buffer.alloc(0) },
  { what: 'before a pooler that says so', arrives: true, last: fatal },
])(
  'T15 a restore whose connection breaks in the very commit, $what, does not say that nothing was changed',
  async (breaks) => {
    const url = await newDatabase();
    const gateway = await startGateway({ GATEWAY_DATABASE_URL: url }, { now: Date.now() });
    onTestFinished(gateway.close);
    await addAccount(gateway.store, 'alice');
    const file = newFile();
    await backUp(readStoreLocation({ GATEWAY_DATABASE_URL: url }, gateway.folder), file);
    await addAccount(gateway.store, 'bob');
    const environment = { GATEWAY_DATABASE_URL: await breakingInCommit(url, breaks) };
    const { status, text } = await runScript('gateway', ['restore', file, '--state', gateway.folder], { environment });
    expect([status, text]).toEqual([1, expect.stringContaining('all of it was done, or nothing')]);
    expect(text).not.toContain('Nothing was changed');
    const audit = readFileSync(join(gateway.folder, 'gateway-audit.jsonl'), 'utf8');
    expect(JSON.parse(audit)).toMatchObject({ event: 'store-restored', reason: 'unconfirmed' });
    expect((await gateway.store.findAccount('bob')) === undefined).toBe(breaks.arrives);
  },
);

test('a restore whose commit PostgreSQL refuses says that nothing was changed', async () => {
  const environment = { GATEWAY_DATABASE_URL: await newDatabase() };
  const gateway = await startGateway(environment, { now: Date.now() });
  onTestFinished(gateway.close);
  await addAccount(gateway.store, 'alice');
  const file = newFile();
  await backUp(readStoreLocation(environment, gateway.folder), file);
  const operator = new Client(environment.GATEWAY_DATABASE_URL);
  await operator.connect();
  onTestFinished(() => operator.end());
  await operator.query(`create function refuse() returns trigger language plpgsql as $$ begin raise 'not this'; end $$;
    create constraint trigger late after insert on gateway_accounts initially deferred
    for each row execute function refuse()`);
  const { status, text } = await runScript('gateway', ['restore', file, '--state', gateway.folder], { environment });
  expect([status, text]).toEqual([1, 'Nothing was changed: not this\n']);
});

test('a backup of SQLite does not fail for room that a server which writes keeps it from giving back', async () => {
  const gateway = await startGateway({}, { now: Date.now() });
  onTestFinished(gateway.close);
  const location = readStoreLocation({}, gateway.folder);
  await addAccount(gateway.store, 'alice');
  const other = new DatabaseSync(join(gateway.folder, 'gateway.sqlite'));
  onTestFinished(() => other.close());
  // More free pages than are kept for what is written next.
  other.exec('create table filler (bytes blob); insert into filler values (zeroblob(4000000)); drop table filler');
  other.exec('begin immediate');
  const file = newFile();
  expect(await backUp(location, file)).toMatchObject({ accounts: 1 });
});

test('a restore to SQLite that meets another one says that the store is locked, and what to do', async () => {
  const gateway = await startGateway({}, { now: Date.now() });
  onTestFinished(gateway.close);
  await addAccount(gateway.store, 'alice');
  const file = newFile();
  await backUp(readStoreLocation({}, gateway.folder), file);
  const other = new DatabaseSync(join(gateway.folder, 'gateway.sqlite'));
  onTestFinished(() => other.close());
  other.exec('begin immediate');
  const { status, text } = await runScript('gateway', ['restore', file, '--state', gateway.folder]);
  const sentence = 'another command, or a server, kept the store locked for five seconds. Give it again.';
  expect([status, text]).toEqual([1, `Nothing was changed: ${sentence}\n`]);
});

test('a backup of PostgreSQL has its own tables alone, whatever else of such a name the database has', async () => {
  const environment = { GATEWAY_DATABASE_URL: await newDatabase() };
  const gateway = await startGateway(environment);
  onTestFinished(() => gateway.close());
  await addAccount(gateway.store, 'alice');
  const client = new Client(environment.GATEWAY_DATABASE_URL);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query(`
    create schema before_upgrade;
    create table before_upgrade.gateway_accounts (copied int, like gateway_accounts);
    create table before_upgrade.gateway_more (id int);
    create view gateway_people as select name from gateway_accounts`);
  const [location, file] = [readStoreLocation(environment, gateway.folder), newFile()];
  expect(await backUp(location, file)).toEqual({ accounts: 1, rows: 1 });
  expect(await restore(location, file, { keepSignIns: true })).toMatchObject({ accounts: 1, gone: [] });
});

test('a backup is restored whatever a provider calls its people', async () => {
  const gateway = await startGateway();
  onTestFinished(() => gateway.close());
  await addAccount(gateway.store, 'alice');
  // Of these, programs that read lines take some for the end of one.
  const subject = 'a\u2028b\u2029c\u0085d';
  const identity = { issuer: 'https://id.example', subject, displayName: 'A', name: 'id.example:a' };
  await gateway.store.findOrAddFederated({ id: 'a', ...identity });
  const [location, file] = [readStoreLocation({}, gateway.folder), newFile()];
  await backUp(location, file);
  expect(await restore(location, file, { keepSignIns: false })).toMatchObject({ accounts: 2, gone: [] });
  expect(await gateway.store.findOrAddFederated({ id: 'b', ...identity })).toMatchObject({ id: 'a', added: false });
});

test('a backup of SQLite restored to PostgreSQL, and back again, has the same rows', async () => {
  const environment = { GATEWAY_DATABASE_URL: await newDatabase() };
  const one = await startGateway({}, { now: Date.now() });
  const two = await startGateway(environment, { now: Date.now() });
  const [from, to] = [readStoreLocation({}, one.folder), readStoreLocation(environment, two.folder)];
  await addAccount(one.store, 'alice');
  // More rows than one page and one statement take.
  const protocol = openProtocol(one.store);
  const account = (await one.store.findAccount('alice'))?.id ?? '';
  await issue(protocol, account);
  const raw = new DatabaseSync(join(one.folder, 'gateway.sqlite'));
  repeatSignIn(raw, 600);
  const credentials = await signIn(one.base, 'alice');
  const kept = ['gateway_accounts', 'gateway_families', 'gateway_credential_sets'];
  const counts = kept.map((table) => [table, raw.prepare(`select count(*) as rows from ${table}`).get()?.rows]);
  raw.close();
  const [first, second] = [newFile(), newFile()];
  await backUp(from, first);
  await restore(to, first, { keepSignIns: true });
  expect(await isLive(two, credentials)).toBe(true);
  await backUp(to, second);
  const rows = (file: string) => readFileSync(file, 'utf8').split('\n').slice(1, -2).sort();
  // Two backups that lose the same rows are the same.
  const lines = rows(first).map((line) => (JSON.parse(line) as { table: string }).table);
  expect(kept.map((table) => [table, lines.filter((one) => one === table).length])).toEqual(counts);
  expect(rows(second)).toEqual(rows(first));
  await one.close();
  await two.close();
});

test('a backup that is stopped leaves nothing of itself, which would be as secret as the store', async () => {
  const environment = { GATEWAY_DATABASE_URL: await newDatabase() };
  const gateway = await startGateway(environment, { now: Date.now() });
  onTestFinished(gateway.close);
  await addAccount(gateway.store, 'alice');
  const operator = new Client(environment.GATEWAY_DATABASE_URL);
  await operator.connect();
  onTestFinished(() => operator.end());
  // One that has ended listens for no signal.
  const before = process.listenerCount('SIGTERM');
  await backUp(readStoreLocation(environment, gateway.folder), newFile());
  expect(process.listenerCount('SIGTERM')).toBe(before);
  // The backup has begun, and waits.
  await operator.query('begin; lock table gateway_families in access exclusive mode');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const file = newFile();
    const child = spawn(process.execPath, ['scripts/gateway.ts', 'backup', file, '--state', gateway.folder], {
      cwd: project,
      env: { ...process.env, ...environment },
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    await expect.poll(() => existsSync(`${file}.partial`), patience).toBe(true);
    child.kill(signal);
    expect(await ended).toEqual([null, signal]);
    expect([`${file}.partial`, file].filter((one) => existsSync(one))).toEqual([]);
  }
});

test('a backup is refused where there is no store, and a restore makes one in a new folder', async () => {
  const there = join(temporaryFolder(), 'there');
  const [none, file] = [newFile(), newFile()];
  const refused = await runScript('gateway', ['backup', none, '--state', there]);
  expect(refused).toMatchObject({ status: 1, error: expect.stringContaining(`There is no state folder ${there}`) });
  expect([none, there].filter((one) => existsSync(one))).toEqual([]);
  const noBackup = newFile();
  writeFileSync(noBackup, '{}\n');
  const wrong = {
    [none]: `There is no backup ${none}: `,
    [join(noBackup, 'x')]: `There is no backup ${join(noBackup, 'x')}: `,
    [folder]: `${folder} is a folder: `,
    [noBackup]: `${noBackup} is no backup of a gateway`,
  };
  for (const [one, sentence] of Object.entries(wrong)) {
    const restored = await runScript('gateway', ['restore', one, '--state', there]);
    expect(restored, one).toMatchObject({ status: 1, error: expect.stringContaining(sentence) });
    expect(existsSync(there), one).toBe(false);
  }

  const gateway = await startGateway({}, { now: Date.now() });
  await addAccount(gateway.store, 'alice');
  // What is typed goes before what the environment has for every command.
  const environment = { DEBDEX_STATE: there };
  expect((await runScript('gateway', ['backup', file, '--state', gateway.folder], { environment })).status).toBe(0);
  const nowhere = await runScript('gateway', ['backup', join(none, 'file'), '--state', gateway.folder]);
  expect(nowhere).toMatchObject({ status: 1, error: expect.stringContaining(`There is no folder ${none}: `) });
  await gateway.close();
  const restored = await runScript('gateway', ['restore', file, '--state', there]);
  expect(restored).toMatchObject({ status: 0, out: expect.stringContaining('Restored 1 account') });
  // Nothing was removed from a store that is new.
  expect(restored.out).not.toContain('alice');
});

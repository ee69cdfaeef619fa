import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { createNodeCryptography } from '../../functions/gateway/node/node-cryptography.ts';
import { makePrivateFile } from '../../functions/gateway/store/private-file.ts';
import { BrowserSession } from '../support/browser-session.ts';
import { temporaryFolder } from '../support/folder.ts';
import { addAccount, password, startGateway, type TestGateway } from '../support/gateway-session.ts';
import { issue, openProtocol } from '../support/issue.ts';
import { newDatabase } from '../support/new-database.ts';
import { authenticate, PackageManager, readCallback } from '../support/package-manager.ts';
import { repeatRow, repeatSignIn } from '../support/repeat-rows.ts';
import { runScript } from '../support/run-script.ts';
import { describeStores } from '../support/stores.ts';

// Strong passwords cost each sign-in of this suite a quarter of a second; what they cost people is told by the one command
// that is a process of its own.
vi.mock('../../functions/gateway/passwords.ts', async (original) => ({
  ...(await original<typeof import('../../functions/gateway/passwords.ts')>()),
  recommendedCost: { n: 2 ** 4, r: 8, p: 1 },
}));

describeStores('the accounts command', (newStore, kind) => {
  let gateway: TestGateway;
  let environment: Readonly<Record<string, string>>;
  beforeAll(async () => {
    environment = await newStore();
    gateway = await startGateway(environment, { now: Date.now() });
    // The first question makes the store.
    await gateway.store.listAccounts();
  });
  afterAll(() => gateway.close());

  const accounts = async (parameters: readonly string[], input = '') => {
    const { status, out, error } = await runScript('accounts', [...parameters, '--state', gateway.folder], {
      environment,
      input,
    });
    return { code: status, out, error };
  };
  const signIn = async (name: string, typed: string) => {
    const browser = new BrowserSession();
    const page = await browser.open(await authenticate(gateway.base));
    return browser.submit(page, { name, password: typed });
  };

  /** A browser that is signed in to the devices page. */
  const openDevices = async (name: string) => {
    const browser = new BrowserSession();
    const page = await browser.open(`${gateway.base}/v2/login`);
    expect((await browser.submit(page, { name, password })).status).toBe(303);
    expect((await browser.open(`${gateway.base}/v2/devices`)).status).toBe(200);
    return browser;
  };

  test('adds, lists, disables, enables, changes the password, signs out and removes', async () => {
    expect(await accounts(['list'])).toMatchObject({ code: 0, out: expect.stringContaining('no account yet') });
    expect(await accounts(['add', ' Alice '], 'first password\nsecond line\n')).toEqual({
      code: 0,
      out: 'Added alice.\n',
      error: '',
    });
    expect((await gateway.store.findAccount('alice'))?.displayName).toBe('Alice');
    expect(await accounts(['add', 'ALICE'], 'first password\n')).toMatchObject({
      code: 1,
      error: 'The name alice is taken.\n',
    });

    const done = await signIn('alice', 'first password');
    expect(done.status).toBe(303);
    const client = new PackageManager(gateway.base);
    client.callback(done.location);
    const { auth_token } = readCallback(done.location);
    const live = async () =>
      (await fetch(`${gateway.base}/v2/account`, { headers: { authorization: `Bearer ${auth_token}` } })).status;
    expect(await live()).toBe(200);
    expect((await accounts(['list'])).out).toMatch(
      /^NAME +DEVICES +ADDED +STATE +SHOWN AS\nalice +1 +\d{4}-\d\d-\d\d +Alice\n$/,
    );

    expect(await accounts(['disable', 'Alice'])).toMatchObject({ code: 0 });
    expect(await live()).toBe(401);
    expect((await signIn('alice', 'first password')).status).toBe(403);
    expect((await accounts(['list'])).out).toContain('disabled');
    expect(await accounts(['enable', 'alice'])).toMatchObject({ code: 0 });
    expect(await live()).toBe(200);

    expect(await accounts(['password', 'alice'], 'second password')).toMatchObject({ code: 0 });
    expect((await signIn('alice', 'first password')).status).toBe(403);
    expect((await signIn('alice', 'second password')).status).toBe(303);

    expect(await accounts(['sign-out', 'alice'])).toEqual({
      code: 0,
      out: 'Signed alice out on 2 devices.\n',
      error: '',
    });
    expect(await live()).toBe(401);
    expect(await client.request()).toBe(401);
    expect(client.state).toBe('signed out');

    expect(await accounts(['remove', 'alice'])).toMatchObject({ code: 0 });
    expect(await accounts(['remove', 'alice'])).toMatchObject({ code: 1, error: 'There is no account named alice.\n' });
    expect((await new BrowserSession().open(`${gateway.base}/v2/login`)).text).toContain('No account exists yet');
  });

  test('refuses what it does not understand, and passwords that are arguments or short', async () => {
    for (const parameters of [
      [],
      ['add'],
      ['add', 'alice', 'password1'],
      ['frobnicate', 'alice'],
      ['list', '--nonsense'],
      ['list', 'alice'],
      ['list', '--all'],
      ['add', 'a b'],
      // Whom these are about was forgotten, and it is not everybody.
      ['password'],
      ['disable'],
      ['enable'],
      ['remove'],
      ['remove', '--all'],
      ['sign-out'],
    ]) {
      const { code, out, error } = await accounts(parameters, 'some password\n');
      expect([code, out], parameters.join(' ')).toEqual([2, '']);
      expect(error).toContain('Usage: npm run accounts');
    }
    expect(await accounts(['add', 'bob'], 'short\n')).toMatchObject({
      code: 1,
      error: 'A password has at least 8 characters.\n',
    });
    expect(await accounts(['add', 'bob'])).toMatchObject({ code: 1 });
    expect(await accounts(['add', 'bob'], 'PassWord1\n')).toMatchObject({
      code: 1,
      error: 'This password is one of those that are tried first. Please choose another.\n',
    });
    // The first letter is Cyrillic.
    const lookAlike = await accounts(['add', '\u0430lice'], 'some password\n');
    expect(lookAlike).toMatchObject({ code: 2, error: expect.stringContaining('of different scripts') });
    expect((await accounts(['list'])).out).not.toContain('bob');
  });

  test.runIf(kind === 'SQLite')(
    'reads the password from a pipe, and keeps what is made of it at great cost',
    async () => {
      const program = fileURLToPath(new URL('../../scripts/accounts.ts', import.meta.url));
      const child = spawn(process.execPath, [program, 'add', 'judy', '--state', gateway.folder]);
      const ended = once(child, 'close');
      child.stdin.end('a password for judy\nsecond line\n');
      expect(await text(child.stdout)).toBe('Added judy.\n');
      expect((await ended)[0]).toBe(0);
      expect((await gateway.store.findAccount('judy'))?.passwordHash).toMatch(/^\$scrypt\$ln=17,r=8,p=1\$/);
    },
  );

  test.runIf(kind === 'SQLite')('T9 the audit log has every change, by whom, and no password', async () => {
    await accounts(['add', 'Dora'], 'a password for dora\n');
    const client = new PackageManager(gateway.base);
    client.callback((await signIn('dora', 'a password for dora')).location);
    await accounts(['password', 'dora'], 'another one for dora\n');
    for (const command of ['disable', 'enable', 'sign-out', 'remove']) await accounts([command, 'dora']);
    // What changed nothing is no event.
    await accounts(['remove', 'dora']);
    const text = readFileSync(join(gateway.folder, 'gateway-audit.jsonl'), 'utf8');
    const lines = text.trimEnd().split('\n');
    const events = lines.map((line) => JSON.parse(line)).filter(({ name }) => name === 'dora');
    expect(events.map(({ event }) => event)).toEqual([
      'account-added',
      'account-password-set',
      'account-disabled',
      'account-enabled',
      'account-signed-out',
      'account-removed',
    ]);
    for (const event of events) {
      expect(event).toMatchObject({ channel: 'audit', account: events[0].account, operator: expect.any(String) });
    }
    expect(events[4]).toMatchObject({ devices: 1 });
    expect(text).not.toMatch(/for dora/);
  });

  test('sign-out counts the devices that list shows, and no sign-in that can no longer be refreshed', async () => {
    const accountId = await addAccount(gateway.store, 'oscar');
    const over = openProtocol(gateway.store, { credentialLife: 0, refreshLife: 0 });
    for (const protocol of [over, openProtocol(gateway.store), over]) await issue(protocol, accountId);
    const refreshed = await issue(openProtocol(gateway.store, { credentialLife: 0 }), accountId);
    expect(await openProtocol(gateway.store).refresh(refreshed)).toMatchObject({ decision: 'rotate' });
    expect((await accounts(['list'])).out).toMatch(/^oscar +2 /m);
    expect((await accounts(['sign-out', 'oscar'])).out).toBe('Signed oscar out on 2 devices.\n');
    await gateway.store.signOutEverybody();
    for (const protocol of [over, openProtocol(gateway.store)]) await issue(protocol, accountId);
    expect(await gateway.store.signOutEverybody()).toMatchObject({ devices: 1 });
  });

  test('T15 sign-out --all ends every sign-in and every browser session, whosever', async () => {
    const people = ['erin', 'frank'];
    const clients: PackageManager[] = [];
    const browsers: BrowserSession[] = [];
    for (const name of people) {
      await addAccount(gateway.store, name);
      const client = new PackageManager(gateway.base);
      client.callback((await signIn(name, password)).location);
      clients.push(client);
      browsers.push(await openDevices(name));
    }
    expect((await accounts(['sign-out', 'erin', '--all'])).code).toBe(2);
    expect((await accounts(['sign-out', '--all'])).out).toBe('Signed everybody out, on 2 devices.\n');
    for (const client of clients) expect(await client.request()).toBe(401);
    for (const browser of browsers) expect((await browser.open(`${gateway.base}/v2/devices`)).status).toBe(303);
    const text = readFileSync(join(gateway.folder, 'gateway-audit.jsonl'), 'utf8');
    const events = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events).toContainEqual(expect.objectContaining({ event: 'everybody-signed-out', devices: 2 }));
  });

  // Which portions there are is said above the database.
  test.runIf(kind === 'SQLite')('T15 more sign-ins and browsers than three portions are all ended', async () => {
    const accountId = await addAccount(gateway.store, 'ivan');
    await issue(openProtocol(gateway.store), accountId);
    const tokenHash = createNodeCryptography().sha256('a browser');
    await gateway.store.addBrowser({ tokenHash, accountId, sessionLife: 60_000, life: 60_000 });
    const file = new DatabaseSync(join(gateway.folder, 'gateway.sqlite'));
    repeatSignIn(file, 1500);
    repeatRow(file, 'gateway_browsers', 1500, { token_hash: 'randomblob(32)' });
    const living = () => [
      file.prepare('select count(*) as rows from gateway_families where revoked_at is null').get()?.rows,
      file.prepare('select count(*) as rows from gateway_browsers').get()?.rows,
    ];
    const [signIns, browsers] = living();
    expect(signIns).toBe(1501);
    expect(browsers).toBeGreaterThan(1500);
    expect((await accounts(['sign-out', '--all'])).out).toBe('Signed everybody out, on 1501 devices.\n');
    expect(living()).toEqual([0, 0]);
    file.close();
    expect(await gateway.store.listDevices(accountId)).toEqual([]);
    expect(await gateway.store.findBrowser(tokenHash)).toBeUndefined();
  });

  test('takes the account of a provider by its name as it is listed, whose letters may be capitals', async () => {
    await addAccount(gateway.store, 'idp:Mallory');
    expect((await accounts(['list'])).out).toMatch(/^idp:Mallory /m);
    expect(await accounts(['remove', 'idp:mallory'])).toMatchObject({ code: 1 });
    expect(await accounts(['password', 'idp:Mallory'], 'second password\n')).toMatchObject({
      code: 1,
      error: 'idp:Mallory is an account of an OpenID provider, which has its password.\n',
    });
    expect(await accounts(['remove', 'idp:Mallory'])).toMatchObject({ code: 0, out: 'Removed idp:Mallory.\n' });
  });

  test('T15 a new password ends the browser sessions of the account, and of no other', async () => {
    for (const name of ['grace', 'heidi']) await addAccount(gateway.store, name);
    const [own, other] = [await openDevices('grace'), await openDevices('heidi')];
    expect(await accounts(['password', 'grace'], 'second password\n')).toMatchObject({ code: 0 });
    expect((await own.open(`${gateway.base}/v2/devices`)).status).toBe(303);
    expect((await other.open(`${gateway.base}/v2/devices`)).status).toBe(200);
  });

  test.runIf(kind === 'SQLite')('T4 the longest password that is taken can be typed on the sign-in page', async () => {
    for (const [name, longest] of [
      ['long-latin', 'ü'.repeat(1024)],
      ['long-han', '界'.repeat(795)],
    ] as const) {
      expect(await accounts(['add', name], `${longest}\n`)).toMatchObject({ code: 0 });
      expect((await signIn(name, longest)).status).toBe(303);
      expect((await signIn(name, longest.slice(1))).status).toBe(403);
    }
  });
});

test('T9 asks a Worker only where the key is safe on its way, and says what came of it without the key', async () => {
  const key = 'k'.repeat(40);
  let answer: [status: number, body: string] = [200, '{}'];
  const sent: string[] = [];
  const server = createServer(async (request, response) => {
    sent.push(await text(request));
    response.writeHead(answer[0]).end(answer[1]);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const list = (address: string, by = key) =>
    runScript('accounts', ['list', '--at', address], { environment: { DEBDEX_OPERATOR_KEY: by } });
  for (const address of ['http://index.example.org', `${at}/below`, `${at}?a=b`, 'ftp://127.0.0.1', 'index']) {
    expect(await list(address), address).toMatchObject({ status: 2, error: expect.stringContaining('--at must be') });
  }
  const named = await list('https://alice:secret@index.example.org');
  expect(named).toMatchObject({ status: 2, error: expect.stringContaining('--at must be') });
  expect(named.text).not.toContain('secret');
  expect((await list(at, '')).error).toContain('needs the key');
  const twoLines = await list(at, `${key}\n${key}`);
  expect([twoLines.status, twoLines.text.includes(key)]).toEqual([2, false]);
  expect(twoLines.error).toContain('DEBDEX_OPERATOR_KEY must be one line');
  // Somebody else's server, and a page of a network that one has to sign in to.
  for (answer of [
    [200, '{}'],
    [200, '<p>Welcome'],
    [200, 'null'],
    [404, '<p>none'],
  ] as [number, string][]) {
    const reason = `${at} answered ${answer[0]}: nothing that a gateway of Debdex says`;
    expect(await list(at)).toMatchObject({ status: 1, error: `The credential store cannot be reached: ${reason}\n` });
  }
  answer = [401, '{"error":"Send the key"}'];
  expect((await list(at)).error).toBe(`The credential store cannot be reached: ${at} answered 401: Send the key\n`);
  answer = [200, '{"value":[]}'];
  expect(await list(at)).toMatchObject({ status: 0, out: expect.stringContaining('no account yet') });
  // A Worker, which checks the password, has no more memory than that.
  answer = [200, '{"value":true}'];
  const added = await runScript('accounts', ['add', 'alice', '--at', at, '--state', temporaryFolder()], {
    environment: { DEBDEX_OPERATOR_KEY: key },
    input: 'first password\n',
  });
  expect(added).toMatchObject({ status: 0, out: 'Added alice.\n' });
  expect(sent.at(-1)).toContain('$scrypt$ln=15,r=8,p=4$');
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  expect((await list(at)).error).toMatch(/^The credential store cannot be reached: .*ECONNREFUSED/);
});

test('ends where it cannot open the store, however long PostgreSQL is kept from an update of the tables', async () => {
  const url = await newDatabase();
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  onTestFinished(() => other.end());
  await other.query('begin; create table gateway_schema (version integer not null)');
  const program = fileURLToPath(new URL('../../scripts/accounts.ts', import.meta.url));
  const environment = { ...process.env, GATEWAY_DATABASE_URL: url };
  const child = spawn(process.execPath, [program, 'list', '--state', temporaryFolder()], { env: environment });
  onTestFinished(() => void child.kill());
  const ended = once(child, 'close');
  expect(await text(child.stderr)).toBe('The credential store cannot be reached: not done within 5000 ms\n');
  expect((await ended)[0]).toBe(1);
});

test.each([
  ['accounts', ['list', '--stat', 'x'], 'accounts: There is no flag --stat (--state?)'],
  ['accounts', ['list', '--nonsense'], 'accounts: There is no flag --nonsense'],
  ['gateway', ['restore', 'file', '--keep-sign-in'], 'gateway: There is no flag --keep-sign-in (--keep-sign-ins?)'],
])('npm run %s -- %j names the flag that is none, and the one that was meant', async (name, parameters, sentence) => {
  const { status, error } = await runScript(name, parameters);
  expect([status, error.split('\n')[0]]).toEqual([2, sentence]);
});

test('says what is in the place of the state folder, or of the store', async () => {
  const folder = temporaryFolder();
  const [file, state, backup] = ['file', 'state', 'backup'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(file, '');
  mkdirSync(join(state, 'gateway.sqlite'), { recursive: true });
  const commands = [
    ['accounts', 'list'],
    ['accounts', 'add', 'alice'],
    ['gateway', 'backup', backup],
    ['gateway', 'restore', file],
  ] as const;
  for (const [name, ...parameters] of commands) {
    const [inFile, inFolder] = [
      await runScript(name, [...parameters, '--state', file], { input: 'first password\n' }),
      await runScript(name, [...parameters, '--state', state], { input: 'first password\n' }),
    ];
    const place = join(state, 'gateway.sqlite');
    expect([inFile.status, inFile.error], parameters.join(' ')).toEqual([
      1,
      `${file} is no folder: name another --state.\n`,
    ]);
    expect([inFolder.status, inFolder.error], parameters.join(' ')).toEqual([
      1,
      `${place} is a folder, where the accounts would be: move it away, or name another --state.\n`,
    ]);
  }
  expect(readdirSync(folder).sort()).toEqual(['file', 'state']);
});

test('makes no store where --state names no folder of one, and a first account one in a state folder alone', async () => {
  const folder = temporaryFolder();
  const typo = join(folder, 'typo');
  for (const parameters of [['list'], ['password', 'alice'], ['sign-out', '--all'], ['add', 'alice']]) {
    const ended = await runScript('accounts', [...parameters, '--state', typo], { input: 'first password\n' });
    expect(ended, parameters.join(' ')).toMatchObject({
      status: 1,
      error: `There is no state folder ${typo}: build first, or name another --state.\n`,
    });
  }
  const listed = await runScript('accounts', ['list', '--state', folder]);
  expect(listed).toMatchObject({ status: 1, error: expect.stringContaining(`There are no accounts in ${folder}`) });
  expect(readdirSync(folder)).toEqual([]);
  const added = await runScript('accounts', ['add', 'alice', '--state', folder], { input: 'first password\n' });
  expect(added).toMatchObject({ status: 0, out: 'Added alice.\n' });
  // What is typed goes before what the environment has for every command.
  const environment = { DEBDEX_STATE: typo, DEBDEX_STAET: folder };
  const both = await runScript('accounts', ['list', '--state', folder], { environment });
  expect(both.out).toContain('alice');
  expect(both.error).toBe('Nothing reads DEBDEX_STAET (DEBDEX_STATE?): --help names the variables of a command.\n');
  expect((await runScript('accounts', ['list'], { environment: { DEBDEX_STATE: folder } })).out).toBe(both.out);
});

test('what is empty or no path is bad usage and no folder, whatever a script forgot to set', async () => {
  const file = join(temporaryFolder(), 'backup');
  for (const [name, parameters, environment, reason] of [
    ['accounts', ['list', '--state', ''], {}, '--state must not be empty'],
    ['accounts', ['sign-out', '--all'], { DEBDEX_STATE: '' }, 'DEBDEX_STATE must not be empty'],
    ['accounts', ['disable', ''], {}, 'NAME must not be empty'],
    ['gateway', ['restore', file, '--state', ''], {}, '--state must not be empty'],
    ['gateway', ['restore', file], { DEBDEX_STATE: '' }, 'DEBDEX_STATE must not be empty'],
    ['accounts', ['list'], { DEBDEX_STATE: '~/state' }, 'DEBDEX_STATE must be a path without ~'],
    ['gateway', ['restore', file, '--state', 'state\n'], {}, '--state must be a path without blanks'],
    ['gateway', ['backup', ''], {}, 'FILE must not be empty'],
  ] as const) {
    const ended = await runScript(name, parameters, { environment });
    expect(ended, parameters.join(' ')).toMatchObject({
      status: 2,
      error: expect.stringContaining(`${name}: ${reason}`),
    });
  }
});

test('a wrong setting is bad usage, as it is of a server, and says how a password is written into an address', async () => {
  const environment = { GATEWAY_DATABASE_URL: 'postgres://user:pass#word@127.0.0.1/gateway' };
  for (const [name, parameters] of [
    ['accounts', ['list']],
    ['gateway', ['backup', join(temporaryFolder(), 'backup')]],
  ] as const) {
    const ended = await runScript(name, parameters, { environment });
    expect(ended, name).toMatchObject({ status: 2, out: '', error: expect.stringContaining('write %23 for #') });
    expect(ended.error).not.toContain('pass#word');
  }
});

test.runIf(process.getuid?.() === 0)(
  'what root makes belongs to whoever has the state folder, and to nobody else',
  async () => {
    const folder = temporaryFolder();
    const owner = 65_534;
    chownSync(folder, owner, owner);
    const added = await runScript('accounts', ['add', 'alice', '--state', folder], { input: 'first password\n' });
    expect(added).toMatchObject({ status: 0, error: '' });
    const made = readdirSync(folder).map((name) => ({ name, ...statSync(join(folder, name)) }));
    expect(made.map(({ name, uid, gid, mode }) => [name, uid, gid, mode & 0o777])).toEqual([
      ['gateway-audit.jsonl', owner, owner, 0o600],
      ['gateway.sqlite', owner, owner, 0o600],
    ]);
    // Nobody is given by it what a link leads to.
    const [target, link] = [join(temporaryFolder(), 'target'), join(folder, 'linked')];
    writeFileSync(target, '');
    symlinkSync(target, link);
    makePrivateFile(link);
    expect(statSync(target).uid).toBe(0);
  },
);

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BrowserSession } from '../support/browser-session.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { authenticate, PackageManager, readCallback } from '../support/package-manager.ts';
import { describeStores } from '../support/stores.ts';

const program = fileURLToPath(new URL('../../scripts/accounts.ts', import.meta.url));

describeStores('the accounts command', (newStore) => {
  let gateway: TestGateway;
  let environment: Readonly<Record<string, string>>;
  beforeAll(async () => {
    environment = await newStore();
    gateway = await startGateway(environment, { now: Date.now() });
  });
  afterAll(() => gateway.close());

  const accounts = async (parameters: readonly string[], input = '') => {
    const child = spawn(process.execPath, [program, ...parameters, '--state', gateway.folder], {
      env: { ...process.env, ...environment },
      stdio: 'pipe',
    });
    child.stdin.end(input);
    let out = '';
    let error = '';
    child.stdout.on('data', (text) => (out += text));
    child.stderr.on('data', (text) => (error += text));
    const code = await new Promise((resolve) => child.once('close', resolve));
    return { code, out, error };
  };
  const signIn = async (name: string, password: string) => {
    const browser = new BrowserSession();
    const page = await browser.open(await authenticate(gateway.base));
    return browser.submit(page, { name, password });
  };

  test('adds, lists, disables, enables, changes the password, signs out and removes', async () => {
    expect(await accounts(['list'])).toMatchObject({ code: 0, out: expect.stringContaining('no account yet') });
    expect(await accounts(['add', 'Alice'], 'first password\nsecond line\n')).toEqual({
      code: 0,
      out: 'Added alice.\n',
      error: '',
    });
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
      ['add', 'a b'],
    ]) {
      const { code, error } = await accounts(parameters, 'some password\n');
      expect(code, parameters.join(' ')).toBe(2);
      expect(error).toContain('Usage: npm run accounts');
    }
    expect(await accounts(['add', 'bob'], 'short\n')).toMatchObject({
      code: 1,
      error: 'A password has at least 8 characters.\n',
    });
    expect(await accounts(['add', 'bob'])).toMatchObject({ code: 1 });
    expect((await accounts(['list'])).out).not.toContain('bob');
  });
});

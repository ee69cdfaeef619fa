import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createNodePasswords } from '../../functions/gateway/node/node-passwords.ts';
import { StoreUnavailable } from '../../functions/gateway/store/credential-store.ts';
import { BrowserSession } from '../support/browser-session.ts';
import { addAccount, password, startGateway, type TestGateway, weakCost } from '../support/gateway-session.ts';
import { authenticate, logIn, readCallback } from '../support/package-manager.ts';
import { describeEveryStore } from '../support/stores.ts';

const minute = 60_000;

describeEveryStore('sign-in', (newStore) => {
  let gateway: TestGateway;
  let account: string;
  beforeAll(async () => {
    gateway = await startGateway({ ...(await newStore()), GATEWAY_CALLBACKS: 'sileo:, zbra:' });
    account = await addAccount(gateway.store, 'alice');
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(() => gateway.close());
  const countDevices = async () => (await gateway.store.listDevices(account)).length;

  test('T3 a handle works once', async () => {
    const authUrl = await authenticate(gateway.base);
    const browser = new BrowserSession();
    const page = await browser.open(authUrl);
    const before = await countDevices();
    expect((await browser.submit(page, { name: 'alice', password })).status).toBe(303);
    const again = await browser.submit(page, { name: 'alice', password });
    expect(again.status).toBe(410);
    expect(again.text).toContain('has been used');
    expect((await browser.open(authUrl)).status).toBe(410);
    expect(await countDevices()).toBe(before + 1);
  });

  test('T3 a wrong password does not use the handle up', async () => {
    const browser = new BrowserSession();
    const page = await browser.open(await authenticate(gateway.base));
    const wrong = await browser.submit(page, { name: 'alice', password: 'wrong' });
    expect(wrong.status).toBe(403);
    expect((await browser.submit(wrong, { name: 'alice', password })).status).toBe(303);
  });

  test('T3 a handle expires after ten minutes', async () => {
    const browser = new BrowserSession();
    const authUrl = await authenticate(gateway.base);
    gateway.advance(10 * minute - 1);
    const page = await browser.open(authUrl);
    expect(page.status).toBe(200);
    gateway.advance(1);
    const late = await browser.submit(page, { name: 'alice', password });
    expect(late.status).toBe(410);
    expect(late.text).toContain('has expired');
  });

  test('T3 a handle that expires while the password is being checked completes nothing', async () => {
    const browser = new BrowserSession();
    const page = await browser.open(await authenticate(gateway.base));
    const before = await countDevices();
    const find = gateway.store.findAccount;
    vi.spyOn(gateway.store, 'findAccount').mockImplementationOnce(async (name) => {
      const found = await find(name);
      gateway.advance(10 * minute);
      return found;
    });
    const late = await browser.submit(page, { name: 'alice', password });
    expect([late.status, late.location]).toEqual([410, undefined]);
    expect(await countDevices()).toBe(before);
  });

  test('T3 an unknown handle is answered as such', async () => {
    const page = await new BrowserSession().open(`${gateway.base}/v2/login?request=${'A'.repeat(43)}`);
    expect(page.status).toBe(410);
    expect(page.text).toContain('not known here');
  });

  test('T3 a handle is bound to its callback, udid and model', async () => {
    const one = await authenticate(gateway.base, {
      callback: 'sileo://one',
      udid: '1'.repeat(36).concat('AAAA'),
      model: 'Model One',
    });
    const two = await authenticate(gateway.base, {
      callback: 'zbra://two',
      udid: '2'.repeat(36).concat('BBBB'),
      model: 'Model Two',
    });
    expect((await new BrowserSession().open(two)).text).toContain('Model Two');
    const first = await logIn(one, 'alice');
    const second = await logIn(two, 'alice');
    expect(first.location).toMatch(/^sileo:\/\/one\?/);
    expect(second.location).toMatch(/^zbra:\/\/two\?/);
    const devices = await gateway.store.listDevices(account);
    expect(devices).toContainEqual(
      expect.objectContaining({ model: 'Model One', maskedUdid: '••••AAAA', application: 'sileo:' }),
    );
    expect(devices).toContainEqual(
      expect.objectContaining({ model: 'Model Two', maskedUdid: '••••BBBB', application: 'zbra:' }),
    );
    const authorization = `Bearer ${readCallback(second.location).auth_token}`;
    const answer = await fetch(`${gateway.base}/v2/account`, { headers: { authorization } });
    expect(await answer.json()).toMatchObject({ data: { name: 'alice', device: { model: 'Model Two' } } });
  });

  test('T3 the form of one handle does not complete another', async () => {
    const browser = new BrowserSession();
    const page = await browser.open(await authenticate(gateway.base));
    const other = new URL(await authenticate(gateway.base)).searchParams.get('request') ?? '';
    expect((await browser.submit(page, { name: 'alice', password, request: other })).status).toBe(403);
  });

  test('T3 twenty parallel completions yield one set', async () => {
    const browser = new BrowserSession();
    const page = await browser.open(await authenticate(gateway.base));
    const before = await countDevices();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => browser.submit(page, { name: 'alice', password })),
    );
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(answers.every(({ status }) => [303, 410, 429, 503].includes(status))).toBe(true);
    expect(await countDevices()).toBe(before + 1);
  });

  test('T4 a password that is replaced while it is being checked signs nobody in', async () => {
    const { store } = gateway;
    await addAccount(store, 'carol');
    const browser = new BrowserSession();
    const page = await browser.open(await authenticate(gateway.base));
    const find = store.findAccount;
    vi.spyOn(store, 'findAccount').mockImplementationOnce(async (name) => {
      const found = await find(name);
      await store.setPassword('carol', await createNodePasswords(1, weakCost).hash('another good passphrase'));
      return found;
    });
    const late = await browser.submit(page, { name: 'carol', password });
    expect([late.status, late.location]).toEqual([403, undefined]);
    expect((await browser.submit(late, { name: 'carol', password: 'another good passphrase' })).status).toBe(303);
  });

  test('T4 an account that is disabled while its password is being checked signs in nowhere', async () => {
    const { store, log } = gateway;
    await addAccount(store, 'erin');
    const find = store.findAccount;
    for (const address of [await authenticate(gateway.base), `${gateway.base}/v2/login`]) {
      const browser = new BrowserSession();
      const page = await browser.open(address);
      const before = log.length;
      vi.spyOn(store, 'findAccount').mockImplementationOnce(async (name) => {
        const found = await find(name);
        await store.setDisabled('erin', true);
        return found;
      });
      const late = await browser.submit(page, { name: 'erin', password });
      expect([late.status, late.location]).toEqual([403, undefined]);
      expect(late.text).toContain('The account name or the password is wrong.');
      expect(log.slice(before).map((line) => JSON.parse(line).event)).toEqual(['sign-in-failed']);
      await store.setDisabled('erin', false);
      expect((await browser.open(`${gateway.base}/v2/devices`)).status).toBe(303);
    }
  });

  test('T8 a try that the store did not let come to its end is no failed one', async () => {
    const { store } = gateway;
    await addAccount(store, 'dora');
    const browser = new BrowserSession();
    const page = await browser.open(await authenticate(gateway.base));
    const find = store.findAccount;
    for (let time = 0; time < 6; time++) {
      vi.spyOn(store, 'findAccount')
        .mockImplementationOnce(find)
        .mockRejectedValueOnce(new StoreUnavailable(new Error('away')));
      expect((await browser.submit(page, { name: 'dora', password })).status).toBe(503);
      vi.restoreAllMocks();
    }
    expect((await browser.submit(page, { name: 'dora', password })).status).toBe(303);
  });

  test('T8 an application gets its credentials where the store fails after they were made', async () => {
    const { store, log } = gateway;
    const refuse = () => vi.spyOn(store, 'addBrowser').mockRejectedValueOnce(new StoreUnavailable(new Error('full')));
    const browser = new BrowserSession();
    const page = await browser.open(await authenticate(gateway.base));
    refuse();
    const before = log.length;
    const { location } = await browser.submit(page, { name: 'alice', password });
    const authorization = `Bearer ${readCallback(location).auth_token}`;
    expect((await fetch(`${gateway.base}/v2/account`, { headers: { authorization } })).status).toBe(200);
    expect([...browser.cookies.keys()]).toEqual(['gateway-form']);
    const events = log.slice(before).map((line) => JSON.parse(line).event);
    expect(events).toEqual(['store-unavailable', 'sign-in']);

    const devices = await browser.open(`${gateway.base}/v2/login`);
    refuse();
    expect((await browser.submit(devices, { name: 'alice', password })).status).toBe(503);
    expect((await browser.submit(devices, { name: 'alice', password })).location).toBe('/v2/devices');
  });
});

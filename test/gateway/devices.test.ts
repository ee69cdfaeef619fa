import { afterAll, beforeAll, expect, test } from 'vitest';
import { createNodeCryptography } from '../../functions/gateway/node/node-cryptography.ts';
import { devicesShown } from '../../functions/gateway/store/credential-store.ts';
import { BrowserSession } from '../support/browser-session.ts';
import { addAccount, password, post, startGateway, type TestGateway } from '../support/gateway-session.ts';
import { issue, openProtocol } from '../support/issue.ts';
import { authenticate, logIn, PackageManager } from '../support/package-manager.ts';
import { describeEveryStore } from '../support/stores.ts';

const minute = 60_000;
const udid = '00008030-001A2B3C4D5EBEEF';

describeEveryStore('the devices page', (newStore) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway(await newStore());
    for (const name of ['alice', 'bob']) await addAccount(gateway.store, name);
  });
  afterAll(() => gateway.close());

  const openDevices = async (name: string, browser = new BrowserSession()) => {
    const asked = await browser.open(`${gateway.base}/v2/devices`);
    expect(asked.status).toBe(303);
    const done = await browser.submit(await browser.open(new URL(asked.location ?? '', gateway.base).href), {
      name,
      password,
    });
    expect(done.location).toBe('/v2/devices');
    return { browser, page: await browser.open(`${gateway.base}/v2/devices`) };
  };
  const newClient = async (name: string, model: string) => {
    const client = new PackageManager(gateway.base);
    client.callback((await logIn(await authenticate(gateway.base, { model, udid }), name)).location);
    return client;
  };

  test('lists the devices of the account and signs one of them out', async () => {
    const [one, two] = [await newClient('alice', 'iPhone One'), await newClient('alice', 'iPad Two')];
    await newClient('bob', 'iPod Bob');
    const { browser, page } = await openDevices('alice');
    expect(page.status).toBe(200);
    expect(page.text).toContain('iPhone One');
    expect(page.text).toContain('iPad Two');
    expect(page.text).not.toContain('iPod Bob');
    expect(page.text).toContain('••••BEEF');
    expect(page.text).not.toContain(udid);
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self';");

    const item = /<li[\s\S]*?<h2><bdi>iPad Two[\s\S]*?name="family" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    expect((await browser.submit(page, {}, { within: item })).location).toBe('/v2/devices?done');
    expect(await two.request()).toBe(401);
    expect(two.state).toBe('signed out');
    expect(await one.request()).toBe(200);
    const after = await browser.open(`${gateway.base}/v2/devices?done`);
    expect(after.text).not.toContain('iPad Two');
    expect(after.text).toContain('The device is signed out.');
  });

  test('shows when a device was last used', async () => {
    gateway.advance(24 * 60 * minute);
    const client = await newClient('bob', 'Clock');
    gateway.advance(20 * minute);
    expect(await client.request()).toBe(200);
    const used = new Date(gateway.now()).toISOString();
    // It is noted beside the answer, which does not wait for that.
    await expect.poll(async () => (await openDevices('bob')).page.text).toContain(`Last used <time datetime="${used}"`);
    // Each time it is used it would cost the store a write.
    gateway.advance(9 * minute);
    expect(await client.request()).toBe(200);
    expect(await gateway.health()).toBe(true);
    const { page } = await openDevices('bob');
    expect(page.text).toContain(`Last used <time datetime="${used}"`);
    // A refresh is a use too.
    gateway.advance(60 * minute);
    expect((await post(`${gateway.base}/v2/refresh`, client.credentials)).status).toBe(200);
    const refreshed = new Date(gateway.now()).toISOString();
    expect((await openDevices('bob')).page.text).toContain(`Last used <time datetime="${refreshed}"`);
  });

  test('a use that is noted late does not take a later one back', async () => {
    const account = await addAccount(gateway.store, 'late');
    await issue(openProtocol(gateway.store), account);
    const used = async () => (await gateway.store.listDevices(account))[0];
    const { familyId = '', signedInAt = 0 } = (await used()) ?? {};
    for (const after of [20 * minute, 20 * minute - 1]) {
      await gateway.store.touchFamily(familyId, signedInAt + after);
      expect(await used()).toMatchObject({ lastUsedAt: signedInAt + 20 * minute });
    }
  });

  test('T12 shows the newest of an account that has any number of them, and says that there are others', async () => {
    const id = await addAccount(gateway.store, 'dora');
    const protocol = openProtocol(gateway.store);
    for (let count = 0; count < devicesShown + 5; count++) await issue(protocol, id);
    gateway.advance(1);
    await newClient('dora', 'Newest');
    expect(await gateway.store.listDevices(id)).toHaveLength(devicesShown + 1);
    const { browser, page } = await openDevices('dora');
    expect(page.text.match(/<li /g)).toHaveLength(devicesShown);
    expect(page.text).toContain('Newest');
    expect(page.text).toContain(`These are the ${devicesShown} newest.`);
    expect((await browser.submit(page, {}, { within: 'Newest' })).status).toBe(303);
    for (const { familyId } of (await gateway.store.listDevices(id)).slice(0, 4)) {
      await gateway.store.revokeFamily(familyId, id);
    }
    const rest = await browser.open(`${gateway.base}/v2/devices`);
    expect(rest.text.match(/<li /g)).toHaveLength(devicesShown);
    expect(rest.text).toContain('newest');
    await browser.submit(rest, {}, { within: 'name="family"' });
    expect((await browser.open(`${gateway.base}/v2/devices`)).text).not.toContain('newest');
  });

  test('nobody signs out what is not theirs', async () => {
    const client = await newClient('alice', 'Target');
    const { page: own } = await openDevices('alice');
    const family = /name="family" value="([^"]+)"/.exec(own.text)?.[1] ?? '';
    await newClient('bob', 'iPod Bob');
    const { browser, page } = await openDevices('bob');
    await browser.submit(page, { family }, { within: 'name="family"' });
    expect(await client.request()).toBe(200);
    expect((await browser.submit(page, { family, csrf: 'x' }, { within: 'name="family"' })).status).toBe(403);
    const outsider = await new BrowserSession().submit(own, { family }, { within: family });
    expect(outsider.status).toBe(403);
    expect(await client.request()).toBe(200);
  });

  test('what is no identifier of a sign-in signs nobody out and is no fault of the store', async () => {
    const client = await newClient('alice', 'Target');
    const { browser, page } = await openDevices('alice');
    const before = gateway.log.length;
    for (const family of ['', '\0', 'x\0y', '\ud800', '__proto__', "' or ''='", 'x'.repeat(7000)]) {
      const done = await browser.submit(page, { family }, { within: 'name="family"' });
      expect([done.status, done.location], JSON.stringify(family.slice(0, 9))).toEqual([303, '/v2/devices?done']);
    }
    expect(gateway.log.slice(before)).toEqual([]);
    expect(await client.request()).toBe(200);
  });

  test('the session ends by leaving, after half an hour, with the account and with another sign-in', async () => {
    const devices = `${gateway.base}/v2/devices`;
    const first = await openDevices('alice');
    const old = new Map(first.browser.cookies);
    await first.browser.submit(first.page, {}, { within: 'Leave' });
    expect([...first.browser.cookies.keys()]).toEqual(['gateway-form']);
    expect((await first.browser.open(devices)).status).toBe(303);
    const cookie = [...old].map(([name, value]) => `${name}=${value}`).join('; ');
    expect((await new BrowserSession().open(devices, { cookie })).status).toBe(303);

    const second = await openDevices('alice');
    gateway.advance(30 * minute - 1);
    expect((await second.browser.open(devices)).status).toBe(200);
    gateway.advance(1);
    expect((await second.browser.open(devices)).status).toBe(303);

    const third = await openDevices('alice');
    await gateway.store.signOutAccount('alice');
    expect((await third.browser.open(devices)).status).toBe(303);

    // What somebody has copied of the browser before is of no use after it.
    const fourth = await openDevices('alice');
    const before = [...fourth.browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    expect((await new BrowserSession().open(devices, { cookie: before })).status).toBe(200);
    const form = await fourth.browser.open(`${gateway.base}/v2/login`);
    expect((await fourth.browser.submit(form, { name: 'bob', password })).location).toBe('/v2/devices');
    expect((await new BrowserSession().open(devices, { cookie: before })).status).toBe(303);
    expect((await fourth.browser.open(devices)).status).toBe(200);
  });

  test('T13 a browser is known until its time is over and while its account may sign in, and signed in for less', async () => {
    const tokenHash = createNodeCryptography().sha256(`a browser on ${gateway.base}`);
    const accountId = await addAccount(gateway.store, 'carol');
    await gateway.store.addBrowser({ tokenHash, accountId, sessionLife: minute, life: 3 * minute });
    const find = () => gateway.store.findBrowser(tokenHash);
    expect(await find()).toMatchObject({ accountName: 'carol', signedIn: true });
    gateway.advance(minute);
    expect(await find()).toMatchObject({ accountName: 'carol', signedIn: false });
    await gateway.store.setDisabled('carol', true);
    expect(await find()).toBeUndefined();
    await gateway.store.setDisabled('carol', false);
    const known = await find();
    gateway.advance(2 * minute - 1);
    expect(await find()).toEqual(known);
    gateway.advance(1);
    expect(await find()).toBeUndefined();
  });

  test('a device that has not come back for so long that it cannot any more is not listed, neither for its owner nor for the operator', async () => {
    const accountId = await addAccount(gateway.store, 'dave');
    await newClient('dave', 'Forgotten');
    const counted = async () => (await gateway.store.listAccounts()).find(({ name }) => name === 'dave')?.devices;
    gateway.advance(180 * 24 * 60 * minute - 1);
    expect([await gateway.store.listDevices(accountId), await counted()]).toMatchObject([{ length: 1 }, 1]);
    gateway.advance(1);
    expect([await gateway.store.listDevices(accountId), await counted()]).toMatchObject([{ length: 0 }, 0]);
  });

  test('an application’s sign-in does not open the devices page', async () => {
    const browser = new BrowserSession();
    await logIn(await authenticate(gateway.base), 'alice', browser);
    expect((await browser.open(`${gateway.base}/v2/devices`)).status).toBe(303);
  });
});

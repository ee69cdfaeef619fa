import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addAccount, post, readJson, startGateway, type TestGateway } from '../support/gateway-session.ts';
import { signIn } from '../support/package-manager.ts';
import { describeEveryStore } from '../support/stores.ts';

const secret = 's'.repeat(32);
const udid = '00008030-001A2B3C4D5E6F70';
const hour = 3_600_000;

const asker = (gateway: () => TestGateway) => async (body: Record<string, unknown>) => {
  const response = await post(`${gateway().base}/v2/introspect`, body, { authorization: `Bearer ${secret}` });
  return response.status === 200 ? (await readJson(response)).active : response.status;
};

describeEveryStore('introspection', (newStore) => {
  let gateway: TestGateway;
  let environment: Readonly<Record<string, string>>;
  beforeAll(async () => {
    environment = { ...(await newStore()), GATEWAY_INTROSPECTION_SECRETS: secret };
    gateway = await startGateway(environment);
    await addAccount(gateway.store, 'alice');
  });
  afterAll(() => gateway.close());
  const ask = asker(() => gateway);

  test('T5 a payment secret and a device identifier must belong to the token’s set', async () => {
    const one = await signIn(gateway.base, 'alice', { udid });
    const other = await signIn(gateway.base, 'alice', { udid: `${udid}0` });
    const token = one.auth_token;
    expect(await ask({ token })).toBe(true);
    expect(await ask({ token, payment_secret: one.payment_secret })).toBe(true);
    expect(await ask({ token, udid })).toBe(true);
    expect(await ask({ token, payment_secret: one.payment_secret, udid })).toBe(true);
    for (const wrong of [
      { payment_secret: other.payment_secret },
      { payment_secret: one.refresh_token },
      { payment_secret: 'x' },
      { udid: `${udid}0` },
      { udid: udid.toLowerCase() },
      { udid: '••••6F70' },
      { payment_secret: other.payment_secret, udid },
      { payment_secret: one.payment_secret, udid: `${udid}0` },
    ]) {
      expect(await ask({ token, ...wrong }), JSON.stringify(wrong)).toBe(false);
    }
    for (const malformed of [{ udid: '' }, { payment_secret: 1 }, { udid: null }, { extra: 'x' }]) {
      expect(await ask({ token, ...malformed }), JSON.stringify(malformed)).toBe(400);
    }
  });

  test('T5 both hold for the sets that follow by refreshing, the old secret no longer', async () => {
    const first = await signIn(gateway.base, 'alice', { udid });
    gateway.advance(hour);
    const second = await readJson(await post(`${gateway.base}/v2/refresh`, first));
    const token = second.auth_token;
    expect(await ask({ token, payment_secret: second.payment_secret, udid })).toBe(true);
    expect(await ask({ token, payment_secret: first.payment_secret })).toBe(false);
  });

  test('T5 replicas of one store agree on the key, and a restart keeps it', async () => {
    const { auth_token: token } = await signIn(gateway.base, 'alice', { udid });
    if (environment.GATEWAY_DATABASE_URL === undefined) return;
    const replica = await startGateway(environment);
    expect(await asker(() => replica)({ token, udid })).toBe(true);
    await replica.close();
  });
});

test('T15 a backup restored under a running server brings its key, and new sign-ins go on being confirmed', async () => {
  const gateway = await startGateway({ GATEWAY_INTROSPECTION_SECRETS: secret });
  await addAccount(gateway.store, 'alice');
  const before = await signIn(gateway.base, 'alice', { udid });
  const { backUp, restore } = await import('../../functions/gateway/store/backup.ts');
  const location = { kind: 'sqlite', file: join(gateway.folder, 'gateway.sqlite') } as const;
  const file = join(gateway.folder, 'backup');
  await backUp(location, file);
  const ask = asker(() => gateway);
  await restore(location, file, { keepSignIns: true });
  expect(await ask({ token: before.auth_token, udid })).toBe(true);
  await restore(location, file, { keepSignIns: false });
  const after = await signIn(gateway.base, 'alice', { udid });
  expect(await ask({ token: after.auth_token, udid })).toBe(true);
  expect(await ask({ token: before.auth_token })).toBe(false);
  await gateway.close();
});

test('T9 with a key of the operator’s the store holds none, and the hash is good under that key alone', async () => {
  const environment = { GATEWAY_INTROSPECTION_SECRETS: secret, GATEWAY_DEVICE_KEY: 'k'.repeat(32) };
  const gateway = await startGateway(environment);
  await addAccount(gateway.store, 'alice');
  const { auth_token: token } = await signIn(gateway.base, 'alice', { udid });
  expect(await asker(() => gateway)({ token, udid })).toBe(true);
  const file = new DatabaseSync(join(gateway.folder, 'gateway.sqlite'), { readOnly: true });
  expect(file.prepare('select count(*) as keys from gateway_keys').get()).toEqual({ keys: 0 });
  const { udid_hash: hash } = file.prepare('select udid_hash from gateway_families').get() ?? {};
  file.close();
  const { createHmac } = await import('node:crypto');
  expect(Buffer.from(hash as Uint8Array)).toEqual(createHmac('sha256', 'k'.repeat(32)).update(udid).digest());
  await gateway.close();
});

test('T5 a store from before is brought up to date; its sign-ins live on, their devices cannot be confirmed', async () => {
  const gateway = await startGateway({ GATEWAY_INTROSPECTION_SECRETS: secret });
  await addAccount(gateway.store, 'alice');
  const { auth_token: token } = await signIn(gateway.base, 'alice', { udid });
  const name = join(gateway.folder, 'gateway.sqlite');
  const file = new DatabaseSync(name);
  file.exec(`alter table gateway_families drop column udid_hash;
    alter table gateway_sign_in_requests drop column udid_hash;
    drop table gateway_keys;`);
  file.exec('update gateway_schema set version = 2');
  file.close();
  const { openGateway } = await import('../../functions/gateway/node/open-gateway.ts');
  const { readTestConfiguration } = await import('../support/gateway-session.ts');
  const configuration = readTestConfiguration({ STATE_DIR: gateway.folder, GATEWAY_INTROSPECTION_SECRETS: secret });
  const again = openGateway(configuration, { tell: () => {}, clock: gateway.now });
  const ask = async (body: object) => {
    const headers = { 'Content-Type': 'application/json', authorization: `Bearer ${secret}` };
    const request = { method: 'POST', headers, body: JSON.stringify(body) };
    return ((await (await again.routes.request('/introspect', request)).json()) as { active: boolean }).active;
  };
  expect(await ask({ token })).toBe(true);
  expect(await ask({ token, udid })).toBe(false);
  await again.close();
  await gateway.close();
});

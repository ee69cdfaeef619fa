import { afterAll, beforeAll, expect, test } from 'vitest';
import { addAccount, startGateway, type TestGateway } from '../support/gateway-session.ts';
import { authenticate, logIn, PackageManager } from '../support/package-manager.ts';
import { describeEveryStore } from '../support/stores.ts';

const hour = 3_600_000;

describeEveryStore('a client that follows the state table', (newStore) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway(await newStore());
    await addAccount(gateway.store, 'alice');
  });
  afterAll(() => gateway.close());

  test('signs in, uses, expires, refreshes, uses, signs out', async () => {
    const client = new PackageManager(gateway.base);
    const answer = await logIn(await authenticate(gateway.base), 'alice');
    expect(answer.status).toBe(303);
    client.callback(answer.location);
    expect(client.state).toBe('authenticated');
    expect(await client.request()).toBe(200);

    const first = client.credentials;
    gateway.advance(hour);
    expect(await client.request()).toBe(401);
    expect(client.state).toBe('authenticated');
    expect(client.credentials).not.toEqual(first);
    expect(await client.request()).toBe(200);

    const last = client.credentials;
    expect(await client.signOut()).toBe(200);
    expect(client.state).toBe('signed out');
    client.credentials = last;
    expect(await client.request()).toBe(401);
    expect(client.state).toBe('signed out');
  });

  test('is signed out by `sign-out` of its account and by disabling it', async () => {
    for (const end of [() => gateway.store.signOutAccount('alice'), () => gateway.store.setDisabled('alice', true)]) {
      const client = new PackageManager(gateway.base);
      client.callback((await logIn(await authenticate(gateway.base), 'alice')).location);
      await end();
      expect(await client.request()).toBe(401);
      expect(client.state).toBe('signed out');
    }
    await gateway.store.setDisabled('alice', false);
  });
});

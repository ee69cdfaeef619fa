import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway-session.ts';
import { describeEveryStore } from '../support/stores.ts';

describeEveryStore('accounts of OpenID providers', (newStore) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway(await newStore());
  });
  afterAll(() => gateway.close());
  let ids = 0;
  const signIn = (issuer: string, subject: string, { name = 'id.example:one', displayName = 'One' } = {}) =>
    gateway.store.findOrAddFederated({ id: `id-${ids++}`, name, displayName, issuer, subject });

  test('T4 the same name from another issuer is another account, every time', async () => {
    const first = await signIn('https://id.example/a', 'one');
    const other = await signIn('https://id.example/b', 'one');
    expect([first.added, other.added]).toEqual([true, true]);
    expect(other.id).not.toBe(first.id);
    expect(first.name).toBe('id.example:one');
    expect(other.name).toMatch(/^id\.example:one#id-\d+$/);
    for (const [issuer, { id }] of [
      ['https://id.example/a', first],
      ['https://id.example/b', other],
    ] as const) {
      expect(await signIn(issuer, 'one')).toMatchObject({ id, added: false });
    }
  });

  test('T4 twenty first sign-ins at once are one account', async () => {
    const accounts = await Promise.all(Array.from({ length: 20 }, () => signIn('https://id.example/c', 'two')));
    expect(new Set(accounts.map(({ id }) => id)).size).toBe(1);
    expect(accounts.filter(({ added }) => added)).toHaveLength(1);
  });

  test('T4 the display name becomes what the provider says, of that account alone', async () => {
    const before = await signIn('https://id.example/a', 'three', { name: 'x:three', displayName: 'Before' });
    await signIn('https://id.example/a', 'four', { name: 'x:four', displayName: 'Before' });
    expect(await signIn('https://id.example/a', 'three', { displayName: 'After' })).toMatchObject({
      id: before.id,
      name: 'x:three',
      displayName: 'After',
    });
    expect(await gateway.store.findAccount('x:three')).toMatchObject({ displayName: 'After' });
    expect(await gateway.store.findAccount('x:four')).toMatchObject({ displayName: 'Before' });
  });
});

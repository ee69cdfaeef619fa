import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createNodeCryptography } from '../../functions/gateway/node/node-cryptography.ts';
import { connect } from '../../functions/gateway/store/connection.ts';
import { createRefresh } from '../../functions/gateway/store/credentials.ts';
import { beginWait, type Databases } from '../../functions/gateway/store/databases.ts';
import { addAccount, post, readJson, startGateway, type TestGateway } from '../support/gateway-session.ts';
import { issue, openProtocol } from '../support/issue.ts';
import { type Credentials, signIn } from '../support/package-manager.ts';
import { describeEveryStore } from '../support/stores.ts';

const second = 1_000;
const hour = 3_600 * second;
const day = 24 * hour;

describeEveryStore('refresh', (newStore, kind) => {
  let gateway: TestGateway;
  let url: string | undefined;
  let accountId: string;
  beforeAll(async () => {
    const environment = await newStore();
    url = environment.GATEWAY_DATABASE_URL;
    gateway = await startGateway(environment);
    accountId = await addAccount(gateway.store, 'alice');
  });
  afterAll(() => gateway.close());
  afterEach(() => gateway.advance(15 * 60 * second));

  const refresh = async (credentials: Credentials) => {
    const response = await post(`${gateway.base}/v2/refresh`, credentials);
    return { status: response.status, body: await readJson(response) };
  };
  const isLive = async ({ auth_token }: Credentials) => {
    const headers = { authorization: `Bearer ${auth_token}` };
    return (await fetch(`${gateway.base}/v2/account`, { headers })).status === 200;
  };
  const rotate = async (credentials: Credentials) => {
    const { status, body } = await refresh(credentials);
    if (status !== 200) throw new Error(`refresh answered ${status}`);
    return body as unknown as Credentials;
  };
  const random = () => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');

  test('T5 the truth table of refresh: 200 in exactly one cell, nothing consumed in any other', async () => {
    // Without the pages, which have tests of their own: there are hundreds of sign-ins.
    const protocol = openProtocol(gateway.store);
    // What is answered is decided above the store, by what it finds to a refresh token: every way of finding is asked of
    // each store, and of one what else may be wrong beside it, and how.
    const foreign = kind === 'SQLite' ? (['wrong', 'other family'] as const) : (['other family'] as const);
    const winners: string[] = [];
    let cells = 0;
    for (const expired of [true, false]) {
      for (const refreshToken of ['current', 'used', 'revoked', 'random', 'other family'] as const) {
        for (const auth of ['right', ...foreign] as const) {
          for (const secret of ['right', ...foreign] as const) {
            // Beside each other they are compared above the store.
            if (kind !== 'SQLite' && auth !== secret) continue;
            cells++;
            const cell = `auth ${auth}, secret ${secret}, refresh ${refreshToken}, ${expired ? 'expired' : 'live'}`;
            const other = await issue(protocol, accountId);
            let own = await issue(protocol, accountId);
            let revoked: Credentials | undefined;
            if (refreshToken === 'revoked') {
              revoked = await issue(protocol, accountId);
              expect((await post(`${gateway.base}/v2/revoke`, revoked)).status).toBe(200);
            }
            let used: Credentials | undefined;
            if (refreshToken === 'used') {
              gateway.advance(hour);
              used = own;
              own = await rotate(own);
            }
            // A used set belongs to the past: with it, "expired" tells of the set that followed it.
            const base = used ?? revoked ?? own;
            if (expired && refreshToken !== 'used') gateway.advance(hour);
            const presented = {
              auth_token: { right: base.auth_token, wrong: random(), 'other family': other.auth_token }[auth],
              payment_secret: { right: base.payment_secret, wrong: random(), 'other family': other.payment_secret }[
                secret
              ],
              refresh_token: {
                current: own.refresh_token,
                used: used?.refresh_token ?? '',
                revoked: revoked?.refresh_token ?? '',
                random: random(),
                'other family': other.refresh_token,
              }[refreshToken],
            };
            const { status, body } = await refresh(presented);
            const wins = status === 200;
            if (wins) winners.push(cell);
            const whole = auth === 'right' && secret === 'right' && refreshToken === 'current';
            const theOthers = [auth, secret, refreshToken].every((part) => part === 'other family');
            if (theOthers) {
              // All three of the other family are simply that family's own set.
              expect(status, cell).toBe(expired ? 200 : 409);
            } else {
              expect(status, cell).toBe(whole ? (expired ? 200 : 409) : 401);
            }
            if (!wins) {
              expect(Object.keys(body), cell).toEqual(['message', 'error', 'date']);
              // Nothing consumed: both families go on as if nothing had been asked.
              gateway.advance(hour);
              for (const set of [own, other]) {
                expect(await protocol.refresh(set), `${cell}: afterwards`).toMatchObject({ decision: 'rotate' });
              }
            }
          }
        }
      }
      gateway.advance(hour);
    }
    expect(cells).toBe(kind === 'SQLite' ? 90 : 20);
    expect(winners.filter((cell) => !cell.startsWith('auth other family, secret other family, refresh other'))).toEqual(
      ['auth right, secret right, refresh current, expired'],
    );
  });

  test('T5 a set is expired at its hour, not a millisecond before', async () => {
    const credentials = await signIn(gateway.base, 'alice');
    gateway.advance(hour - 1);
    expect(await isLive(credentials)).toBe(true);
    expect((await refresh(credentials)).status).toBe(409);
    gateway.advance(1);
    expect(await isLive(credentials)).toBe(false);
    const successor = await rotate(credentials);
    expect(await isLive(successor)).toBe(true);
    expect(await isLive(credentials)).toBe(false);
  });

  test('T5 a used refresh token ends the family when it comes back after ten seconds, not before', async () => {
    const first = await signIn(gateway.base, 'alice');
    gateway.advance(hour);
    const second = await rotate(first);
    gateway.advance(10_000);
    expect((await refresh(first)).status).toBe(401);
    expect(await isLive(second)).toBe(true);
    gateway.advance(1);
    expect((await refresh({ ...first, auth_token: random() })).status).toBe(401);
    expect(await isLive(second)).toBe(false);
    gateway.advance(hour);
    expect((await refresh(second)).status).toBe(401);
    expect(gateway.log.filter((line) => line.includes('"reuse-detected"'))).toHaveLength(1);
  });

  test('T5 a refresh token lives 180 days', async () => {
    const [early, late] = [await signIn(gateway.base, 'alice'), await signIn(gateway.base, 'alice')];
    gateway.advance(180 * day - 1);
    expect((await refresh(early)).status).toBe(200);
    gateway.advance(1);
    expect((await refresh(late)).status).toBe(401);
  });

  test('T5 refreshing does not reach beyond a year after sign-in', async () => {
    let credentials = await signIn(gateway.base, 'alice');
    for (let days = 0; days < 360; days += 90) {
      gateway.advance(90 * day);
      credentials = await rotate(credentials);
    }
    gateway.advance(5 * day - 1);
    credentials = await rotate(credentials);
    expect(await isLive(credentials)).toBe(true);
    gateway.advance(1);
    expect(await isLive(credentials)).toBe(false);
    expect((await refresh(credentials)).status).toBe(401);
  });

  test('T5 a disabled account refreshes nothing, and again when it is enabled', async () => {
    const credentials = await signIn(gateway.base, 'alice');
    gateway.advance(hour);
    await gateway.store.setDisabled('alice', true);
    expect((await refresh(credentials)).status).toBe(401);
    await gateway.store.setDisabled('alice', false);
    expect((await refresh(credentials)).status).toBe(200);
  });

  /** Refreshes as another process does, with something that happens when the refresh is decided and not yet done. */
  const refreshAround = async (credentials: Credentials, happens: () => Promise<unknown>) => {
    const file = join(gateway.folder, 'gateway.sqlite');
    const connection = await connect(
      url === undefined ? { kind: 'sqlite', file } : { kind: 'postgres', url, pool: 3 },
      gateway.now,
    );
    const wait = beginWait();
    const databases = connection.during(wait);
    let times = 0;
    const interrupted: Databases = {
      ...databases,
      transact: async (work) => {
        if (++times === 1) await happens();
        return databases.transact(work);
      },
    };
    const operation = createRefresh(createNodeCryptography());
    const refreshNow = (...[presented, successor]: Parameters<typeof gateway.store.refresh>) =>
      operation(interrupted, presented, successor);
    try {
      return await openProtocol({ ...gateway.store, refresh: refreshNow }).refresh(credentials);
    } finally {
      wait.end();
      await connection.close();
    }
  };

  // Nothing happens between the two in an object but what it is told of itself: T6 of parallel refreshes.
  test.runIf(kind !== 'Durable Object')(
    'T6 what happens after a refresh is decided counts: an account disabled, a sign-in revoked',
    async () => {
      const credentials = await signIn(gateway.base, 'alice');
      gateway.advance(hour);
      const nothing = await refreshAround(credentials, async () => {});
      expect(nothing, 'without anything happening it succeeds').toMatchObject({ decision: 'rotate' });

      const disabled = await signIn(gateway.base, 'alice');
      gateway.advance(hour);
      expect(await refreshAround(disabled, () => gateway.store.setDisabled('alice', true))).toMatchObject({
        decision: 'refused',
      });
      await gateway.store.setDisabled('alice', false);
      expect((await refresh(disabled)).status, 'nothing was consumed').toBe(200);

      const revoked = await signIn(gateway.base, 'alice');
      gateway.advance(hour);
      const end = () => post(`${gateway.base}/v2/revoke`, revoked);
      expect(await refreshAround(revoked, end)).toMatchObject({ decision: 'refused' });
      expect((await refresh(revoked)).status).toBe(401);
    },
  );

  test('revoke answers 200 for a set in any state and for an unknown one, 401 for a mixture', async () => {
    const revoke = async (credentials: Credentials) => (await post(`${gateway.base}/v2/revoke`, credentials)).status;
    const unknown = { auth_token: random(), payment_secret: random(), refresh_token: random() };
    expect(await revoke(unknown)).toBe(200);

    const one = await signIn(gateway.base, 'alice');
    const two = await signIn(gateway.base, 'alice');
    for (const mixture of [
      { ...one, auth_token: two.auth_token },
      { ...one, payment_secret: two.payment_secret },
      { ...one, refresh_token: two.refresh_token },
      { ...one, auth_token: random() },
      { ...unknown, payment_secret: one.payment_secret },
      { ...unknown, refresh_token: one.refresh_token },
    ]) {
      expect(await revoke(mixture)).toBe(401);
    }
    expect(await isLive(one)).toBe(true);
    expect(await isLive(two)).toBe(true);

    gateway.advance(hour);
    const successor = await rotate(one);
    expect(await revoke(one)).toBe(200);
    expect(await isLive(successor)).toBe(false);
    expect(await revoke(one)).toBe(200);
    expect(await revoke(two)).toBe(200);
    gateway.advance(60 * day);
    await gateway.store.sweep();
    expect(await revoke(two)).toBe(200);
    expect((await refresh(two)).status).toBe(401);
  });

  test('the sweep deletes what is over and nothing that lives', async () => {
    await gateway.store.sweep();
    const kept = await signIn(gateway.base, 'alice');
    gateway.advance(hour);
    const successor = await rotate(kept);
    gateway.advance(170 * day);
    await gateway.store.sweep();
    // The spent set is still known: its return ends the family.
    expect((await refresh(kept)).status).toBe(401);
    expect((await refresh(successor)).status).toBe(401);
    gateway.advance(400 * day);
    expect((await gateway.store.sweep()).deleted).toBeGreaterThan(0);
    expect((await gateway.store.sweep()).deleted).toBe(0);
  });
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { BrowserSession } from '../support/browser-session.ts';
import { type GatewayProcess, startProcessOfGateways } from '../support/gateway-processes.ts';
import { addAccount, password, post, readJson, startGateway, type TestGateway } from '../support/gateway-session.ts';
import { issue, openProtocol } from '../support/issue.ts';
import { timesFrom } from '../support/longer-runs.ts';
import { authenticate, type Credentials } from '../support/package-manager.ts';
import { describeEveryStore, type Kind, newStores } from '../support/stores.ts';

/** A store waits four seconds for a lock, and five for all that an operation needs. */
const shortestWait = 4_000;

const most = timesFrom('DEBDEX_TEST_RACERS', 100);

/** A gateway on each kind of store in this process, and another on each in one more. */
const gateways = new Map<Kind, { readonly gateway: TestGateway; readonly otherBase: string }>();
let other: GatewayProcess | undefined;
beforeAll(async () => {
  const started = await Promise.all(
    Object.entries(newStores).map(async ([kind, newStore]) => {
      const environment = await newStore();
      return { kind: kind as Kind, environment, gateway: await startGateway(environment, { now: Date.now() }) };
    }),
  );
  const process = await startProcessOfGateways(
    started.map(({ environment, gateway: { folder, base } }) => ({
      STATE_DIR: folder,
      PUBLIC_ADDRESS: base,
      ...environment,
    })),
  );
  other = process;
  for (const [place, { kind, gateway }] of started.entries()) {
    gateways.set(kind, { gateway, otherBase: process.bases[place] ?? '' });
  }
});
afterAll(async () => {
  await other?.kill();
  for (const { gateway } of gateways.values()) await gateway.close();
});

describeEveryStore('races', (_, kind) => {
  let gateway: TestGateway;
  let account: string;
  /** The addresses of two processes, of which this is one. */
  let both: readonly string[];
  beforeAll(async () => {
    const opened = gateways.get(kind);
    if (opened === undefined) throw new Error(`no gateway on ${kind}`);
    ({ gateway } = opened);
    account = await addAccount(gateway.store, 'alice');
    both = [gateway.base, opened.otherBase];
    // Each loads what its database needs with its first question, which a busy machine may starve.
    const unknown = { auth_token: 'a'.repeat(43), payment_secret: 'b'.repeat(43), refresh_token: 'c'.repeat(43) };
    for (const base of both) while ((await post(`${base}/v2/refresh`, unknown)).status === 503);
  });

  /** Asks once. `starved`: a busy machine used up all the time that the store waits, and nothing was done. */
  const ask = async (address: string, credentials: Credentials) => {
    const begun = performance.now();
    const response = await post(address, credentials);
    const body = await readJson(response);
    const isLong = performance.now() - begun >= shortestWait;
    // The runtime of an object ends connections that a starved process kept for too long.
    const starved = response.status === 503 && (isLong || kind === 'Durable Object');
    return { status: response.status, body, starved };
  };

  // Without the pages, which have tests of their own, and expired from the beginning.
  const signIn = () => {
    // By the clock of the other process: a token that comes back ten seconds after its use ends its family.
    gateway.advance(Date.now() - gateway.now());
    return issue(openProtocol(gateway.store, { credentialLife: 0 }), account);
  };

  /** Signs in, and refreshes the set from everywhere at once; again where the machine starved some. */
  const race = async (count: number, bases: readonly string[]) => {
    for (;;) {
      const before = (await gateway.store.listDevices(account)).length;
      const credentials = await signIn();
      const answers = await Promise.all(
        Array.from({ length: count }, (_, index) => ask(`${bases[index % bases.length]}/v2/refresh`, credentials)),
      );
      if (!answers.some(({ starved }) => starved)) return { answers, before };
    }
  };

  const live = async ({ auth_token }: Credentials, base: string) =>
    (await fetch(`${base}/v2/account`, { headers: { authorization: `Bearer ${auth_token}` } })).status;

  for (const where of ['one process', 'two processes'] as const) {
    // Half of the most are in one process, too.
    for (const count of where === 'one process' ? [2, 10] : [2, most]) {
      test(`T6 of ${count} parallel refreshes in ${where} exactly one wins`, async () => {
        const rounds = count === most ? 1 : 4;
        const bases = where === 'one process' ? [gateway.base] : both;
        for (let round = 0; round < rounds; round++) {
          const { answers, before } = await race(count, bases);
          const winners = answers.filter(({ status }) => status === 200);
          expect(winners).toHaveLength(1);
          expect(answers.filter(({ status }) => status === 401)).toHaveLength(count - 1);
          // One live child: a device is listed once for each unspent set of its family.
          expect(await gateway.store.listDevices(account)).toHaveLength(before + 1);
          const winner = winners[0]?.body as unknown as Credentials;
          for (const base of bases) expect(await live(winner, base)).toBe(200);
        }
      });
    }
  }

  test('T6 a revocation among parallel refreshes leaves nothing alive', async () => {
    for (let round = 0; round < 3; ) {
      const credentials = await signIn();
      const answers = await Promise.all(
        Array.from({ length: 12 }, async (_, index) => {
          const operation = index === 4 * round ? 'revoke' : 'refresh';
          return { operation, ...(await ask(`${both[index % 2]}/v2/${operation}`, credentials)) };
        }),
      );
      if (answers.some(({ starved }) => starved)) continue;
      round++;
      expect(answers.find(({ operation }) => operation === 'revoke')?.status).toBe(200);
      for (const { status, operation, body } of answers) {
        expect([200, 401]).toContain(status);
        if (operation === 'refresh' && status === 200) {
          expect(await live(body as unknown as Credentials, gateway.base)).toBe(401);
        }
      }
    }
  });

  test('T6 a device that is signed out on the devices page while it refreshes stays signed out', async () => {
    for (let round = 0; round < 6; ) {
      const before = (await gateway.store.listDevices(account)).map(({ familyId }) => familyId);
      const credentials = await signIn();
      const listed = await gateway.store.listDevices(account);
      const family = listed.find(({ familyId }) => !before.includes(familyId))?.familyId ?? '';
      // Before those that refresh, among them, or after the first of them.
      const signOut = () => gateway.store.revokeFamily(family, account).catch(() => 'starved');
      const early = round % 3 === 0 ? signOut() : undefined;
      const refreshes = both.map((base) => ask(`${base}/v2/refresh`, credentials));
      const late = () => (round % 3 === 1 ? signOut() : Promise.race(refreshes).then(signOut));
      const [signedOut, ...answers] = await Promise.all([early ?? late(), ...refreshes]);
      if (signedOut === 'starved' || answers.some(({ starved }) => starved)) continue;
      expect(signedOut).toBe(true);
      if (round % 3 === 2) expect(answers.map(({ status }) => status)).toContain(200);
      round++;
      for (const { status, body } of answers) {
        expect([200, 401]).toContain(status);
        if (status !== 200) continue;
        const successor = body as unknown as Credentials;
        for (const base of both) {
          expect(await live(successor, base)).toBe(401);
          expect((await post(`${base}/v2/refresh`, successor)).status).toBe(401);
        }
      }
      expect((await gateway.store.listDevices(account)).map(({ familyId }) => familyId)).not.toContain(family);
    }
  });

  test('two who make a key at once have one and the same', async () => {
    const made = ['one', 'other'].map((text) => new Uint8Array(32).fill(text.length));
    for (let round = 0; round < 5; round++) {
      const keys = await Promise.all(made.map((key) => gateway.store.findOrAddKey(`round ${round}`, key)));
      const [first, second] = keys.map((key) => Buffer.from(key).toString('hex'));
      expect(made.map((key) => Buffer.from(key).toString('hex'))).toContain(first);
      expect(second).toBe(first);
    }
  });

  test('T3 parallel completions across two processes yield one set', async () => {
    for (let round = 0; round < 3; round++) {
      const name = `racer${round}`;
      const id = await addAccount(gateway.store, name);
      const authUrl = await authenticate(gateway.base);
      const browsers = await Promise.all(
        both.map(async (base) => {
          const browser = new BrowserSession(base);
          return { browser, page: await browser.open(authUrl) };
        }),
      );
      const answers = await Promise.all(browsers.map(({ browser, page }) => browser.submit(page, { name, password })));
      expect(answers.map(({ status }) => status).sort()).toEqual([303, 410]);
      expect(await gateway.store.listDevices(id)).toHaveLength(1);
    }
  });
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GatewayProcess, startGatewayProcesses } from '../support/gateway-processes.ts';
import { addAccount, post, readJson, startGateway, type TestGateway } from '../support/gateway-session.ts';
import { timesFrom } from '../support/longer-runs.ts';
import { type Credentials, signIn } from '../support/package-manager.ts';
import { describeEveryStore } from '../support/stores.ts';

const hour = 3_600_000;

/** A store waits four seconds for a lock, and five for all that an operation needs. */
const shortestWait = 4_000;

const most = timesFrom('DEBDEX_TEST_RACERS', 200);

describeEveryStore('races', (newStore) => {
  let gateway: TestGateway;
  let account: string;
  let processes: GatewayProcess[];
  beforeAll(async () => {
    const environment = await newStore();
    gateway = await startGateway(environment, { now: Date.now() });
    account = await addAccount(gateway.store, 'alice');
    processes = await startGatewayProcesses(2, { STATE_DIR: gateway.folder, ...environment });
    for (const process of processes) await process.setAhead(2 * hour);
  });
  afterAll(async () => {
    await Promise.all(processes.map((process) => process.kill()));
    await gateway.close();
  });

  /** Asks once. `starved`: a busy machine used up all the time that the store waits, and nothing was done. */
  const ask = async (address: string, credentials: Credentials) => {
    const begun = performance.now();
    const response = await post(address, credentials);
    const body = await readJson(response);
    const starved = response.status === 503 && performance.now() - begun >= shortestWait;
    return { status: response.status, body, starved };
  };

  /** Signs in, lets the set expire, and refreshes it from everywhere at once; again where the machine starved some. */
  const race = async (count: number, bases: readonly string[]) => {
    for (;;) {
      const before = (await gateway.store.listDevices(account)).length;
      const credentials = await signIn(gateway.base, 'alice');
      gateway.advance(hour);
      const answers = await Promise.all(
        Array.from({ length: count }, (_, index) => ask(`${bases[index % bases.length]}/v2/refresh`, credentials)),
      );
      gateway.advance(-hour);
      if (!answers.some(({ starved }) => starved)) return { answers, before };
    }
  };

  const live = async ({ auth_token }: Credentials, base: string) =>
    (await fetch(`${base}/v2/account`, { headers: { authorization: `Bearer ${auth_token}` } })).status;

  for (const where of ['one process', 'two processes'] as const) {
    for (const count of [2, 10, most]) {
      test(`T6 of ${count} parallel refreshes in ${where} exactly one wins`, async () => {
        const rounds = count <= 10 ? 5 : 1;
        const bases = where === 'one process' ? [gateway.base] : processes.map(({ base }) => base);
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
    for (let round = 0; round < 10; ) {
      const credentials = await signIn(gateway.base, 'alice');
      const bases = processes.map(({ base }) => base);
      const answers = await Promise.all(
        Array.from({ length: 12 }, async (_, index) => {
          const operation = index === round ? 'revoke' : 'refresh';
          return { operation, ...(await ask(`${bases[index % bases.length]}/v2/${operation}`, credentials)) };
        }),
      );
      if (answers.some(({ starved }) => starved)) continue;
      round++;
      expect(answers.find(({ operation }) => operation === 'revoke')?.status).toBe(200);
      for (const { status, operation, body } of answers) {
        expect([200, 401]).toContain(status);
        if (operation === 'refresh' && status === 200) {
          expect(await live(body as unknown as Credentials, bases[0] ?? '')).toBe(401);
        }
      }
    }
  });
});

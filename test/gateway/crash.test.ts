import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openSqlite } from '../../functions/gateway/store/sqlite.ts';
import { temporaryFolder } from '../support/folder.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-processes.ts';
import { addAccount, post, readJson, startGateway, type TestGateway } from '../support/gateway-session.ts';
import { issue, openProtocol } from '../support/issue.ts';
import { timesFrom } from '../support/longer-runs.ts';
import type { Credentials } from '../support/package-manager.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { describeStores } from '../support/stores.ts';
import { bundleTestedObject, startTestedObjects } from '../support/tested-objects.ts';

/** How often a process is killed: enough to notice what is not whole, and 500 in a longer run (CONTRIBUTING.md). */
const runs = timesFrom('DEBDEX_TEST_KILLS', 3);

interface Operation {
  readonly kind: 'refresh' | 'revoke';
  readonly old: Credentials;
  /** Undefined where the server died before it answered. */
  answer: { readonly status: number; readonly body: Record<string, string> } | undefined;
}

const send = async (base: string, operation: Operation) => {
  try {
    const response = await post(`${base}/v2/${operation.kind}`, operation.old);
    operation.answer = { status: response.status, body: await readJson(response) };
  } catch {
    operation.answer = undefined;
  }
};

/**
 * When the next is killed: once the first has its answer and all others are under way, once some have theirs, and by the
 * clock. A machine that is busy with other things may put the last before the first answer.
 */
const pickMoment = async (sent: readonly Promise<void>[], run: number) => {
  if (run % 3 === 2) return sleep(Math.random() * 20);
  let missing = run % 3 === 0 ? 1 : Math.ceil(Math.random() * (sent.length - 1));
  await new Promise<void>((resolve) => {
    for (const one of sent) one.then(() => --missing === 0 && resolve());
  });
};

/** A set that nobody has. */
const unknown: Credentials = {
  auth_token: 'a'.repeat(43),
  payment_secret: 'b'.repeat(43),
  refresh_token: 'c'.repeat(43),
};

/** Issues sets that have expired by now, on an account of their own. */
const prepare = async (gateway: TestGateway, name: string) => {
  const accountId = await addAccount(gateway.store, name);
  const protocol = openProtocol(gateway.store, { credentialLife: 0 });
  const operations: Operation[] = [];
  for (let index = 0; index < 12; index++) {
    const old = await issue(protocol, accountId);
    operations.push({ kind: index % 3 === 2 ? 'revoke' : 'refresh', old, answer: undefined });
  }
  return { accountId, operations };
};

/** Refreshes once; again where a busy machine used up all the time that the store waits, and nothing was done. */
const refreshOnce = async (base: string, old: Credentials): Promise<number> => {
  const { status } = await post(`${base}/v2/refresh`, old);
  return status === 503 ? refreshOnce(base, old) : status;
};

/** Checks, through a server that started after the kill, that each operation happened whole or not at all. */
const verify = async (
  gateway: TestGateway,
  base: string,
  { accountId, operations }: Awaited<ReturnType<typeof prepare>>,
) => {
  const counts = { acknowledged: 0, old: 0, new: 0 };
  let living = 0;
  const listed = await gateway.store.listDevices(accountId);
  // No family has two living ends.
  expect(new Set(listed.map(({ familyId }) => familyId)).size).toBe(listed.length);
  for (const { kind, old, answer } of operations) {
    if (answer) {
      counts.acknowledged++;
      expect(answer.status).toBe(200);
    }
    if (kind === 'refresh' && answer) {
      const headers = { authorization: `Bearer ${answer.body.auth_token}` };
      expect((await fetch(`${base}/v2/account`, { headers })).status).toBe(200);
      expect(await refreshOnce(base, old)).toBe(401);
      living++;
      continue;
    }
    const status = await refreshOnce(base, old);
    expect([200, 401]).toContain(status);
    if (kind === 'revoke') {
      if (answer) expect(status).toBe(401);
      living += status === 200 ? 1 : 0;
    } else {
      // All-old refreshes; all-new is spent, and its child, which nobody was told of, is the living end.
      living++;
    }
    if (!answer) counts[status === 200 ? 'old' : 'new']++;
  }
  expect(listed).toHaveLength(living);
  return counts;
};

/** The same for an object, whose runtime is killed; whoever asked is answered 503 by what asked it. */
// A killed process leaves what it wrote to the system; only a power cut would show that it was not flushed.
test('T7 a transaction is on disk when it is acknowledged', async () => {
  const connections = openSqlite(path.join(temporaryFolder(), 'gateway.sqlite'));
  onTestFinished(() => connections.close());
  const full = 2;
  const { rows } = await sql`PRAGMA synchronous`.execute(connections.write);
  expect(rows).toEqual([{ synchronous: full }]);
});

test('T7 an object killed at random moments of refresh and revoke has what it answered, and nothing by halves', async () => {
  const storage = temporaryFolder();
  const script = await bundleTestedObject();
  let objects = await startTestedObjects(script, { storage });
  onTestFinished(() => objects.kill());
  const port = Number(new URL(objects.address).port);
  const gateway = await startGateway({ OBJECT_STORE: `${objects.address}/crashes` }, { now: Date.now() });
  onTestFinished(gateway.close);
  const counts = { acknowledged: 0, old: 0, new: 0 };
  for (let run = 0; run < Math.ceil(runs / 3); run++) {
    const prepared = await prepare(gateway, `run${run}`);
    const sent = prepared.operations.map((operation) => send(gateway.base, operation));
    await pickMoment(sent, run);
    await objects.kill();
    await Promise.all(sent);
    for (const operation of prepared.operations) if (operation.answer?.status === 503) operation.answer = undefined;
    objects = await startTestedObjects(script, { storage, port });
    const found = await verify(gateway, gateway.base, prepared);
    for (const key of ['acknowledged', 'old', 'new'] as const) counts[key] += found[key];
  }
  expect(counts.acknowledged).toBeGreaterThan(0);
});

describeStores('crashes', (newStore, kind) => {
  let gateway: TestGateway;
  let environment: Readonly<Record<string, string>>;
  beforeAll(async () => {
    environment = await newStore();
    gateway = await startGateway(environment, { now: Date.now() });
    environment = { STATE_DIR: gateway.folder, ...environment };
  });
  afterAll(() => gateway.close());

  const total = kind === 'SQLite' ? runs : Math.ceil(runs / 3);
  test(`T7 killed with SIGKILL at random moments of refresh and revoke, ${total} runs`, {
    timeout: 120_000 + 6_000 * runs,
  }, async () => {
    const counts = { acknowledged: 0, old: 0, new: 0 };
    let server: GatewayProcess = await startGatewayProcess(environment);
    for (let run = 0; run < total; run++) {
      const prepared = await prepare(gateway, `run${run}`);
      // It loads what its database needs with its first question.
      await refreshOnce(server.base, unknown);
      const sent = prepared.operations.map((operation) => send(server.base, operation));
      await pickMoment(sent, run);
      await server.kill();
      await Promise.all(sent);
      // The last needs no other after it to be killed: the gateway of the test has the same store.
      if (run < total - 1) server = await startGatewayProcess(environment);
      const found = await verify(gateway, run < total - 1 ? server.base : gateway.base, prepared);
      for (const key of ['acknowledged', 'old', 'new'] as const) counts[key] += found[key];
    }
    // Kills that all came too early or too late would have shown nothing.
    expect(counts.acknowledged).toBeGreaterThan(0);
    expect(counts.old).toBeGreaterThan(0);
  });
});

test('T7 a PostgreSQL server that dies in the middle loses nothing acknowledged', async () => {
  const database: PostgresServer = await startPostgres({ durable: true });
  const gateway = await startGateway({ GATEWAY_DATABASE_URL: await database.createDatabase() }, { now: Date.now() });
  try {
    for (let run = 0; run < Math.ceil(runs / 3); run++) {
      const prepared = await prepare(gateway, `run${run}`);
      const sent = prepared.operations.map((operation) => send(gateway.base, operation));
      await pickMoment(sent, run);
      await database.stop('SIGQUIT');
      await Promise.all(sent);
      await database.start();
      await expect.poll(gateway.health).toBe(true);
      for (const operation of prepared.operations) {
        if (operation.answer && operation.answer.status !== 200) {
          expect(operation.answer.status).toBe(503);
          operation.answer = undefined;
        }
      }
      await verify(gateway, gateway.base, prepared);
    }
  } finally {
    await gateway.close();
    await database.remove();
  }
});

import { join } from 'node:path';
import { createNodeCryptography } from '../../functions/gateway/node/node-cryptography.ts';
import type { CredentialStore, StoreLocation } from '../../functions/gateway/store/credential-store.ts';
import { openCredentialStore } from '../../functions/gateway/store/open-store.ts';
import { type GatewayProcess, startGatewayProcesses } from '../support/gateway-processes.ts';
import { issue, openProtocol } from '../support/issue.ts';
import type { Credentials } from '../support/package-manager.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { formatRequest, type LoadResult, runLoad } from './http-load.ts';
import { closeOnSignals, Workshop } from './workshop.ts';
import { measureSyncRate, measureUpdateRate } from './write-limits.ts';

const hour = 3_600_000;
/** How far the servers' clocks are ahead, so that what is issued now has expired there. */
const ahead = 2 * hour;

/**
 * The extent of the measurement: sets to refresh, seconds of token checks and of the bare limits, rounds of the race.
 */
export interface GatewayBenchSize {
  readonly sets: number;
  readonly seconds: number;
  readonly rounds: number;
}

const fullSize: GatewayBenchSize = { sets: 6_000, seconds: 5, rounds: 200 };

/**
 * Measures the gateway on both stores and prints one line of a Markdown table for each figure. Resolves to whether all
 * targets were met. Takes about a minute.
 */
export const benchGateway = async (
  print: (line: string) => void,
  size: GatewayBenchSize = fullSize,
): Promise<boolean> => {
  const workshop = new Workshop();
  const { folder } = workshop;
  closeOnSignals(workshop);
  try {
    const database = await startPostgres({ durable: true });
    workshop.atEnd(() => database.remove());
    print('| figure | measured | target or limit |');
    print('|---|---|---|');
    const location = { kind: 'sqlite', file: join(folder, 'gateway.sqlite') } as const;
    const url = await database.createDatabase();
    const sqlite = await measureStore(workshop, 'SQLite, 1 process', 1, location, { STATE_DIR: folder }, print, size);
    const limit = Math.round(measureSyncRate(folder, size.seconds));
    print(`| the disk's own rate: 4 KiB and a sync, one by one | ${limit} a second | |`);
    const postgres = await measureStore(
      workshop,
      'PostgreSQL, 4 processes',
      4,
      { kind: 'postgres', url, pool: 10 },
      { GATEWAY_DATABASE_URL: url },
      print,
      size,
    );
    const bare = await measureUpdateRate(url, { connections: 40, seconds: size.seconds, rows: size.sets });
    print(`| bare updates of one row, PostgreSQL, 40 connections | ${Math.round(bare)} a second | |`);
    return sqlite && postgres;
  } finally {
    await workshop.close();
  }
};

const measureStore = async (
  workshop: Workshop,
  name: string,
  count: number,
  location: StoreLocation,
  environment: Readonly<Record<string, string>>,
  print: (line: string) => void,
  size: GatewayBenchSize,
) => {
  const store = openCredentialStore(location, createNodeCryptography());
  const accountId = createNodeCryptography().randomId();
  await store.addAccount({ id: accountId, name: 'bench', displayName: 'bench', passwordHash: '' });
  const later = openCredentialStore(location, createNodeCryptography(), { clock: () => Date.now() + ahead });
  const issueMany = (wanted: number, from: CredentialStore): Promise<Credentials[]> =>
    inParallel(wanted, 32, () => issue(openProtocol(from), accountId));
  const processes = await startGatewayProcesses(count, environment);
  const stop = async () => {
    await Promise.all(processes.map((process) => process.kill()));
  };
  workshop.atEnd(stop);
  try {
    await Promise.all(processes.map((process) => process.setAhead(ahead)));
    const bases = processes.map(({ base }) => base);

    const live = await issueMany(500, later);
    const checks = live.map(({ auth_token }) =>
      formatRequest('GET', '/v2/account', { headers: { Authorization: `Bearer ${auth_token}` } }),
    );
    let turn = 0;
    const nextCheck = () => checks[turn++ % checks.length];
    await runLoad(bases, { connections: 32, seconds: 1, next: nextCheck });
    const checked = await runLoad(bases, { connections: 32, seconds: size.seconds, next: nextCheck });
    const fast = checked.perSecond >= 5_000 && checked.p99 <= 20 && only(checked, 200);
    print(`| token checks, ${name}, 32 connections | ${describe(checked)} | 5,000 a second, p99 20 ms |`);

    const refreshes = (await issueMany(size.sets, store)).map(formatRefresh);
    const refreshed = await runLoad(bases, { connections: 64, seconds: 120, next: () => refreshes.pop() });
    print(`| refreshes, ${name}, durable, 64 connections | ${describe(refreshed)} | the limit below |`);

    const won = await race(processes, await issueMany(size.rounds, store));
    print(
      `| races, ${name}: ${size.rounds} rounds of 100 parallel refreshes | ${won} with exactly one winner | ${size.rounds} |`,
    );
    return fast && only(refreshed, 200) && won === size.rounds;
  } finally {
    await stop();
    await Promise.all([store.close(), later.close()]);
  }
};

const formatRefresh = (credentials: Credentials) =>
  formatRequest('POST', '/v2/refresh', {
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(credentials),
  });

/** Resolves to the number of rounds with one 200 and otherwise only 401. */
const race = async (processes: readonly GatewayProcess[], sets: readonly Credentials[]) => {
  let won = 0;
  for (const credentials of sets) {
    let left = 100;
    const request = formatRefresh(credentials);
    const { statuses } = await runLoad(
      processes.map(({ base }) => base),
      { connections: 100, seconds: 60, next: () => (left-- > 0 ? request : undefined) },
    );
    if (statuses.get(200) === 1 && statuses.get(401) === 99) won++;
  }
  return won;
};

const inParallel = async <T>(count: number, width: number, work: () => Promise<T>): Promise<T[]> => {
  const results: T[] = [];
  let left = count;
  const worker = async () => {
    while (left-- > 0) results.push(await work());
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
};

const only = ({ statuses }: LoadResult, status: number) => statuses.size === 1 && statuses.has(status);

const describe = ({ perSecond, p50, p99, statuses }: LoadResult) => {
  const failures = [...statuses]
    .filter(([status]) => status !== 200)
    .map(([status, count]) => `, ${count} × ${status}`);
  return `${Math.round(perSecond)} a second, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms${failures.join('')}`;
};

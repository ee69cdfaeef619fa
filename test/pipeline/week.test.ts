import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { computeHistories } from '../../src/catalog/build-lines.ts';
import { readBuildRecord } from '../../src/catalog/build-record.ts';
import { statusSchema } from '../../src/contract/envelope.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { shownBuilds } from '../../src/contract/status.ts';
import type { Notice } from '../../src/notifying/notices.ts';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { BuildBench } from '../support/building.ts';
import { timesFrom } from '../support/longer-runs.ts';
import { type Fault, OriginServer } from '../support/origin-server.ts';

// Whole days, hour by hour, by a clock of its own: every day has the same troubles. A longer run (CONTRIBUTING.md) is a week.
const dayHours = 24;
const builds = Math.ceil(timesFrom('DEBDEX_TEST_BUILDS', dayHours) / dayHours) * dayHours;
const days = builds / dayHours;
const begin = 1_780_000_000;
const isKilled = (index: number): boolean => index % 10 === 9;

interface Plan {
  /** The hours of each day, from one up to another, in which it is in trouble. */
  readonly from: number;
  readonly to: number;
  readonly fault?: Fault;
}
const never: Fault = { kind: 'status', status: 404 };
const plans = {
  steady: undefined,
  outage: { from: 3, to: 9, fault: { kind: 'body', body: '<!doctype html>' } },
  gone: { from: 4, to: 15, fault: never },
  shrinks: { from: 10, to: 14 },
  blip: { from: 16, to: 17, fault: { kind: 'reset' } },
  never: { from: 0, to: dayHours, fault: never },
} as const satisfies Record<string, Plan | undefined>;
type Name = keyof typeof plans;
const names = Object.keys(plans) as Name[];

const isDown = (name: Name, index: number): boolean => {
  const plan: Plan | undefined = plans[name];
  const hour = index % dayHours;
  return index >= 0 && plan !== undefined && hour >= plan.from && hour < plan.to;
};
const isChanged = (name: Name, index: number): boolean => name === 'steady' && index % 10 === 3;

/** The letters of `/v2/status.json` that are right for a build. */
const rightLetters = (name: Name, index: number): string => {
  if (name === 'never') return 'x';
  if (isDown(name, index)) return 's';
  if (index === 0 || isChanged(name, index)) return 'f';
  return isDown(name, index - 1) || isKilled(index - 1) ? 'fu' : 'u';
};

let origin: OriginServer;
let receiver: Server;
let received: { readonly index: number; readonly notice: Notice }[];
let index: number;

beforeEach(async () => {
  origin = await OriginServer.start();
  received = [];
  receiver = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    for (const notice of (JSON.parse(text) as { notices: Notice[] }).notices) received.push({ index, notice });
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  receiver.closeAllConnections();
  receiver.close();
  await origin.stop();
});

const serve = async (): Promise<void> => {
  origin.mend();
  for (const name of names) {
    const plan: Plan | undefined = plans[name];
    const down = isDown(name, index);
    const version = name === 'steady' ? `1.${Math.floor((index + 7) / 10)}` : '1.0';
    const count = down && plan?.fault === undefined ? 5 : 40;
    origin.serve(name, await generateRepository({ packages: makePackages(count, name, version) }));
    if (!down || plan?.fault === undefined) continue;
    for (const file of ['InRelease', 'Release', 'Packages', 'Packages.bz2'])
      origin.break(`/${name}/${file}`, plan.fault);
  }
};

const bytesOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(path.join(parentPath, name)).size, 0);

/** Bytes that this process holds once all that nobody needs is gone. */
const heldBytes = (): number => {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
};

const momentOf = (at: number): string => new Date((begin + at * 3600) * 1000).toISOString();

// A day of it takes as long as a tenth of all other tests of builds.
it.skipIf(process.env.DEBDEX_TEST_BUILDS === undefined)(
  'C4: hourly builds, killed now and then, tell of each change once, and of each build what it did',
  async () => {
    const bench = new BuildBench();
    bench.list(names.map((slug) => ({ slug, uri: origin.uri(slug) })));
    const notify = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    const ended: number[] = [];
    const figures: { readonly state: number; readonly out: number; readonly held: number }[] = [];
    for (index = 0; index < builds; index++) {
      await serve();
      const variables = [
        `SOURCE_DATE_EPOCH=${begin + index * 3600}`,
        'DEBDEX_FAIL_ON_STALE=100%',
        `DEBDEX_NOTIFY=${notify}`,
      ];
      if (isKilled(index)) {
        origin.reset();
        const child = bench.start(`export ${variables.join(' ')};`);
        const end = once(child, 'exit');
        child.stdout?.resume();
        child.stderr?.resume();
        while (child.exitCode === null && origin.requests.length === 0) await sleep(2);
        // Every kill at another point of the build, which is some hundreds of milliseconds long from here on.
        await Promise.race([sleep((index * 37) % 500), end]);
        child.kill('SIGKILL');
        await end;
      } else {
        const { status, text } = await bench.build(`${variables.join(' ')} `);
        // Held back: the operator's word is asked for.
        expect([status, index], text).toEqual([isDown('shrinks', index) ? 4 : 0, index]);
      }
      const record = readBuildRecord(bench.state).builds;
      if (!isKilled(index) || record.at(-1)?.at === momentOf(index)) ended.push(index);
      expect(record.map(({ at }) => at)).toEqual(ended.map(momentOf));
      for (const [slug, letters] of computeHistories(
        names.map((slug) => ({ slug })),
        record,
      )) {
        const wrong = ended.filter((at, nth) => !rightLetters(slug as Name, at).includes(letters[nth] ?? '?'));
        expect(wrong, `${slug}: ${letters}`).toEqual([]);
      }
      if (isKilled(index)) continue;
      const status = statusSchema.parse(
        JSON.parse(readFileSync(path.join(bench.out, documentPath.status), 'utf8')),
      ).data;
      const told = ended.filter((at) => momentOf(at) <= (status.builds.at(-1)?.date ?? '')).slice(-shownBuilds);
      expect(status.builds.map(({ date }) => date)).toEqual(told.map(momentOf));
      for (const { repository_id: slug, outcome, history } of status.repositories) {
        const name = slug as Name;
        // A build that has nothing to tell leaves the document as it is; what is in trouble is of this moment.
        expect(['stale', 'failed'].includes(outcome), `${name} in ${index}`).toBe(isDown(name, index));
        expect(told.filter((at, nth) => !rightLetters(name, at).includes(history[nth] ?? '?'))).toEqual([]);
      }
      figures.push({ state: bytesOf(bench.state), out: bytesOf(bench.out), held: heldBytes() });
    }
    // At least once: what was told by a build that was killed then may be told again.
    const keyOf = ({ notice: { kind, repository, since } }: (typeof received)[number]) =>
      `${kind} ${repository} ${since}`;
    const distinct = received.filter(
      (one, nth) => !received.slice(0, nth).some((other) => keyOf(other) === keyOf(one) && isKilled(other.index)),
    );
    const countOf = (kind: Notice['kind'], slug: string) =>
      distinct.filter(({ notice }) => notice.kind === kind && notice.repository === slug).length;
    const changes = (['outage', 'gone'] as const).flatMap((slug) =>
      (['failing', 'recovered'] as const).map((kind) => countOf(kind, slug)),
    );
    expect(changes).toEqual([days, days, days, days]);
    expect(countOf('held-back', 'shrinks')).toBe(days);
    expect(distinct.map(({ notice, index }) => `${index} ${notice.kind} ${notice.repository}`)).toHaveLength(5 * days);
    // A line of the record for each build, and a few bytes for each version that there ever was; nothing else grows.
    const [middle, last] = [figures[Math.floor(figures.length / 2)], figures.at(-1)];
    if (middle === undefined || last === undefined) throw new Error('There were no builds.');
    const rounds = figures.length - Math.floor(figures.length / 2);
    expect(last.state - middle.state).toBeLessThan(rounds * 8192);
    // Each build imports the command anew.
    expect(last.held - middle.held).toBeLessThan(rounds * 256 * 1024);
    if (builds > dayHours) {
      const line = (name: string, { state, out, held }: typeof last) =>
        `${name}: state ${state}, published ${out}, memory ${held} bytes\n`;
      process.stdout.write(
        `${builds} builds, ${ended.length} ended, ${received.length} notices (${distinct.length} changes)\n${line('first', figures[0] ?? last)}${line('middle', middle)}${line('last', last)}`,
      );
    }
  },
  1_800_000,
);

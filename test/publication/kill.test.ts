import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BuildBench } from '../support/building.ts';
import { timesFrom } from '../support/longer-runs.ts';
import { OriginServer } from '../support/origin-server.ts';
import { patience } from '../support/patience.ts';
import { type RoundSize, serveRound } from '../support/rounds.ts';

// A build with the site takes longer, so fewer of them are killed. A longer run (CONTRIBUTING.md) kills more.
const kills = timesFrom('DEBDEX_TEST_KILLS', 3);
const siteKills = Math.max(2, Math.ceil(kills / 4));

let origin: OriginServer;
let server: ChildProcess | undefined;

beforeEach(async () => {
  origin = await OriginServer.start();
});

afterEach(async () => {
  server?.kill('SIGKILL');
  server = undefined;
  await origin.stop();
});

const usualSize: RoundSize = { repositories: 6, packages: 16 };
const siteSize: RoundSize = { repositories: 5, packages: 4 };

const hasBegun = (): boolean => origin.requests.length > 0;

/** Builds and returns how many milliseconds that took from its first request on: as a process, it starts for as long. */
const timeBuild = async (bench: BuildBench): Promise<number> => {
  origin.reset();
  let isDone = false;
  const end = bench.build().finally(() => {
    isDone = true;
  });
  while (!isDone && !hasBegun()) await sleep(10);
  const begun = performance.now();
  expect(await end).toMatchObject({ status: 0 });
  return performance.now() - begun;
};

const publishRound = async (bench: BuildBench, round: number, size = usualSize): Promise<void> =>
  bench.list(await serveRound(origin, round, size));

/**
 * Folders in which nothing was ever built, and the history of those of another: a first build there knows when each
 * record was first seen, and has to come to the same bytes.
 */
const rememberAs = ({ state }: BuildBench, options?: { site: boolean }): BuildBench => {
  const bench = new BuildBench(options);
  cpSync(path.join(state, 'history'), path.join(bench.state, 'history'), { recursive: true });
  return bench;
};

/** Serves what is built, and returns its address. */
const serve = async (bench: BuildBench): Promise<string> => {
  const script = path.join(import.meta.dirname, '..', '..', 'scripts', 'serve.ts');
  const flags = ['--state', bench.state, '--out', bench.out, '--port', '0', '--rate-limit', '0'];
  const child = spawn(process.execPath, [script, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  server = child;
  return new Promise((resolve) => {
    child.stdout.on('data', (chunk) => {
      const address = /Listening on (\S+)/.exec(String(chunk))?.[1];
      if (address !== undefined) resolve(address);
    });
  });
};

interface Listed {
  readonly refs: Record<string, string>;
}

/** A client that follows what it is answered, as long as `isDone` says. Returns what led nowhere, for good. */
const follow = async (address: string, isDone: () => boolean): Promise<{ requests: number; broken: string[] }> => {
  const broken: string[] = [];
  let requests = 0;
  const get = async (target: string) => {
    requests++;
    const response = await fetch(`${address}${target}`);
    const text = await response.text();
    return { status: response.status, data: response.ok ? (JSON.parse(text).data as Listed | Listed[]) : [] };
  };
  const referencesOf = async (list: string): Promise<string[]> => {
    const { status, data } = await get(list);
    if (status !== 200) broken.push(`${list} ${status}`);
    return [data]
      .flat()
      .flatMap(({ refs }) => Object.values(refs))
      .map((reference) => new URL(reference).pathname);
  };
  const lists = ['/v2/jailbreak/repository/ranking?rank=*', '/v2/jailbreak/package/search?q=example&limit=50'];
  for (let turn = 0; !isDone(); turn++) {
    // Leaves the builds most of the processor.
    await sleep(250);
    const list = lists[turn % 2] ?? '';
    const references = await referencesOf(list);
    const reference = references[Math.floor(Math.random() * references.length)];
    if (reference === undefined || (await get(reference)).status === 200) continue;
    // What a list names may have gone since it was answered; then a later one names it no longer, once the server knows.
    const leadsSomewhere = async () =>
      !(await referencesOf(list)).includes(reference) || (await get(reference)).status === 200;
    const settled = expect.poll(leadsSomewhere, patience).toBe(true);
    await settled.catch(() => broken.push(`${list} names ${reference}`));
  }
  return { requests, broken };
};

describe('a build that is killed', () => {
  it(`C12: at any of ${kills} moments leaves whole what is published, also for who reads it, and the next one repairs the rest`, {
    timeout: 120_000 + kills * 30_000,
  }, async () => {
    const bench = new BuildBench();
    await publishRound(bench, 0);
    let whole = await timeBuild(bench);
    const address = await serve(bench);
    let isDone = false;
    const reading = follow(address, () => isDone);
    let hits = 0;
    for (let round = 1; round <= kills; round++) {
      await publishRound(bench, round);
      origin.reset();
      if (await bench.buildAndKill(whole * Math.random(), hasBegun)) hits++;
      // The machine was slower when it was timed.
      else whole /= 2;
      expect(bench.findDamage(), `after kill ${round}`).toEqual([]);
      if (round % 5 !== 0 && round !== kills) continue;
      expect(await bench.build()).toMatchObject({ status: 0 });
      const reference = rememberAs(bench);
      await publishRound(reference, round);
      expect(await reference.build()).toMatchObject({ status: 0 });
      expect(reference.read()).toEqual(bench.read());
      expect(bench.findUntold()).toEqual([]);
    }
    isDone = true;
    const { requests, broken } = await reading;
    expect(broken).toEqual([]);
    process.stdout.write(`${hits} of ${kills} kills hit a build of ${Math.round(whole)} ms; ${requests} requests\n`);
    expect(hits).toBeGreaterThan(0);
    expect(requests).toBeGreaterThan(kills);
  });

  it(`C12: at any of ${siteKills} moments leaves whole the site too: pages, feeds, sitemaps and search index name nothing that is missing`, {
    timeout: 120_000 + siteKills * 60_000,
  }, async () => {
    const bench = new BuildBench({ site: true });
    await publishRound(bench, 0, siteSize);
    const whole = await timeBuild(bench);
    expect(bench.findDamage()).toEqual([]);
    const address = await serve(bench);
    let isDone = false;
    const reading = follow(address, () => isDone);
    let hits = 0;
    // Where all came too late, some more.
    for (let round = 1; round <= siteKills || (hits === 0 && round < siteKills + 8); round++) {
      await publishRound(bench, round, siteSize);
      // Publishing is a small part of the whole, so every other kill is meant for it.
      origin.reset();
      const isHit =
        round % 2 === 0
          ? await bench.buildAndKill(whole * Math.random(), hasBegun)
          : await bench.buildAndKill(800 * Math.random() ** 2);
      if (isHit) hits++;
      expect(bench.findDamage(), `after kill ${round}`).toEqual([]);
      if (round % 5 !== 0 && round !== siteKills) continue;
      expect(await bench.build()).toMatchObject({ status: 0 });
      const reference = rememberAs(bench, { site: true });
      await publishRound(reference, round, siteSize);
      expect(await reference.build()).toMatchObject({ status: 0 });
      expect(reference.readSite()).toEqual(bench.readSite());
      expect(bench.findUntold()).toEqual([]);
    }
    isDone = true;
    const { requests, broken } = await reading;
    expect(broken).toEqual([]);
    process.stdout.write(
      `${hits} of ${siteKills} kills hit a build with the site of ${Math.round(whole)} ms; ${requests} requests\n`,
    );
    expect(hits).toBeGreaterThan(0);
    expect(requests).toBeGreaterThan(siteKills);
  });
});

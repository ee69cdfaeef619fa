import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BuildBench } from '../support/building.ts';
import { timesFrom } from '../support/longer-runs.ts';
import { OriginServer } from '../support/origin-server.ts';
import { patience } from '../support/patience.ts';
import { type RoundSize, serveRound } from '../support/rounds.ts';

// Without the site the first is killed while it publishes documents: at any moment one with the site is. That takes longer,
// so fewer of them are killed in a longer run (CONTRIBUTING.md).
const kills = timesFrom('DEBDEX_TEST_KILLS', 1);
const siteKills = Math.max(2, Math.ceil(kills / 4));

let origin: OriginServer;
let server: ChildProcess | undefined;

const size: RoundSize = { repositories: 5, packages: 4 };

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

const publishRound = async (bench: BuildBench, round: number): Promise<void> =>
  bench.list(await serveRound(origin, round, size));

/**
 * Folders in which nothing was ever built, and the history of those of another: a first build there knows when each
 * record was first seen, and has to come to the same bytes.
 */
const rememberAs = ({ state, site }: BuildBench): BuildBench => {
  const bench = new BuildBench({ site });
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

// Each takes up where the one before it ended: a site that is whole, to kill builds over, takes four seconds of a processor.
describe('a build that is killed', () => {
  const bench = new BuildBench({ folder: mkdtempSync(path.join(tmpdir(), 'debdex-test-')) });
  /** Milliseconds of a build. */
  let whole = 0;
  let address = '';
  let round = 0;

  /** What a build that is there for the first time comes to, with what is remembered of what came before. */
  const expectRepaired = async (): Promise<void> => {
    const built = await bench.build();
    expect(built.status, built.text).toBe(0);
    expect(bench.findDamage()).toEqual([]);
    const reference = rememberAs(bench);
    await publishRound(reference, round);
    expect(await reference.build()).toMatchObject({ status: 0 });
    expect(reference.read()).toEqual(bench.read());
    if (bench.site) expect(reference.readSite()).toEqual(bench.readSite());
    expect(bench.findUntold()).toEqual([]);
  };

  beforeAll(async () => {
    origin = await OriginServer.start();
    await publishRound(bench, round);
    whole = await timeBuild(bench);
    address = await serve(bench);
  });

  afterAll(async () => {
    server?.kill('SIGKILL');
    await origin.stop();
    rmSync(bench.folder, { recursive: true, force: true });
  });

  it(`C12: leaves whole what is published, also for who reads it, and the next one repairs the rest (${kills} killed)`, {
    timeout: 120_000 + kills * 30_000,
  }, async () => {
    let isDone = false;
    const reading = follow(address, () => isDone);
    let hits = 0;
    // Where all came too late, some more.
    for (let kill = 1; kill <= kills || (hits === 0 && kill < kills + 8); kill++) {
      await publishRound(bench, ++round);
      origin.reset();
      // Every other one is meant for what it publishes.
      const isHit = await (kill % 2 === 0
        ? bench.buildAndKill(whole * Math.random(), hasBegun)
        : bench.buildAndKill(150 * Math.random(), bench.publishesDocuments()));
      if (isHit) hits++;
      expect(bench.findDamage(), `after kill ${kill}`).toEqual([]);
      if (kill % 5 === 0 || kill >= kills) await expectRepaired();
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
    bench.site = true;
    whole = await timeBuild(bench);
    expect(bench.findDamage()).toEqual([]);
    let isDone = false;
    const reading = follow(address, () => isDone);
    let hits = 0;
    // Where all came too late, some more.
    for (let kill = 1; kill <= siteKills || (hits === 0 && kill < siteKills + 8); kill++) {
      await publishRound(bench, ++round);
      // Publishing is a small part of the whole, so every other kill is meant for it.
      origin.reset();
      const isHit = await (kill % 2 === 0
        ? bench.buildAndKill(whole * Math.random(), hasBegun)
        : bench.buildAndKill(800 * Math.random() ** 2));
      if (isHit) hits++;
      expect(bench.findDamage(), `after kill ${kill}`).toEqual([]);
      if (kill % 5 === 0 || kill >= siteKills) await expectRepaired();
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

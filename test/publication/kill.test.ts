import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { BuildBench } from '../support/building.ts';
import { OriginServer } from '../support/origin-server.ts';

const kills = Number(process.env.DEBDEX_TEST_KILLS ?? 15);

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

/** Sixteen repositories, of which other ones are there in each round, with other packages. */
const publishRound = async (bench: BuildBench, round: number): Promise<void> => {
  const repositories = [];
  for (let number = 0; number < 16; number++) {
    const slug = `r${number}`;
    if ((number + round) % 5 === 0) continue;
    const names = `${number % 4}-${(number + round) % 3}.`;
    const packages = makePackages(60 + ((number * 7 + round) % 30), names, `1.${round}`);
    origin.serve(slug, await generateRepository({ packages, compressions: ['gz'], release: { Version: `${round}` } }));
    repositories.push({ slug, uri: origin.uri(slug) });
  }
  bench.list(repositories);
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
    const list = lists[turn % 2] ?? '';
    const references = await referencesOf(list);
    const reference = references[Math.floor(Math.random() * references.length)];
    if (reference === undefined || (await get(reference)).status === 200) continue;
    // What a list names may have gone since it was answered; then a later one names it no longer.
    await sleep(800);
    const isNamed = (await referencesOf(list)).includes(reference);
    if (isNamed && (await get(reference)).status !== 200) broken.push(`${list} names ${reference}`);
  }
  return { requests, broken };
};

describe('a build that is killed', () => {
  it(`C12: at any of ${kills} moments leaves whole what is published, also for who reads it, and the next one repairs the rest`, {
    timeout: 60_000 + kills * 15_000,
  }, async () => {
    const bench = new BuildBench();
    await publishRound(bench, 0);
    const started = performance.now();
    expect(await bench.build()).toMatchObject({ status: 0 });
    const whole = performance.now() - started;
    const address = await serve(bench);
    let isDone = false;
    const reading = follow(address, () => isDone);
    let hits = 0;
    for (let round = 1; round <= kills; round++) {
      await publishRound(bench, round);
      if (await bench.buildAndKill(whole * (0.3 + 0.8 * Math.random()))) hits++;
      expect(bench.findDamage(), `after kill ${round}`).toEqual([]);
      if (round % 5 !== 0) continue;
      expect(await bench.build()).toMatchObject({ status: 0 });
      const reference = new BuildBench();
      await publishRound(reference, round);
      expect(await reference.build()).toMatchObject({ status: 0 });
      // What a killed build saw first counts as first seen, so only that date may differ: the clock stands still.
      expect(bench.read()).toEqual(reference.read());
    }
    isDone = true;
    const { requests, broken } = await reading;
    expect(broken).toEqual([]);
    process.stdout.write(`${hits} of ${kills} kills hit a build of ${Math.round(whole)} ms; ${requests} requests\n`);
    expect(hits).toBeGreaterThan(0);
    expect(requests).toBeGreaterThan(kills);
  });
});

import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { BuildBench } from '../support/building.ts';
import { OriginServer } from '../support/origin-server.ts';
import { patience } from '../support/patience.ts';

let origin: OriginServer;

beforeEach(async () => {
  origin = await OriginServer.start();
});

afterEach(() => origin.stop());

describe('a disk that is full', () => {
  // A limit on the length of a file stands in for the disk: the same calls fail, at the same places. Below the length of
  // the catalog its copy fails, a little above it a document, and further above the catalog as it grows.
  it.each([
    ['a tenth', 0.1],
    ['little more than', 1.06],
    ['nearly twice', 1.7],
  ])('C12: after %s of what the catalog takes keeps what stood before, and says so', async (_, times) => {
    const bench = new BuildBench();
    bench.list([{ slug: 'one', uri: origin.uri('one') }]);
    origin.serve('one', await generateRepository({ packages: makePackages(5) }));
    expect(await bench.build()).toMatchObject({ status: 0 });
    const before = bench.read();

    origin.serve('one', await generateRepository({ packages: makePackages(350, 'q'), compressions: ['plain'] }));
    const limit = Math.ceil((statSync(catalogPath(bench.state)).size * times) / 512);
    const { status, text } = await bench.end(bench.start(`ulimit -f ${limit};`));
    // A snapshot that cannot be kept leaves one repository stale; anything else fails the build as a whole.
    expect(text.includes('stale one') ? [3] : [6]).toContain(status);
    expect(text).toMatch(/The disk is full|stored|snapshot could not be/);
    expect(text).not.toMatch(/ {4}at /);
    // The next one needs the room.
    expect(readdirSync(bench.state).filter((name) => name.startsWith('catalog.next'))).toEqual([]);
    expect(bench.findDamage()).toEqual([]);
    const after = bench.read();
    for (const file of ['v2/jailbreak/repository/ranking/all.json', 'v2/index.json']) {
      expect(after.get(file)).toBe(before.get(file));
    }
    expect(await bench.build()).toMatchObject({ status: 0, text: expect.stringContaining('Packages      350') });
    expect(bench.findDamage()).toEqual([]);
  });
});

describe('the lock', () => {
  it('C12: keeps a second build out, of the state and of the output folder, and a killed one does not leave it behind', async () => {
    const bench = new BuildBench();
    bench.list([{ slug: 'one', uri: origin.uri('one') }]);
    origin.serve('one', await generateRepository());
    expect((await bench.build()).status).toBe(0);
    origin.break('/one/Release', { kind: 'silent' });
    const hanging = bench.start();
    const isAsked = () => origin.requests.some(({ path, status }) => path === '/one/Release' && status === 0);
    await expect.poll(isAsked, patience).toBe(true);
    // The process of the shell became that of the build.
    const refusal = new RegExp(
      `another build is using .+\\(process ${hanging.pid}, since 20.+Z\\): wait for it to end`,
    );
    expect(await bench.build()).toMatchObject({ status: 7, text: expect.stringMatching(refusal) });
    const { state } = bench;
    bench.state = path.join(bench.folder, 'other');
    const refusalOfOutput = new RegExp(`publishing into .+process ${hanging.pid}, since`);
    expect(await bench.build()).toMatchObject({ status: 7, text: expect.stringMatching(refusalOfOutput) });
    bench.state = state;
    hanging.kill('SIGKILL');
    await once(hanging, 'exit');
    origin.mend();
    expect(await bench.build()).toMatchObject({ status: 0, text: expect.stringContaining('1 unchanged') });
  });

  it('C12: a build killed before it told the servers is made good by the next, which has nothing else to do', async () => {
    const bench = new BuildBench();
    bench.list([{ slug: 'one', uri: origin.uri('one') }]);
    origin.serve('one', await generateRepository());
    const generation = () => JSON.parse(readFileSync(path.join(bench.state, 'generation.json'), 'utf8')).generation;
    await bench.build();
    const first = generation();
    await bench.build();
    expect(generation()).toBe(first);
    writeFileSync(path.join(bench.state, 'publishing'), '');
    await bench.build();
    expect(generation()).toBe(first + 1);
    await bench.build();
    expect(generation()).toBe(first + 1);
  });
});

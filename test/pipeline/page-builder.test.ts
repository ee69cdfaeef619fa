import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { PageBuilder } from '../../src/pipeline/site-step.ts';
import { stagedPage } from '../../src/site/staged-page.ts';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { BuildBench } from '../support/building.ts';
import { OriginServer } from '../support/origin-server.ts';
import { patience } from '../support/patience.ts';

const state = mkdtempSync(path.join(tmpdir(), 'debdex-page-builder-'));
afterAll(() => rmSync(state, { recursive: true, force: true }));

const countProcesses = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'ProcessWrap').length;

it('has its process begin before it is asked for, hands it over once, and ends it where nobody asked', async () => {
  const before = countProcesses();
  const asked = new PageBuilder(state);
  expect(countProcesses()).toBe(before + 1);
  const own = asked.take();
  // A build that finds its catalog damaged begins again, with a process of its own.
  expect([own === undefined, asked.take()]).toEqual([false, undefined]);
  asked.end();
  const unasked = new PageBuilder(state);
  expect(countProcesses()).toBe(before + 2);
  unasked.end();
  // At most: one of an earlier file may end meanwhile.
  await expect.poll(countProcesses, patience).toBeLessThanOrEqual(before + 1);
  own?.end();
  await expect.poll(countProcesses, patience).toBeLessThanOrEqual(before);
});

it('is not handed over where it ended while it waited', async () => {
  const all: ChildProcess[] = [];
  const note = (message: unknown) => {
    all.push((message as { readonly process: ChildProcess }).process);
  };
  subscribe('child_process', note);
  onTestFinished(() => void unsubscribe('child_process', note));
  const builder = new PageBuilder(state);
  for (const one of all) {
    one.kill('SIGKILL');
    await once(one, 'exit');
  }
  expect([all.length, builder.take()]).toEqual([1, undefined]);
});

it('is the one of a build, which ends with it, and a build without pages has none; C12: pages that were built and not published are looked at in full where a power cut may have kept their bytes from the disk', async () => {
  const all: ChildProcess[] = [];
  const note = (message: unknown) => {
    all.push((message as { readonly process: ChildProcess }).process);
  };
  const started = () => all.filter(({ spawnargs }) => spawnargs.some((arg) => arg.endsWith('build-process.ts')));
  subscribe('child_process', note);
  onTestFinished(() => void unsubscribe('child_process', note));
  const origin = await OriginServer.start();
  onTestFinished(() => origin.stop());
  origin.serve('one', await generateRepository({ packages: makePackages(2) }));
  const bench = new BuildBench({ site: false });
  bench.list([{ slug: 'one', uri: origin.uri('one') }]);
  for (const [site, processes] of [
    [false, 0],
    [true, 1],
  ] as const) {
    bench.site = site;
    expect(await bench.build()).toMatchObject({ status: 0 });
    expect(started()).toHaveLength(processes);
    // Without them the renderer of a whole community takes twice the memory.
    const flags = ['--max-semi-space-size=32', '--heap-growing-percent=60'];
    for (const { spawnargs } of started()) expect(spawnargs).toEqual(expect.arrayContaining(flags));
  }
  const before = bench.readSite();
  // A disk that never wrote them gives back others in their length.
  const page = path.join(bench.state, 'site', 'pages', stagedPage('package/com.example.p1/index.html'));
  writeFileSync(page, Buffer.alloc(statSync(page).size));
  writeFileSync(path.join(bench.state, 'publishing'), '');
  expect((await bench.build()).status).toBe(0);
  expect(bench.readSite()).toEqual(before);
  await expect
    .poll(() => started().every(({ exitCode, signalCode }) => (exitCode ?? signalCode) !== null), patience)
    .toBe(true);
}, 120_000);

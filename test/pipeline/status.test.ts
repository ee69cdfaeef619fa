import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readBuildRecord } from '../../src/catalog/build-record.ts';
import { lockOutput, lockState } from '../../src/catalog/lock.ts';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { readStale } from '../../src/catalog/stale-repositories.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { statusSchema } from '../../src/contract/envelope.ts';
import { generationPath } from '../../src/contract/generation.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { prepareRehearsal } from '../../src/pipeline/rehearsal.ts';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { BuildBench } from '../support/building.ts';
import { OriginServer } from '../support/origin-server.ts';

vi.setConfig({ testTimeout: 120_000 });

let origin: OriginServer;
let bench: BuildBench;

beforeEach(async () => {
  origin = await OriginServer.start();
  bench = new BuildBench();
  bench.list(['one', 'two'].map((slug) => ({ slug, uri: origin.uri(slug) })));
  // The last one stands there twice, which is a finding.
  for (const slug of ['one', 'two'])
    await origin.serve(
      slug,
      await generateRepository({ packages: [...makePackages(4, slug), ...makePackages(1, slug)] }),
    );
});
afterEach(() => origin.stop());

const at = (second: number) => `SOURCE_DATE_EPOCH=${1_780_000_000 + second} DEBDEX_FAIL_ON_STALE=100% `;
const file = () => path.join(bench.out, documentPath.status);
const readText = () => readFileSync(file(), 'utf8');
const readStatus = () => statusSchema.parse(JSON.parse(readText())).data;
const number = () => JSON.parse(readFileSync(path.join(bench.out, generationPath.current), 'utf8')).number as number;
const readUnanswered = () => {
  const catalog = CatalogFile.openReadOnly(catalogPath(bench.state));
  const slugs = readStale(catalog);
  catalog.close();
  return slugs;
};
const historyOf = (slug: string) => readStatus().repositories.find((one) => one.repository_id === slug)?.history;

describe('/v2/status.json', () => {
  it('C4: tells of each repository its outcome, since when and why, its findings, and the last builds', async () => {
    expect((await bench.build(at(0))).status).toBe(0);
    origin.break('/two/Release', { kind: 'status', status: 404 });
    expect((await bench.build(at(10))).status).toBe(0);
    const { builds, repositories } = readStatus();
    expect(builds).toEqual([
      {
        date: '2026-05-28T20:26:40.000Z',
        ended: 'published',
        repositories: { fresh: 2, unchanged: 0, stale: 0, failed: 0, unvisited: 0 },
        packages: { added: 0, updated: 0, removed: 0 },
      },
      {
        date: '2026-05-28T20:26:50.000Z',
        ended: 'published',
        repositories: { fresh: 0, unchanged: 1, stale: 1, failed: 0, unvisited: 0 },
        packages: { added: 0, updated: 0, removed: 0 },
      },
    ]);
    expect(repositories.map((one) => [one.repository_id, one.outcome, one.history])).toEqual([
      ['one', 'unchanged', 'fu'],
      ['two', 'stale', 'fs'],
    ]);
    const [, two] = repositories;
    expect(two).toMatchObject({ since: '2026-05-28T20:26:50.000Z', confirmed: '2026-05-28T20:26:40.000Z' });
    expect(two?.code).toMatch(/^release-/);
    expect(two?.reason).toMatch(/\w/);
    expect(two?.findings).toEqual([
      { code: expect.stringMatching(/duplicate|repeated/), weight: expect.any(String), count: 1 },
    ]);
    expect(bench.findUntold()).toEqual([]);
    expect(bench.findDamage()).toEqual([]);
    // A search knows it too.
    expect(readUnanswered()).toEqual(['two']);
  });

  it('C4: does not tell a search that a repository cannot be read whose new index is held back', async () => {
    await bench.build(at(0));
    origin.serve('two', await generateRepository({ packages: makePackages(1, 'two') }));
    await bench.build(at(10));
    const [, two] = readStatus().repositories;
    expect(two).toMatchObject({ outcome: 'stale', code: 'index-shrunken', held_back: ['index-shrunken'] });
    expect(readUnanswered()).toEqual([]);
  });

  it('C6: stays as it is, and makes no generation, where a build had nothing to tell; and catches up within a day', async () => {
    await bench.build(at(0));
    await bench.build(at(10));
    const [text, generation] = [readText(), number()];
    await bench.build(at(3600));
    await bench.build(at(7200));
    expect(readText()).toBe(text);
    expect(number()).toBe(generation);
    expect(readBuildRecord(bench.state).builds).toHaveLength(4);
    await bench.build(at(86_420));
    expect(readStatus().builds).toHaveLength(5);
    expect(historyOf('one')).toBe('fuuuu');
    expect(number()).toBe(generation + 1);
    expect(bench.findUntold()).toEqual([]);
  });

  it('C12: is written again where it is gone or damaged, and with --verify', async () => {
    await bench.build(at(0));
    await bench.build(at(10));
    const text = readText();
    for (const damage of [
      () => rmSync(file()),
      () => writeFileSync(file(), text.slice(0, 100)),
      () => writeFileSync(file(), text.replace('"u', '"x')),
    ]) {
      damage();
      await bench.build(at(20));
      expect(readStatus().builds.length).toBeGreaterThan(2);
      expect(bench.findUntold()).toEqual([]);
    }
  });

  it('C12: remembers a build that failed, and one that visited a part', async () => {
    await bench.build(at(0));
    renameSync(bench.out, `${bench.out}.away`);
    writeFileSync(bench.out, 'no folder');
    const failed = await bench.build(at(10));
    rmSync(bench.out);
    renameSync(`${bench.out}.away`, bench.out);
    expect(failed.status).toBe(6);
    const partial = await bench.build(`${at(20)}DEBDEX_ONLY=one `);
    expect(partial).toMatchObject({ status: 0 });
    const { builds } = readStatus();
    expect(builds.map(({ ended }) => ended)).toEqual(['published', 'failed', 'published']);
    expect(builds[2]?.repositories.unvisited).toBe(1);
    expect(historyOf('one')).toBe('f-u');
    expect(historyOf('two')).toBe('f--');
    // What the system said may name folders of this machine: it stays in the state folder.
    expect(readText()).not.toContain(bench.state);
    expect(readFileSync(path.join(bench.state, 'builds.jsonl'), 'utf8')).toContain('"reason"');
  });

  it('leaves no trace of a rehearsal, one that was killed among them, or of a build that another one kept out', async () => {
    await bench.build(at(0));
    const left = prepareRehearsal(bench.state);
    await bench.build(at(0));
    expect(existsSync(left)).toBe(false);
    const before = readText();
    await bench.build(`${at(10)}DEBDEX_DRY_RUN=1 `);
    expect(readText()).toBe(before);
    expect(readBuildRecord(bench.state).builds).toHaveLength(2);
    expect(existsSync(path.join(bench.state, 'publication', 'status.json'))).toBe(true);
    for (const lock of [() => lockState(bench.state), () => lockOutput(path.join(bench.out, '.debdex'), bench.out)]) {
      const unlock = lock();
      expect(await bench.build(at(20))).toMatchObject({ status: 7 });
      unlock();
      expect(readBuildRecord(bench.state).builds).toHaveLength(2);
    }
  });
});

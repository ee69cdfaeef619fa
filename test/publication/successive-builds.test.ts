import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openDownloadsStore } from '../../functions/node/downloads-store.ts';
import { writeLastBuild } from '../../src/catalog/last-build.ts';
import { catalogFormat } from '../../src/catalog/schema.ts';
import { CatalogBuild, catalogPath } from '../../src/catalog/state-catalog.ts';
import { changeListSchema, generationPath } from '../../src/contract/generation.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { assertNotDepleted } from '../../src/pipeline/planned-removals.ts';
import { acceptRemovals, areRemovalsAccepted, RemovalsHeld } from '../../src/snapshots/removals.ts';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { BuildBench } from '../support/building.ts';
import { makeEntry } from '../support/crawling.ts';
import { temporaryFolder } from '../support/folder.ts';
import { OriginServer } from '../support/origin-server.ts';
import { privateKey } from '../support/publication.ts';

let origin: OriginServer;
let bench: BuildBench;

beforeEach(async () => {
  origin = await OriginServer.start();
  bench = new BuildBench();
});

afterEach(() => origin.stop());

const serve = async (slug: string) => {
  origin.serve(slug, await generateRepository({ packages: makePackages(2, slug) }));
  return { slug, uri: origin.uri(slug) };
};

/** Answers nothing of this repository any more. */
const stop = (slug: string) => {
  for (const file of ['InRelease', 'Release']) origin.break(`/${slug}/${file}`, { kind: 'status', status: 404 });
};

/** Has the catalog be of the format before. */
const setFormerFormat = () => {
  const database = new DatabaseSync(catalogPath(bench.state));
  database.exec(`PRAGMA user_version = ${catalogFormat - 1}`);
  database.close();
};

const record = (slug: string) => JSON.parse(bench.read().get(documentPath.repository(slug)) ?? '{}').data;

describe('builds, one after the other', () => {
  it('C4: keep a renamed repository while its origin is down, and its former slug for good', async () => {
    const one = await serve('one');
    bench.list([one]);
    expect((await bench.build()).status).toBe(0);
    const before = record('one');
    stop('one');
    bench.list([{ ...one, slug: 'uno', aliases: ['one'] }]);
    const renamed = await bench.build();
    expect(renamed.text).toContain('1 stale');
    expect(record('uno')).toMatchObject({ package_count: 2, origin_last_updated: before.origin_last_updated });
    expect(record('one')).toEqual(record('uno'));
    bench.list([{ ...one, slug: 'uno' }]);
    await bench.build();
    expect(record('one')).toEqual(record('uno'));
    expect(bench.findDamage()).toEqual([]);
  });

  it('C4: keep the former slugs of repositories whose history is lost', async () => {
    const [one, other] = [await serve('one'), await serve('other')];
    bench.list([one, other]);
    await bench.build();
    bench.list([{ ...one, slug: 'uno', aliases: ['one'] }, other]);
    await bench.build();
    bench.list([{ ...one, slug: 'uno' }, other]);
    rmSync(path.join(bench.state, 'history'), { recursive: true });
    expect((await bench.build()).text).toContain('(history) was missing for other, uno');
    expect(record('one')).toEqual(record('uno'));
    await bench.build();
    expect(record('one')).toEqual(record('uno'));
    // Until another repository takes it.
    bench.list([
      { ...one, slug: 'uno' },
      { ...other, slug: 'one' },
    ]);
    rmSync(path.join(bench.state, 'history'), { recursive: true });
    await bench.build();
    expect(record('one')).toMatchObject({ slug: 'one', uri: other.uri });
    expect(bench.findDamage()).toEqual([]);
  });

  it('C12: pass over what is not theirs among the snapshots, and keep what was published of one that is lost', async () => {
    const one = await serve('one');
    bench.list([one]);
    await bench.build();
    const before = bench.read();
    const snapshots = path.join(bench.state, 'snapshots', 'v1');
    for (const name of ['backup', 'Lost & Found', '.git', 'empty-file']) mkdirSync(path.join(snapshots, name));
    writeFileSync(path.join(snapshots, 'backup', 'mine.txt'), 'mine');
    writeFileSync(path.join(snapshots, 'notes'), 'mine');
    rmSync(path.join(snapshots, 'one', 'meta.json'));
    stop('one');
    const build = await bench.build();
    expect(build.text).toContain('stale one');
    expect(existsSync(path.join(snapshots, 'backup', 'mine.txt'))).toBe(true);
    expect(existsSync(path.join(snapshots, 'Lost & Found'))).toBe(true);
    const changed = [...bench.read()].filter(([file, text]) => before.get(file) !== text).map(([file]) => file);
    // Their examples are what the findings are now.
    expect(changed.filter((file) => !file.includes('openapi'))).toEqual([documentPath.repositoryFindings('one')]);
  });

  it('C12: keep what was published of one whose snapshot is damaged, and say so', async () => {
    bench.list([await serve('one')]);
    await bench.build();
    const before = bench.read();
    const folder = path.join(bench.state, 'snapshots', 'v1', 'one');
    for (const name of readdirSync(folder).filter((one) => !one.endsWith('.json'))) {
      writeFileSync(path.join(folder, name), 'damaged');
    }
    stop('one');
    // With references of another kind all of it is to be read again.
    const { text } = await bench.build('DEBDEX_STATIC_REFS=1 ');
    expect(text).toMatch(
      /stale one: The snapshot could not be read or written: the snapshot of one .+ Check the disk of the state folder/,
    );
    expect(record('one')).toEqual(JSON.parse(before.get(documentPath.repository('one')) ?? '{}').data);
    expect(bench.findDamage()).toEqual([]);
  });

  it.each([
    ['by a version with another format of the catalog', setFormerFormat],
    ['under another slug', () => bench.list([{ slug: 'uno', uri: origin.uri('one'), aliases: ['one'] }])],
  ])('P2: tell of the packages that changed, also %s', async (_, change) => {
    bench.list([await serve('one')]);
    expect((await bench.build()).status).toBe(0);
    origin.serve('one', await generateRepository({ packages: makePackages(3, 'one').slice(1) }));
    change();
    expect((await bench.build()).status).toBe(0);
    const published = (file: string) => JSON.parse(readFileSync(path.join(bench.out, file), 'utf8'));
    const { packages } = changeListSchema.parse(published(published(generationPath.current).changes));
    expect(packages.map((one) => [one.change, one.package_id])).toEqual([
      ['removed', 'com.example.one1'],
      ['added', 'com.example.one3'],
    ]);
  });

  it('C12: put back what one before them published that never ended, though it is as long as what is to be there', async () => {
    const entry = await serve('one');
    const rank = (ranking: number) =>
      writeFileSync(path.join(bench.folder, 'manifest.json'), JSON.stringify([{ ...entry, ranking }]));
    rank(3);
    expect((await bench.build()).status).toBe(0);
    const before = bench.read();
    rank(4);
    const full = vi.spyOn(CatalogBuild.prototype, 'publish').mockRejectedValueOnce(new Error('ENOSPC'));
    // Documents are in their places, and the catalog is not.
    expect((await bench.build()).status).toBe(6);
    full.mockRestore();
    expect(record('one').quality).toBe(4);
    rank(3);
    expect((await bench.build()).status).toBe(0);
    expect(bench.read()).toEqual(before);
    expect(bench.findUntold()).toEqual([]);
  });

  it('C13: tell of downloads what they told before, where these cannot be read', async () => {
    bench.list([await serve('one')]);
    const file = path.join(bench.state, 'downloads.sqlite');
    mkdirSync(bench.state);
    const counted = openDownloadsStore(file, { days: 9, counters: 9, perNetwork: 9, perSite: 9, perDay: 9 });
    // The day before that of the clock of these builds.
    counted.add('2026-05-27', [
      { network: '192.0.2.1', downloads: [{ package_id: 'com.example.one0', package_version: '1.0' }] },
    ]);
    counted.close();
    await bench.build();
    const told = () => JSON.parse(bench.read().get(documentPath.downloads) ?? '{}').data;
    expect(told()).toMatchObject([{ total: 1 }]);
    const before = told();
    writeFileSync(file, 'damaged');
    expect((await bench.build()).text).toContain('downloads-unread');
    expect(told()).toEqual(before);
  });

  it('C4: ask for the word of the operator before they let more than a tenth of a manifest go, and three', async () => {
    const all = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(serve));
    bench.list(all);
    expect((await bench.build()).status).toBe(0);
    const before = bench.read();
    const [a, b] = all;
    if (!a || !b) throw new Error('there are five');
    bench.list([a, b]);
    const refused = await bench.build();
    expect(refused.status).toBe(4);
    expect(refused.text).toContain('3 repositories are no longer in the manifest: c, d, e');
    expect([...bench.read().keys()]).toEqual([...before.keys()]);
    expect(acceptRemovals(bench.state)).toEqual(['c', 'd', 'e']);
    expect((await bench.build()).status).toBe(0);
    expect(bench.read().has(documentPath.repository('c'))).toBe(false);
    // The word was for this once.
    expect(areRemovalsAccepted(bench.state, ['c', 'd', 'e'])).toBe(false);
  });

  it('P1: mend the signature of what is published first of all, also where nothing comes of them', async () => {
    const key = path.join(bench.folder, 'key.pem');
    writeFileSync(key, privateKey);
    const build = () => bench.build(`DEBDEX_SIGNING_KEY=${key} `);
    const all = await Promise.all(['a', 'b', 'c', 'd'].map(serve));
    bench.list(all);
    expect((await build()).status).toBe(0);
    const file = path.join(bench.out, generationPath.signature);
    const signature = readFileSync(file, 'utf8');
    writeFileSync(file, 'of another generation');
    bench.list(all.slice(0, 1));
    expect((await build()).text).toContain('3 repositories are no longer in the manifest');
    expect(readFileSync(file, 'utf8')).toBe(signature);
  });
});

describe('a manifest that loses entries', () => {
  const check = (known: number, kept: number, aliases: string[] = []) => {
    const state = temporaryFolder();
    const builtAt = '2026-06-01T12:00:00.000Z';
    const slugs = Array.from({ length: known }, (_, index) => `r${index}`);
    const repositories = slugs.map((slug) => ({
      ...{ slug, uri: 'https://r.example/', code: null, reason: null, detail: null, confirmedAt: null },
      ...{ since: builtAt, visitedAt: builtAt, signing: null, heldBack: [], findings: [] },
      outcome: 'unchanged' as const,
    }));
    writeLastBuild(state, { format: 2, builtAt, repositories });
    const entries = slugs.slice(0, kept).map((slug) => makeEntry(slug, `https://${slug}.example/`));
    const [first, ...rest] = entries;
    const manifest = first ? [{ ...first, aliases }, ...rest] : [];
    return () => assertNotDepleted(state, manifest);
  };

  it('C4: is asked about from more than a tenth on, and from three; a former slug is not lost', () => {
    expect(check(5, 3)).not.toThrow();
    expect(check(5, 2)).toThrow(RemovalsHeld);
    expect(check(40, 36)).not.toThrow();
    expect(check(40, 35)).toThrow(/5 repositories are no longer in the manifest: r35, r36/);
    expect(check(5, 2, ['r4'])).not.toThrow();
  });
});

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { limitNote, limits } from '../../src/contract/limits.ts';
import { documentPath } from '../../src/contract/paths.ts';
import type { CrawlOutcome } from '../../src/crawl/crawl.ts';
import { readKeptDepiction } from '../../src/depictions/kept-depiction.ts';
import { type Fields, generateRepository, makePackages } from '../support/apt-repository.ts';
import { BuildBench } from '../support/building.ts';
import { bench, useCrawlBench } from '../support/crawl-bench.ts';
import { type CrawlBench, makeEntry } from '../support/crawling.ts';
import { OriginServer } from '../support/origin-server.ts';

let other: OriginServer | undefined;

useCrawlBench();
afterEach(async () => {
  await other?.stop();
  other = undefined;
});

const day = 86_400;
const telling = (text: string): string =>
  JSON.stringify({
    class: 'DepictionTabView',
    tabs: [{ tabname: 'Details', class: 'DepictionStackView', views: [{ class: 'DepictionLabelView', text }] }],
  });
const urlOf = (name: string): string => bench.origin.uri(`repo/depictions/${name}.json`);
const put = (name: string, text = telling(name)): void => bench.origin.put(`/repo/depictions/${name}.json`, text);

/** Serves packages that name these addresses, each its own. */
const serve = async (urls: readonly string[], more: readonly Fields[] = []): Promise<void> => {
  const packages = makePackages(urls.length).map((fields, place) => ({ ...fields, SileoDepiction: urls[place] ?? '' }));
  const files = await generateRepository({ packages: [...packages, ...more], compressions: ['plain'] });
  for (const [path, bytes] of files) bench.origin.put(`/repo${path}`, bytes);
};
/** Serves so many packages, each with a depiction. */
const serveTelling = async (count: number): Promise<string[]> => {
  const names = Array.from({ length: count }, (_, place) => `d${place}`);
  for (const name of names) put(name);
  await serve(names.map(urlOf));
  return names;
};

interface Crawled extends CrawlOutcome {
  /** What was asked of depictions, and how it was answered. */
  readonly told: readonly string[];
  readonly asked: readonly string[];
}
const crawl = async (
  options: Parameters<CrawlBench['crawlOne']>[0] = {},
  entry?: Parameters<CrawlBench['crawlOne']>[1],
) => {
  const outcome = await bench.crawlOne({ depictions: true, ...options }, entry);
  const told = outcome.asked
    .filter((line) => line.startsWith('/depictions/'))
    .map((line) => line.slice('/depictions/'.length));
  return { ...outcome, told } satisfies Crawled;
};
const kept = (url: string) => readKeptDepiction(bench.store.depictions.root, 'repo', url);
const wordsOf = (url: string): string => JSON.stringify(kept(url) ?? null);
const whyOf = ({ findings }: CrawlOutcome) => findings.filter(({ code }) => code === 'depiction-unusable');
const folder = () => join(bench.store.depictions.root, 'repo', 'depictions', 'v1');

it('C6: nothing is asked and nothing is kept of depictions unless that is switched on', async () => {
  await serveTelling(2);
  const plain = await crawl({ depictions: false });
  expect(plain.told).toEqual([]);
  expect(await readdir(join(bench.store.depictions.root, 'repo'))).not.toContain('depictions');
  expect((await crawl({ depictions: false })).requests).toBe(1);
});

it('C6: a depiction is asked for once, then by its validators once a week, a few in each visit and no more', async () => {
  const names = await serveTelling(limits.depictionsPerVisit + 3);
  const first = await crawl();
  expect(first.outcome).toBe('fresh');
  expect(first.told).toEqual(names.slice(0, limits.depictionsPerVisit).map((name) => `${name}.json 200`));
  expect((await crawl()).told).toEqual(names.slice(limits.depictionsPerVisit).map((name) => `${name}.json 200`));
  expect(await crawl()).toMatchObject({ outcome: 'unchanged', requests: 1, told: [] });
  expect(wordsOf(urlOf('d22'))).toContain('"d22"');
  bench.pass(7 * day - 1);
  expect((await crawl({ limits: { extrasMs: 30 * day * 1000 } })).told).toEqual([]);
  bench.pass(1);
  put('d1', telling('changed'));
  const later = await crawl();
  expect(later.told).toHaveLength(limits.depictionsPerVisit);
  expect(later.told.filter((line) => !line.endsWith(' 304'))).toEqual(['d1.json 200']);
  expect(wordsOf(urlOf('d1'))).toContain('changed');
  expect(wordsOf(urlOf('d2'))).toContain('"d2"');
  expect(whyOf(later)).toEqual([]);
});

it('C6: what was asked for under a clock that was ahead is asked for again', async () => {
  await serveTelling(1);
  const { now } = bench;
  bench.pass(30 * day);
  expect((await crawl()).told).toEqual(['d0.json 200']);
  bench.now = now;
  expect((await crawl()).told).toEqual(['d0.json 304']);
  expect((await crawl()).told).toEqual([]);
});

it('C4: what does not arrive stays as it was and is asked for again the next day; what is gone goes', async () => {
  await serveTelling(4);
  await crawl();
  bench.pass(7 * day);
  bench.origin.break('/repo/depictions/d0.json', { kind: 'status', status: 500 });
  bench.origin.break('/repo/depictions/d1.json', { kind: 'status', status: 404 });
  put('d2', telling('half of what was sent'));
  bench.origin.break('/repo/depictions/d2.json', { kind: 'cut', after: 30 });
  put('d3', '<html>Not found</html>');
  const failed = await crawl();
  expect(failed.outcome).toBe('unchanged');
  expect(whyOf(failed)).toMatchObject([{ count: 4, example: `${urlOf('d0')} (status 500)` }]);
  expect([urlOf('d0'), urlOf('d1'), urlOf('d2'), urlOf('d3')].map((url) => kept(url) !== undefined)).toEqual([
    true,
    false,
    true,
    false,
  ]);
  expect(wordsOf(urlOf('d2'))).toContain('"d2"');
  bench.origin.mend();
  expect((await crawl()).told).toEqual([]);
  bench.pass(day);
  expect((await crawl()).told.sort()).toEqual(['d0.json 304', 'd2.json 200']);
  expect(wordsOf(urlOf('d2'))).toContain('half of what was sent');
  expect(await crawl({ depictions: false })).toMatchObject({ findings: [] });
});

it('C1: leads nowhere that a redirect may not lead, and what refuses it opens no socket', async () => {
  const bad = [
    'http://127.0.0.1:22/d.json',
    'http://10.1.2.3/d.json',
    'http://[::1]/d.json',
    'http://0x7f000001:8443/d.json',
  ];
  put('away');
  bench.origin.break('/repo/depictions/away.json', { kind: 'redirect', location: 'http://10.1.2.3/secret.json' });
  await serve([...bad.slice(0, 1), urlOf('away')]);
  const outcome = await crawl();
  expect(outcome).toMatchObject({ outcome: 'fresh', told: ['away.json 302'] });
  expect(whyOf(outcome)).toMatchObject([{ count: 2, example: `${bad[0]} (port-refused)` }]);
  await serve(bad.slice(1));
  const refused = await crawl();
  expect(refused.outcome).toBe('fresh');
  expect(whyOf(refused)[0]?.example).toMatch(/address-refused/);
  expect(await readdir(folder())).toEqual(['list.json']);
});

it('C2, C7: two hosts that do not answer are enough for a visit, which succeeds all the same', async () => {
  const silent = [
    'http://127.0.0.7:PORT/a',
    'http://127.0.0.7:PORT/b',
    'http://127.0.0.8:PORT/c',
    'http://127.0.0.9:PORT/d',
  ];
  const port = String(bench.origin.port);
  put('well');
  put('huge', telling('x'.repeat(limits.depictionBytes)));
  await serve([urlOf('huge'), ...silent.map((url) => url.replace('PORT', port)), urlOf('well')]);
  const outcome = await crawl();
  expect(outcome.outcome).toBe('fresh');
  expect(outcome.told).toEqual(['huge.json 200']);
  expect(whyOf(outcome)).toMatchObject([
    { count: 3, example: `${urlOf('huge')} (too-large, ${limitNote('depictionBytes')})` },
  ]);
  // Of a host that was silent nothing more is asked for a day; those that were not come to are next.
  const next = await crawl();
  expect(next.told).toEqual(['well.json 200']);
  expect(whyOf(next)).toMatchObject([{ count: 4 }]);
  expect(outcome.findings.map(({ code }) => code)).not.toContain('extras-unanswered');
});

it('C4, C7: one that its host never answers takes nothing from those before it, and does not keep back those after it', async () => {
  await serveTelling(4);
  bench.origin.break('/repo/depictions/d1.json', { kind: 'reset' });
  expect((await crawl()).told.filter((line) => line.endsWith('200'))).toEqual(['d0.json 200']);
  expect(wordsOf(urlOf('d0'))).toContain('"d0"');
  expect((await crawl()).told).toEqual([]);
  bench.pass(day);
  const next = await crawl();
  expect(next.told.filter((line) => line.endsWith('200'))).toEqual(['d2.json 200', 'd3.json 200']);
  expect(whyOf(next)).toMatchObject([{ count: 1, example: `${urlOf('d1')} (connection)` }]);
  expect(wordsOf(urlOf('d0'))).toContain('"d0"');
});

it('C7: a visit whose time ends while a depiction does not come keeps all that it found', async () => {
  await serveTelling(2);
  const over = new AbortController();
  bench.origin.break('/repo/depictions/d0.json', () => {
    over.abort();
    return { kind: 'stall', after: 5 };
  });
  const network = { headersMs: 60_000, graceMs: 60_000, totalMs: 60_000 };
  expect(await crawl({ network, stop: over.signal })).toMatchObject({ outcome: 'fresh', code: null });
  bench.origin.mend();
  expect((await crawl()).told).toEqual(['d0.json 200', 'd1.json 200']);
});

it('C6: a host that asks for a pause is asked for nothing more until it is over', async () => {
  await serveTelling(3);
  bench.origin.break('/repo/depictions/d0.json', { kind: 'status', status: 429, headers: { 'retry-after': '7200' } });
  expect((await crawl()).told).toEqual(['d0.json 429']);
  bench.origin.mend();
  bench.pass(7199);
  expect((await crawl()).told).toEqual([]);
  bench.pass(1);
  expect((await crawl()).told).toEqual(['d1.json 200', 'd2.json 200']);
});

it('C6: headers that are for the repository alone are sent to no other host', async () => {
  other = await OriginServer.start('127.0.0.2', undefined, bench.origin.port);
  put('own');
  other.put('/d.json', telling('other'));
  const [elsewhere, home] = [`${other.uri()}/d.json`, urlOf('own')];
  await serve([home, elsewhere]);
  await crawl({}, makeEntry('repo', bench.origin.uri('repo'), { headers: { 'X-Machine': 'iPhone10,1' } }));
  expect(wordsOf(elsewhere)).toContain('other');
  expect(other.requests.map(({ headers }) => headers['x-machine'])).toEqual([undefined]);
  expect(bench.origin.requests.find(({ path }) => path.endsWith('/own.json'))?.headers['x-machine']).toBe('iPhone10,1');
});

it('C6: follows a redirect that may be, and tells nobody to name that in the manifest; builds of one version may differ', async () => {
  put('here');
  put('other');
  bench.origin.break('/repo/depictions/moved.json', { kind: 'redirect', location: urlOf('here') });
  const [first = {}] = makePackages(1);
  await serve([urlOf('moved')], [{ ...first, Architecture: 'iphoneos-arm', SileoDepiction: urlOf('other') }]);
  const outcome = await crawl();
  expect(outcome.told).toEqual(['moved.json 302', 'here.json 200', 'other.json 200']);
  expect(wordsOf(urlOf('moved'))).toContain('"here"');
  expect(outcome.findings).toEqual([]);
});

it('C4: keeps what the newest versions name, and forgets it with the package', async () => {
  for (const name of ['new', 'old', 'gone']) put(name);
  const [first = {}, second = {}] = makePackages(2);
  const older = { ...first, Version: '0.9', SileoDepiction: urlOf('old') };
  await serve([urlOf('new')], [older, { ...second, SileoDepiction: urlOf('gone') }]);
  expect((await crawl()).told.sort()).toEqual(['gone.json 200', 'new.json 200']);
  expect(await readdir(folder())).toHaveLength(3);
  await serve([urlOf('new')], [older]);
  expect((await crawl()).told).toEqual([]);
  expect(await readdir(folder())).toHaveLength(2);
  expect([kept(urlOf('new')) !== undefined, kept(urlOf('gone'))]).toEqual([true, undefined]);
  // A repository that gets another name takes them along.
  expect(await bench.store.adopt('renamed', 'repo')).toBe(true);
  expect(kept(urlOf('new'))).toBeUndefined();
  expect(readKeptDepiction(bench.store.depictions.root, 'renamed', urlOf('new'))).toBeDefined();
  expect(await bench.store.removeUnused(new Set(), new Date('2027-01-01'))).toEqual(['renamed']);
  expect(readKeptDepiction(bench.store.depictions.root, 'renamed', urlOf('new'))).toBeUndefined();
});

it('C12: a damaged list is made again and loses nothing that is shown; a damaged depiction is fetched anew', async () => {
  const [name = ''] = await serveTelling(1);
  await crawl();
  const [file = ''] = (await readdir(folder())).filter((one) => one !== 'list.json');
  await writeFile(join(folder(), 'list.json'), '{"source":[');
  expect((await crawl()).told).toEqual([`${name}.json 200`]);
  expect(wordsOf(urlOf(name))).toContain(name);
  await writeFile(
    join(folder(), file),
    '{"tint":null,"sections":[{"title":null,"blocks":[{"kind":"html"}]}],"screenshots":[]}',
  );
  expect(kept(urlOf(name))).toBeUndefined();
  bench.pass(7 * day);
  expect((await crawl()).told).toEqual([`${name}.json 200`]);
  expect(wordsOf(urlOf(name))).toContain(name);
  await writeFile(join(folder(), 'list.json'), '');
  bench.origin.break(`/repo/depictions/${name}.json`, { kind: 'status', status: 500 });
  await crawl();
  expect(wordsOf(urlOf(name))).toContain(name);
});

it('C6, C11: the word of service.yaml decides whether a build asks for depictions and shows them; documents and catalog stay as they are', async () => {
  put('told', telling('Told at length.'));
  // Two packages name it.
  await serve([urlOf('told'), urlOf('told')]);
  const build = new BuildBench({ site: true });
  build.list([{ slug: 'repo', uri: bench.origin.uri('repo') }]);
  const data = join(build.folder, 'data');
  mkdirSync(data);
  copyFileSync(join(import.meta.dirname, '..', '..', 'data', 'safety.yaml'), join(data, 'safety.yaml'));
  const run = async (more: string) => {
    const service = `name: Mine\ncontact_email: ops@debdex.dev\ncopyright: Me\nprivacy_updated: "2026-11-22"\n${more}`;
    writeFileSync(join(data, 'service.yaml'), service);
    bench.origin.reset();
    const { status, text } = await build.build(`DEBDEX_DATA=${data} `);
    expect(status, text).toBe(0);
    const read = (name: string) => readFileSync(join(build.out, name), 'utf8');
    return {
      asked: bench.origin.requests.map((request) => `${request.path} ${request.status}`),
      page: read('package/com.example.p2/index.html'),
      document: read(documentPath.package('com.example.p2')),
      catalog: JSON.parse(read('v2/generation.json')).catalog.sha256,
    };
  };
  const shown = await run('native_depictions: true\n');
  expect(shown.asked.filter((line) => line.includes('told'))).toEqual(['/repo/depictions/told.json 200']);
  expect(shown.page).toContain('Told at length.');
  const without = await run('');
  expect(without.page).not.toContain('id="depiction"');
  expect(without.asked).toEqual(['/repo/Release 304']);
  expect([without.document, without.catalog]).toEqual([shown.document, shown.catalog]);
}, 120_000);

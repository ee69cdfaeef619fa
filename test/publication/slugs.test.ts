import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CatalogFiles } from '../../functions/node/catalog-files.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { isAskable, repositoryWords } from '../../src/contract/public-addresses.ts';
import type { PackageRecord, RepositoryRecord } from '../../src/contract/records.ts';
import { page } from '../../src/site/addresses.ts';
import { generateRepository } from '../support/apt-repository.ts';
import { namedAddresses, unanswered } from '../support/named-addresses.ts';
import { OriginServer } from '../support/origin-server.ts';
import { runScript } from '../support/run-script.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

const base = 'https://index.test';

// Words of the API, names of its documents and of pages, each beside the one that it would be taken for, and capitals.
const slugs = [
  'A.b_C-1',
  'Foo',
  'x',
  'x.json',
  'x.json.json',
  'search',
  'search.json',
  'ranking',
  'safety',
  'packages',
  'findings',
  'all.json',
  'a',
  'a.',
  'a.packages',
  'a..b',
  '1',
  'index.html',
  'feed.atom',
  'con',
  'constructor',
  'toString',
  'Z'.repeat(64),
];
const formerSlugs = ['Old_Name', 'old.json', 'Multi'];

const folder = mkdtempSync(path.join(tmpdir(), 'debdex-slugs-'));
const [out, state, manifest] = ['dist', 'state', 'manifest.json'].map((name) => path.join(folder, name)) as [
  string,
  string,
  string,
];

let origin: OriginServer;
let search: CatalogFiles;
let server: TestServer;

const repositories = () => slugs.map((slug, at) => ({ slug, uri: origin.uri(`r${at}`) }));
const listed = (change: (slug: string) => object = () => ({})) =>
  repositories().map((one) => ({
    ...one,
    ...(one.slug === 'Foo' ? { aliases: formerSlugs } : {}),
    ...change(one.slug),
  }));

const build = async (repositories: readonly object[]): Promise<void> => {
  writeFileSync(manifest, JSON.stringify(repositories.map((one) => ({ ...one, ranking: 3 }))));
  const flags = [
    '--manifest',
    manifest,
    '--state',
    state,
    '--out',
    out,
    '--base-url',
    base,
    '--allow-private-networks',
  ];
  const { status, text } = await runScript('build', flags);
  expect(status, text).toBe(0);
};

beforeAll(async () => {
  origin = await OriginServer.start();
  for (const [at] of slugs.entries()) {
    const stanza = `Package: com.example.p${at}\nName: Number ${at}\nVersion: 1\nArchitecture: iphoneos-arm64\nFilename: p.deb\nSize: 1\n`;
    origin.serve(`r${at}`, await generateRepository({ packages: stanza }));
  }
  await build(listed());
  search = new CatalogFiles(state);
  const published = { folder: out, state: state, write: () => {}, remove: () => {} };
  server = await startTestServer({ published, overrides: { search, publicAddress: () => base } });
}, 240_000);
afterAll(async () => {
  await server.close();
  search.close();
  await origin.stop();
  rmSync(folder, { recursive: true });
});

/** Asks without following: some hundred times, and `fetch`, which has them compressed, takes twice as long. */
const ask = async (address: string) => {
  const { statusCode, headers, body } = await request(server.address + address);
  return { status: statusCode, location: headers.location, text: await body.text() };
};
const read = async <T>(address: string): Promise<T> => {
  const { status, text } = await ask(address.startsWith(base) ? address.slice(base.length) : address);
  expect(status, address).toBe(200);
  return (JSON.parse(text) as { data: T }).data;
};
const only = (records: readonly PackageRecord[]) => [...new Set(records.map(({ repository_id: id }) => id))];

it('C9: a repository is found under every documented address, whatever its slug', async () => {
  const all = await read<RepositoryRecord[]>('/v2/jailbreak/repository/ranking?rank=*');
  expect(all.map(({ slug }) => slug)).toEqual([...slugs].sort());
  for (const { slug, refs } of all) {
    const address = `/v2/jailbreak/repository/${slug}`;
    expect((await read<RepositoryRecord>(refs.meta)).slug).toBe(slug);
    if (isAskable(slug, repositoryWords)) expect((await read<RepositoryRecord>(address)).slug).toBe(slug);
    expect((await read<RepositoryRecord>(`/${documentPath.repository(slug)}`)).slug).toBe(slug);
    const [record, ...others] = await read<PackageRecord[]>(refs.packages);
    expect([record?.repository_id, others], slug).toEqual([slug, []]);
    expect((await read<RepositoryRecord>(record?.refs.repo ?? '')).slug).toBe(slug);
    for (const list of [
      `${address}/packages`,
      `${address}/packages?limit=1`,
      `/${documentPath.repositoryPackages(slug)}`,
    ]) {
      expect(only(await read<PackageRecord[]>(list)), list).toEqual([slug]);
    }
    const answer = JSON.parse((await ask(`${address}/packages?limit=1`)).text) as { refs: object };
    expect(answer.refs).toEqual({});
    expect(await read<object>(`${address}/findings`)).toMatchObject({ repository_id: slug });
    // Of one letter no question is long enough.
    if (slug.length === 1) continue;
    const found = await read<RepositoryRecord[]>(`/v2/jailbreak/repository/search?q=${slug}`);
    expect(
      found.map((one) => one.slug),
      slug,
    ).toContain(slug);
  }
});

it('C9: slugs are compared exactly, and former ones lead to the present one', async () => {
  for (const slug of ['foo', 'FOO', 'a.b_c-1', 'X.json', 'z'.repeat(64), 'old_name']) {
    expect((await ask(`/v2/jailbreak/repository/${slug}/packages`)).status, slug).toBe(404);
    expect((await ask(`/v2/jailbreak/repository/${slug}`)).status, slug).toBe(404);
  }
  for (const slug of formerSlugs) {
    const address = isAskable(slug, repositoryWords) ? slug : `${slug}.json`;
    expect((await read<RepositoryRecord>(`/v2/jailbreak/repository/${address}`)).slug).toBe('Foo');
    expect((await ask(page.repository(slug))).text).toContain(`${base}${page.repository('Foo')}`);
  }
});

it('C9: each has its page and its feeds, which are found by the slug as it is too', async () => {
  for (const [at, slug] of slugs.entries()) {
    const home = await ask(page.repository(slug));
    expect(home.status, slug).toBe(200);
    expect(home.text, slug).toContain(`Number ${at}`);
    for (const feed of [page.atom(slug), page.jsonFeed(slug)]) expect((await ask(feed)).status, feed).toBe(200);
    for (const rest of ['/', '/feed.atom', '/feed.json?x=1']) {
      const { status, location } = await ask(`/repository/${slug}${rest}`);
      const own = `${page.repository(slug)}${rest.slice(1)}`;
      expect([status, location], own).toEqual(own === `/repository/${slug}${rest}` ? [200, undefined] : [308, own]);
    }
  }
  expect((await ask('/repository/')).status).toBe(200);
  for (const none of [
    '/repository/Foe/',
    '/repository/A',
    '/repository/Foo/none',
    '/repository//',
    '/repository/a%2f../',
  ]) {
    expect((await ask(none)).status, none).toBeGreaterThanOrEqual(400);
  }
});

it('P4: everything that is named answers, and no two files meet on a disk without letter case', async () => {
  const named = namedAddresses(out, base);
  expect(named.size).toBeGreaterThan(8 * slugs.length);
  expect(await unanswered(named, server.address)).toEqual([]);
  const files = readdirSync(out, { recursive: true, encoding: 'utf8' });
  expect(new Set(files.map((file) => file.toLowerCase())).size).toBe(files.length);
  expect(files.filter((file) => file.split(path.sep).some((segment) => segment.endsWith('.')))).toEqual([]);
});

it('C4: a repository that is renamed in letter case alone stays, and what is not in its way does too', async () => {
  const before = await read<RepositoryRecord>('/v2/jailbreak/repository/Foo');
  const at = slugs.indexOf('Foo');
  for (const file of ['InRelease', 'Release']) origin.break(`/r${at}/${file}`, { kind: 'status', status: 404 });
  const rest = listed((slug) => (slug === 'Foo' ? { slug: 'foo' } : {})).filter(({ slug }) => slug !== 'x.json');
  await build(rest);
  search.refresh();
  const after = await read<RepositoryRecord>('/v2/jailbreak/repository/foo');
  expect(after).toMatchObject({ slug: 'foo', date: before.date, package_count: 1 });
  for (const slug of ['Foo', ...formerSlugs]) {
    const address = isAskable(slug, repositoryWords) ? slug : `${slug}.json`;
    expect((await read<RepositoryRecord>(`/v2/jailbreak/repository/${address}`)).slug).toBe('foo');
  }
  expect((await ask('/v2/jailbreak/repository/x.json/packages')).status).toBe(404);
  expect((await read<RepositoryRecord>('/v2/jailbreak/repository/x')).slug).toBe('x');
  expect((await read<RepositoryRecord>('/v2/jailbreak/repository/x.json')).slug).toBe('x');
  expect((await read<RepositoryRecord>('/v2/jailbreak/repository/x.json.json.json')).slug).toBe('x.json.json');
  // That a file answers under its own name was seen above: here what others name.
  const isOwnName = (asked: string, file: string) =>
    decodeURIComponent(asked.replace(/\/$/, '/index.html')) === `/${file}`;
  const named = [...namedAddresses(out, base)].filter(([asked, file]) => !isOwnName(asked, file));
  expect(named.length).toBeGreaterThan(slugs.length);
  expect(await unanswered(new Map(named), server.address)).toEqual([]);
});

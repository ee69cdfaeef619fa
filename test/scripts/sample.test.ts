import { execFileSync, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { publishSample } from '../../scripts/sample.ts';
import { sha256Hex } from '../../src/apt/checksums.ts';
import { type PackageStanza, parsePackage } from '../../src/apt/packages-index.ts';
import { parseRelease } from '../../src/apt/release.ts';
import { createStanzaReader, type Stanza } from '../../src/apt/stanza.ts';
import type { ManifestEntry } from '../../src/contract/manifest.ts';
import { crawlAll } from '../../src/crawl/crawl.ts';
import { NetworkError } from '../../src/net/network-error.ts';
import { openStore } from '../../src/snapshots/store.ts';
import { temporaryFolder } from '../support/folder.ts';
import { readDeb } from './deb-reader.ts';

const base = 'http://localhost:8080';
const out = mkdtempSync(join(tmpdir(), 'debdex-sample-'));
afterAll(() => rmSync(out, { recursive: true, force: true }));
const { entries, fetcher } = await publishSample(out, base);

const folderOf = ({ slug }: ManifestEntry): string => join(out, 'sample', slug);
const releaseFolder = (entry: ManifestEntry): string =>
  entry.suite === './' ? folderOf(entry) : join(folderOf(entry), 'dists', entry.suite);
const indexFolder = (entry: ManifestEntry): string =>
  entry.suite === './' ? folderOf(entry) : join(releaseFolder(entry), entry.component ?? '', `binary-${entry.binary}`);

const readStanzas = (text: Uint8Array): Stanza[] => {
  const stanzas: Stanza[] = [];
  const reader = createStanzaReader({
    stanza: (fields) => stanzas.push(fields),
    finding: (code, detail) => expect.fail(`${code}: ${detail}`),
  });
  reader.write(text);
  reader.end();
  return stanzas;
};

const packagesOf = (entry: ManifestEntry): { stanza: Stanza; value: PackageStanza }[] =>
  readStanzas(readFileSync(join(indexFolder(entry), 'Packages'))).map((stanza) => {
    const parsed = parsePackage(stanza);
    if (!parsed.ok) return expect.fail(parsed.finding);
    expect(parsed.findings).toEqual([]);
    return { stanza, value: parsed.value };
  });
const everyPackage = entries.flatMap((entry) => packagesOf(entry).map((found) => ({ entry, ...found })));

const tree = (folder: string): Map<string, string> =>
  new Map(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => statSync(join(folder, path)).isFile())
      .sort()
      .map((path) => [path, sha256Hex(readFileSync(join(folder, path)))]),
  );

const toPath = (address: string): string => {
  expect(address.startsWith(`${base}/sample/`)).toBe(true);
  return join(out, new URL(address).pathname);
};

const drain = async (body: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
};

describe('the repositories of the sample', () => {
  it('are four, one of them a bootstrap with dists/', () => {
    expect(entries.map(({ slug, uri }) => [slug, uri])).toEqual(
      ['amberlane', 'cornerstone', 'lampyrid', 'papercut'].map((slug) => [slug, `${base}/sample/${slug}`]),
    );
    expect(entries.filter(({ bootstrap, suite }) => bootstrap && suite !== './').length).toBe(1);
  });

  it.each(entries)('$slug has a Release whose hashes are true', (entry) => {
    const release = parseRelease(readFileSync(join(releaseFolder(entry), 'Release')));
    expect(release.findings).toEqual([]);
    expect(release.files.size).toBeGreaterThanOrEqual(2);
    for (const { path, size, sha256 } of release.files.values()) {
      const bytes = readFileSync(join(releaseFolder(entry), path));
      expect({ path, size: bytes.length, sha256: sha256Hex(bytes) }).toEqual({ path, size, sha256 });
    }
    expect(Date.parse(release.date ?? '')).toBeLessThan(Date.now());
    const used = packagesOf(entry).map(({ value }) => value.architecture);
    expect(release.architectures).toEqual([...new Set(used)].sort());
  });

  it.each(entries)('$slug has one text in every compression', (entry) => {
    const folder = indexFolder(entry);
    const plain = readFileSync(join(folder, 'Packages'));
    const compressed = readdirSync(folder).filter((name) => name.startsWith('Packages.'));
    expect(compressed.length).toBeGreaterThan(0);
    for (const name of compressed) {
      const decompress = name.endsWith('.gz') ? gunzipSync : zstdDecompressSync;
      expect(decompress(readFileSync(join(folder, name))).equals(plain)).toBe(true);
    }
  });

  it('have packages of every kind that the index tells apart', () => {
    const values = everyPackage.map(({ value }) => value);
    expect(values.length).toBeGreaterThanOrEqual(25);
    expect(values.length).toBeLessThanOrEqual(40);
    const keys = everyPackage.map(({ entry, value: { package: id, version, architecture } }) =>
      [entry.slug, id, version, architecture].join(' '),
    );
    expect(new Set(keys).size).toBe(keys.length);
    expect(new Set(values.map((value) => value.architecture))).toEqual(
      new Set(['iphoneos-arm', 'iphoneos-arm64', 'all']),
    );
    const homes = Map.groupBy(everyPackage, ({ value }) => value.package);
    expect([...homes.values()].some((home) => new Set(home.map(({ entry }) => entry)).size > 1)).toBe(true);
    expect([...homes.values()].some((home) => new Set(home.map(({ value }) => value.version)).size > 2)).toBe(true);
    expect(values.some(({ tags }) => tags?.includes('cydia::commercial'))).toBe(true);
    expect(values.some(({ name, section }) => name === null && section === null)).toBe(true);
    expect(values.some(({ description }) => description?.includes('\n\n'))).toBe(true);
    expect(new Set(values.map(({ section }) => section)).size).toBeGreaterThan(12);
    for (const field of ['depends', 'preDepends', 'conflicts', 'breaks', 'replaces', 'provides', 'header'] as const) {
      expect(values.some((value) => value[field] !== null)).toBe(true);
    }
  });

  it('have an answer for every address that a stanza names', () => {
    for (const { value } of everyPackage) {
      for (const image of [value.icon, value.header]) {
        if (image === null) continue;
        expect(readFileSync(toPath(image)).subarray(1, 4).toString()).toBe('PNG');
      }
      if (value.nativeDepiction === null) continue;
      const depiction = JSON.parse(readFileSync(toPath(value.nativeDepiction), 'utf8'));
      expect(depiction).toMatchObject({ class: 'DepictionTabView', minVersion: '0.1' });
      if (value.header !== null) expect(depiction.headerImage).toBe(value.header);
    }
    expect(everyPackage.some(({ value }) => value.nativeDepiction !== null)).toBe(true);
  });
});

describe('the package files of the sample', () => {
  it('have the size and hash that their stanza says', () => {
    for (const { entry, value } of everyPackage) {
      const bytes = readFileSync(join(folderOf(entry), value.filename));
      expect([bytes.length, sha256Hex(bytes)]).toEqual([value.size, value.sha256]);
    }
  });

  it('hold the control fields of their stanza and the files they install', async () => {
    for (const { entry, stanza, value } of everyPackage) {
      const { control, data } = await readDeb(readFileSync(join(folderOf(entry), value.filename)));
      expect([...control.keys()]).toEqual(['./', './control', './md5sums']);
      const [fields] = readStanzas(Buffer.from(control.get('./control') ?? ''));
      const repositoryFields = ['filename', 'size', 'sha256'];
      expect(fields).toEqual(new Map([...stanza].filter(([name]) => !repositoryFields.includes(name))));
      const root = value.architecture === 'iphoneos-arm64' ? './var/jb/usr' : './usr';
      const readme = `${root}/share/doc/${value.package}/README`;
      expect(data.get(readme)).toContain(value.version);
      expect([...data.keys()].at(-1)).toBe(readme);
      for (const folder of [...data.keys()].slice(1)) {
        expect(data.has(folder.replace(/[^/]+\/?$/, ''))).toBe(true);
      }
    }
  });

  const dpkg = spawnSync('dpkg-deb', ['--version']);
  it.skipIf(dpkg.error !== undefined)(
    'are read by dpkg-deb as by us (skipped where there is no dpkg-deb)',
    async () => {
      // Two of each repository: a process of dpkg-deb has nothing to tell of the others that these did not.
      const some = entries.flatMap((one) => everyPackage.filter(({ entry }) => entry === one).slice(0, 2));
      for (const { entry, stanza, value } of some) {
        const path = join(folderOf(entry), value.filename);
        const [fields] = readStanzas(execFileSync('dpkg-deb', ['--field', path]));
        for (const [name, text] of fields ?? []) expect([name, text]).toEqual([name, stanza.get(name)]);
        expect(fields?.get('package')).toBe(value.package);
        const { data } = await readDeb(readFileSync(path));
        const listed = execFileSync('dpkg-deb', ['--contents', path], { encoding: 'utf8' }).trim().split('\n');
        expect(listed.map((line) => line.split(/\s+/).at(-1))).toEqual([...data.keys()]);
        expect(listed.every((line) => / root\/root /.test(line))).toBe(true);
      }
    },
  );
});

describe('the fetcher of the sample', () => {
  const release = new URL(`${base}/sample/lampyrid/Release`);
  const maxBytes = 1 << 20;

  it('answers 200 with the file, 304 to its ETag, 404 to every other address', async () => {
    const asked: string[] = [];
    const onRequest = (url: URL) => asked.push(url.href);
    const first = await fetcher.fetch(release, { maxBytes, onRequest });
    const content = await drain(first.body);
    expect(first).toMatchObject({ status: 200, url: release, etag: `"${sha256Hex(content)}"`, framed: true });
    expect(content).toEqual(readFileSync(join(out, 'sample/lampyrid/Release')));
    const second = await fetcher.fetch(release, { maxBytes, etag: first.etag, onRequest });
    expect([second.status, (await drain(second.body)).length]).toEqual([304, 0]);
    expect((await fetcher.fetch(release, { maxBytes, etag: '"other"' })).status).toBe(200);
    expect(asked).toEqual([release.href, release.href]);
    for (const other of [
      '/sample/lampyrid/InRelease',
      '/sample/lampyrid',
      '/sample/../sample',
      '/',
      '/sample/x/%2e%2e/',
    ]) {
      expect((await fetcher.fetch(new URL(other, base), { maxBytes })).status).toBe(404);
    }
    expect((await fetcher.fetch(new URL('https://localhost:8080/sample/lampyrid/Release'), { maxBytes })).status).toBe(
      404,
    );
  });

  it('keeps to the limits of the caller', async () => {
    await expect(fetcher.fetch(release, { maxBytes: 10 })).rejects.toMatchObject({ code: 'too-large' });
    const gone = fetcher.fetch(release, { maxBytes, signal: AbortSignal.abort() });
    await expect(gone).rejects.toBeInstanceOf(NetworkError);
  });

  it('lets the ordinary crawl take every repository whole, and then find it unchanged in one request', async () => {
    const store = openStore(temporaryFolder());
    const options = { store, fetcher, now: () => new Date('2026-06-01T12:00:00Z') };
    const fresh = await crawlAll(entries, options);
    expect(fresh.map(({ outcome, reason, findings }) => ({ outcome, reason, findings }))).toEqual(
      entries.map(() => ({ outcome: 'fresh', reason: null, findings: [] })),
    );
    const again = await crawlAll(entries, options);
    expect(again.map(({ outcome, requests }) => [outcome, requests])).toEqual(entries.map(() => ['unchanged', 1]));
    const paid = await store.read('amberlane');
    expect(paid?.paymentEndpoint).toBe('https://payments.amberlane.example/');
  });
});

describe('publishSample', () => {
  it('writes the same bytes for the same arguments, wherever they go (C13)', async () => {
    const other = temporaryFolder();
    expect((await publishSample(other, `${base}/`)).entries).toEqual(entries);
    expect(tree(other)).toEqual(tree(out));
    const elsewhere = temporaryFolder();
    await publishSample(elsewhere, 'https://debdex.example');
    expect(tree(elsewhere)).not.toEqual(tree(out));
  });

  it('writes only what differs and removes what is no longer there', async () => {
    const folder = temporaryFolder();
    await publishSample(folder, base);
    const before = tree(folder);
    const identity = () => [...before.keys()].map((path) => statSync(join(folder, path)).ino);
    const inodes = identity();
    const damaged = 'sample/papercut/Release';
    writeFileSync(join(folder, damaged), 'damaged');
    mkdirSync(join(folder, 'sample/gone/debs'), { recursive: true });
    writeFileSync(join(folder, 'sample/gone/debs/gone.deb'), '');
    writeFileSync(join(folder, 'sample/papercut/tmp-1'), '');
    await publishSample(folder, base);
    expect(tree(folder)).toEqual(before);
    expect(readdirSync(join(folder, 'sample'))).not.toContain('gone');
    const rewritten = [...before.keys()].filter((_, index) => identity()[index] !== inodes[index]);
    expect(rewritten).toEqual([damaged]);
  });

  it('writes nothing through symbolic links (C9)', async () => {
    const folder = temporaryFolder();
    const outside = temporaryFolder();
    mkdirSync(join(folder, 'sample'));
    symlinkSync(outside, join(folder, 'sample/papercut'));
    await publishSample(folder, base);
    expect(readdirSync(outside)).toEqual([]);
    expect(tree(folder)).toEqual(tree(out));
    const linked = temporaryFolder();
    symlinkSync(outside, join(linked, 'sample'));
    await publishSample(linked, base);
    expect(readdirSync(outside)).toEqual([]);
    expect(tree(linked)).toEqual(tree(out));
  });
});

import { hash } from 'node:crypto';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { describe, expect, it, vi } from 'vitest';
import type { Compression } from '../../src/apt/decompress.ts';
import { CatalogBuild } from '../../src/catalog/state-catalog.ts';
import { updateCatalog } from '../../src/catalog/update.ts';
import { composeIndex, generateRepository, makePackages, type RepositoryPlan } from '../support/apt-repository.ts';
import { bench, useCrawlBench } from '../support/crawl-bench.ts';
import { makeEntry } from '../support/crawling.ts';
import { temporaryFolder } from '../support/folder.ts';

useCrawlBench();

const serve = async (plan: RepositoryPlan = {}) => {
  const files = await generateRepository(plan);
  bench.origin.serve('repo', files);
  return files;
};

const stored = async (slug = 'repo') => {
  const snapshot = await bench.store.read(slug);
  if (snapshot === undefined) throw new Error('nothing is stored');
  return snapshot;
};

const suite = { name: 'stable', component: 'main', architecture: 'iphoneos-arm64' };
const all: Compression[] = ['zst', 'xz', 'lzma', 'bz2', 'gz', 'plain'];

describe('a first crawl', () => {
  it('stores what the origin serves and what it said about it', async () => {
    const files = await serve({ paymentEndpoint: 'https://pay.example/v1\n' });
    const outcome = await bench.crawlOne();
    expect(outcome).toMatchObject({ outcome: 'fresh', code: null, reason: null, findings: [] });
    const snapshot = await stored();
    const release = files.get('/Release') ?? new Uint8Array();
    const index = files.get('/Packages.bz2') ?? new Uint8Array();
    expect(snapshot).toMatchObject({
      slug: 'repo',
      origin: { uri: bench.origin.uri('repo'), suite: './', component: null, binary: null },
      release: { path: '/Release', sha256: hash('sha256', release), size: release.length },
      packages: {
        path: '/Packages.bz2',
        sha256: hash('sha256', index),
        size: index.length,
        compression: 'bz2',
        decompressedSize: files.get('/Packages')?.length,
        stanzas: 3,
        listed: true,
      },
      hasInRelease: false,
      hasReleaseGpg: false,
      paymentEndpoint: 'https://pay.example/v1',
      changedAt: '2026-01-01T00:00:00.000Z',
      checkedAt: '2026-06-01T12:00:00.000Z',
    });
    expect(Buffer.compare(await bench.store.readFile('repo', snapshot.packages), index)).toBe(0);
  });

  it('C6: asks only for what Release lists', async () => {
    await serve({ compressions: ['gz', 'plain'] });
    expect((await bench.crawlOne()).asked).toEqual([
      '/InRelease 404',
      '/Release 200',
      '/Packages.gz 200',
      '/Release.gpg 404',
      '/payment_endpoint 404',
    ]);
  });

  it.each(all)('finds an index in %s alone, where Release lists nothing', async (compression) => {
    await serve({ compressions: [compression], hashes: [] });
    const outcome = await bench.crawlOne();
    expect(outcome).toMatchObject({ outcome: 'fresh', findings: [{ code: 'release-without-hashes', count: 1 }] });
    expect((await stored()).packages).toMatchObject({ compression, stanzas: 3, listed: false });
  });

  it('takes the best compression of those listed', async () => {
    await serve({ compressions: all });
    await bench.crawlOne();
    expect((await stored()).packages.compression).toBe('zst');
  });

  it.each(['', '/', '//'])('reads an address that ends with %j', async (end) => {
    await serve();
    const outcome = await bench.crawlOne({}, makeEntry('repo', bench.origin.uri('repo') + end));
    expect(outcome.outcome).toBe('fresh');
  });

  it('reads dists repositories, two suites of one address apart', async () => {
    const files = await generateRepository({ suite, packages: makePackages(2) });
    const testing = await generateRepository({ suite: { ...suite, name: 'testing' }, packages: makePackages(5) });
    bench.origin.serve('repo', new Map([...files, ...testing]));
    const uri = bench.origin.uri('repo');
    const fields = { component: 'main', binary: 'iphoneos-arm64' };
    const entries = ['stable', 'testing'].map((name) => makeEntry(name, uri, { suite: name, ...fields }));
    expect((await bench.crawl(entries)).map(({ outcome }) => outcome)).toEqual(['fresh', 'fresh']);
    expect((await stored('stable')).packages).toMatchObject({
      path: '/dists/stable/main/binary-iphoneos-arm64/Packages.bz2',
      stanzas: 2,
    });
    expect((await stored('testing')).packages.stanzas).toBe(5);
  });

  it('fetches by hash where Release offers it, and by name where that is gone', async () => {
    const files = await serve({ suite, byHash: true, compressions: ['xz'] });
    const entry = makeEntry('repo', bench.origin.uri('repo'), {
      suite: 'stable',
      component: 'main',
      binary: 'iphoneos-arm64',
    });
    const folder = '/dists/stable/main/binary-iphoneos-arm64';
    const digest = hash('sha256', files.get(`${folder}/Packages.xz`) ?? '');
    expect((await bench.crawlOne({}, entry)).asked).toContain(`${folder}/by-hash/SHA256/${digest} 200`);
    await bench.store.remove('repo');
    bench.origin.remove(`/repo${folder}/by-hash/SHA256/${digest}`);
    expect((await bench.crawlOne({}, entry)).asked).toContain(`${folder}/Packages.xz 200`);
  });

  it('V4: an unlisted compression counts where its text is listed', async () => {
    await serve({ compressions: ['xz'], listed: ['plain'] });
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh' });
    expect((await stored()).packages).toMatchObject({ compression: 'xz', listed: true });
    expect((await bench.crawlOne()).asked).toEqual(['/Release 304']);
  });

  it('C3: an unlisted compression that did not change is held against a Release that did', async () => {
    const files = await serve({ compressions: ['xz'], listed: ['plain'] });
    await bench.crawlOne();
    const other = await generateRepository({ packages: makePackages(4), compressions: ['xz'], listed: ['plain'] });
    bench.origin.serve('repo', new Map(files).set('/Release', other.get('/Release') ?? new Uint8Array()));
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'stale', code: 'index-mismatch' });
  });

  it('C3: SHA-512 alone is a strong hash, and SHA-1 alone a weak one', async () => {
    for (const [algorithm, codes] of [
      ['sha512', []],
      ['sha1', ['release-weak-hashes']],
    ] as const) {
      await serve({ hashes: [algorithm] });
      expect((await bench.crawlOne()).findings.map(({ code }) => code)).toEqual(codes);
    }
  });

  it('a package behind a byte order mark is one', async () => {
    await serve({ packages: `\ufeff${composeIndex(makePackages(1))}` });
    expect((await bench.crawlOne()).code).toBeNull();
    expect((await stored()).packages.stanzas).toBe(1);
  });

  it('an empty index is taken where a hash confirms that it is', async () => {
    await serve({ packages: [], compressions: ['gz'] });
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh' });
    await bench.store.remove('repo');
    await serve({ packages: [], compressions: ['gz', 'plain'], hashes: [] });
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'failed', code: 'index-empty' });
  });

  it('takes the index with content where the plain one is empty', async () => {
    const files = await generateRepository({ compressions: ['gz', 'plain'], hashes: [] });
    bench.origin.serve('repo', files.set('/Packages', new Uint8Array()));
    await bench.crawlOne();
    expect((await stored()).packages).toMatchObject({ compression: 'gz', stanzas: 3 });
  });
});

describe('an unchanged repository', () => {
  it('C2: reads no index into memory, neither in the crawl nor for the catalog', async () => {
    const files = await generateRepository();
    bench.origin.serve('repo', files);
    const entry = makeEntry('repo', bench.origin.uri('repo'));
    await bench.crawlOne();
    const state = temporaryFolder();
    const build = async () => {
      const catalog = new CatalogBuild(state);
      await updateCatalog(catalog, [entry], bench.store, { base: 'https://index.test', now: bench.now });
      await catalog.publish();
    };
    await build();
    const read = vi.spyOn(bench.store, 'readFile');
    const streamed = vi.spyOn(bench.store, 'streamFile');
    expect((await bench.crawlOne()).outcome).toBe('unchanged');
    // A Release of the same index in other words.
    bench.origin.put('/repo/Release', Buffer.concat([Buffer.from('Label: x\n'), files.get('/Release') ?? Buffer.of()]));
    expect((await bench.crawlOne()).outcome).toBe('fresh');
    await build();
    expect(read.mock.calls.map(([, file]) => file.path)).not.toContain('/Packages.xz');
    expect(new Set(read.mock.calls.map(([, file]) => file.path))).toEqual(new Set(['/Release']));
    expect(streamed).toHaveBeenCalled();
    vi.restoreAllMocks();
  });

  it('C6: costs one request answered 304, where Release lists hashes', async () => {
    await serve();
    await bench.crawlOne();
    bench.pass(60);
    const outcome = await bench.crawlOne();
    expect(outcome).toMatchObject({ outcome: 'unchanged', requests: 1, bytes: 0, asked: ['/Release 304'] });
    expect(await stored()).toMatchObject({
      changedAt: '2026-01-01T00:00:00.000Z',
      checkedAt: '2026-06-01T12:01:00.000Z',
    });
  });

  it('C6: costs two where it lists none', async () => {
    await serve({ hashes: [] });
    await bench.crawlOne();
    expect(await bench.crawlOne()).toMatchObject({
      outcome: 'unchanged',
      requests: 2,
      asked: ['/Release 304', '/Packages.bz2 304'],
    });
  });

  it.each([
    { etag: true, lastModified: false },
    { etag: false, lastModified: true },
  ])('C6: is recognised by either validator (%o)', async (validators) => {
    bench.origin.validators = validators;
    await serve();
    await bench.crawlOne();
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'unchanged', asked: ['/Release 304'] });
  });

  it('is recognised by its bytes where the origin knows no validators', async () => {
    bench.origin.validators = { etag: false, lastModified: false };
    await serve({ hashes: [] });
    await bench.crawlOne();
    bench.pass(60);
    expect(await bench.crawlOne()).toMatchObject({
      outcome: 'unchanged',
      asked: ['/Release 200', '/Packages.bz2 200'],
    });
    expect((await stored()).changedAt).toBe('2026-06-01T12:00:00.000Z');
  });

  it('C6: a Release with a new date and the same index costs no index', async () => {
    await serve({ release: { Date: 'Mon, 01 Jun 2026 10:00:00 UTC' } });
    await bench.crawlOne();
    await serve({ release: { Date: 'Mon, 01 Jun 2026 11:00:00 UTC' } });
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', asked: ['/Release 200'] });
  });

  it('C5: expiry is found on the day it comes, without a download', async () => {
    await serve({ release: { Date: 'Mon, 01 Jun 2026 10:00:00 UTC', 'Valid-Until': 'Tue, 02 Jun 2026 10:00:00 UTC' } });
    expect((await bench.crawlOne()).findings).toEqual([]);
    bench.pass(86_400);
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'unchanged', findings: [{ code: 'release-expired' }] });
    expect((await bench.store.readAttempts('repo')).findings).toMatchObject([{ code: 'release-expired' }]);
  });
});

describe('a repository that changes', () => {
  it('C3: gives a new snapshot of one generation, and the files of the one before go', async () => {
    await serve();
    await bench.crawlOne();
    const before = await stored();
    await serve({ packages: makePackages(4) });
    bench.pass(60);
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', asked: ['/Release 200', '/Packages.bz2 200'] });
    expect(await stored()).toMatchObject({ packages: { stanzas: 4 }, changedAt: '2026-06-01T12:01:00.000Z' });
    await expect(bench.store.readFile('repo', before.packages)).rejects.toMatchObject({ code: 'missing' });
  });

  it('C3: to an index of the same size and other bytes is fetched', async () => {
    await serve({ compressions: ['plain'] });
    await bench.crawlOne();
    const before = await stored();
    const packages = composeIndex(makePackages(3)).replace(/^Version: \d/m, 'Version: 8');
    await serve({ compressions: ['plain'], packages });
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', asked: ['/Release 200', '/Packages 200'] });
    const { sha256, size } = (await stored()).packages;
    expect({ sha256, size }).toEqual({ sha256: hash('sha256', packages), size: before.packages.size });
  });

  it('C6: is seen after a day where all its files have one date, which is before the Date in Release', async () => {
    bench.origin.validators = { etag: false, lastModified: true };
    const release = { Date: 'Mon, 01 Jun 2026 10:00:00 UTC' };
    await serve({ release });
    await bench.crawlOne();
    await serve({ release, packages: makePackages(4) });
    bench.origin.break('/repo/Release', ({ headers }) =>
      headers['if-modified-since'] === undefined ? undefined : { kind: 'status', status: 304 },
    );
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'unchanged', asked: ['/Release 304'] });
    bench.pass(86_400);
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh' });
    expect(await stored()).toMatchObject({ packages: { stanzas: 4 } });
    bench.pass(60);
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'unchanged', asked: ['/Release 304'] });
  });

  it.each([
    [[], ['/Release 200', '/InRelease 404', '/Packages.bz2 200']],
    [undefined, ['/Release 200', '/InRelease 404', '/Packages.bz2 200']],
  ])(
    'C6: is seen within a week where its origin answers 304 to every condition (hashes: %j)',
    async (hashes, asked) => {
      const release = hashes === undefined ? { Date: 'Thu, 01 Jan 2026 10:00:00 UTC' } : {};
      const options = { release, ...(hashes === undefined ? {} : { hashes }) };
      await serve(options);
      await bench.crawlOne();
      await serve({ ...options, packages: makePackages(4) });
      for (const name of ['Release', 'Packages.bz2'])
        bench.origin.break(`/repo/${name}`, ({ headers }) =>
          headers['if-none-match'] === undefined ? undefined : { kind: 'status', status: 304 },
        );
      const days: string[][] = [];
      for (let day = 0; day < 7; day++) {
        bench.pass(86_400);
        days.push((await bench.crawlOne()).asked.filter((line) => !/gpg|payment/.test(line)));
      }
      expect(days.filter((lines) => lines.includes('/Release 200'))).toEqual([asked]);
      expect(await stored()).toMatchObject({ packages: { stanzas: 4 } });
      // And once a week what is as it was.
      bench.pass(7 * 86_400);
      const weekly = await bench.crawlOne();
      expect(weekly).toMatchObject({ outcome: 'unchanged', asked: expect.arrayContaining(['/Release 200']) });
      expect(weekly.asked.includes('/Packages.bz2 200'), 'an index without hashes').toBe(hashes !== undefined);
      let whole = 0;
      for (let visit = 0; visit < 4 * 7; visit++) {
        bench.pass(6 * 3600);
        if ((await bench.crawlOne()).asked.includes('/Release 200')) whole++;
      }
      expect(whole, 'once, however often it is visited').toBe(1);
    },
  );

  it('is asked for with its date where that is less than a day before the Date in Release, as of another time zone', async () => {
    bench.origin.validators = { etag: false, lastModified: true };
    // It is served with a Last-Modified of 1 January.
    await serve({ release: { Date: 'Thu, 01 Jan 2026 23:00:00 UTC' } });
    await bench.crawlOne();
    bench.pass(86_400);
    expect((await bench.crawlOne()).asked).toContain('/Release 304');
  });

  it('shows also where only Packages change and Release lists no hashes', async () => {
    await serve({ hashes: [] });
    await bench.crawlOne();
    await serve({ hashes: [], packages: makePackages(4) });
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', asked: ['/Release 304', '/Packages.bz2 200'] });
  });

  it('C3: between Release and Packages is asked for Release once more', async () => {
    await serve();
    await bench.crawlOne();
    const next = await generateRepository({ packages: makePackages(4) });
    const later = await generateRepository({ packages: makePackages(5) });
    bench.origin.serve('repo', new Map([...later, ['/Release', next.get('/Release') ?? new Uint8Array()]]));
    bench.origin.break('/repo/Packages', () => {
      bench.origin.serve('repo', later);
      return undefined;
    });
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh' });
    expect(await stored()).toMatchObject({
      release: { sha256: hash('sha256', later.get('/Release') ?? '') },
      packages: { stanzas: 5 },
    });
  });

  it('gains an InRelease, is asked for it again after a day at the earliest', async () => {
    await serve({ hashes: [] });
    await bench.crawlOne();
    const files = await generateRepository({ hashes: [], release: { Version: '2' } });
    files.set('/InRelease', files.get('/Release') ?? new Uint8Array());
    bench.origin.serve('repo', files);
    expect((await bench.crawlOne()).asked).not.toContain('/InRelease 200');
    bench.pass(86_400);
    files.set('/Release', Buffer.from('Origin: Example\nVersion: 3\n'));
    files.set('/InRelease', Buffer.from('Origin: Example\nVersion: 3\n'));
    bench.origin.serve('repo', files);
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', findings: [{ code: 'inrelease-unsigned' }, {}] });
    expect((await stored()).release.path).toBe('/InRelease');
    expect((await bench.crawlOne()).asked).toEqual(['/InRelease 304', '/Packages.bz2 304']);
  });

  it('loses its InRelease and falls back to Release', async () => {
    const files = await serve();
    files.set('/InRelease', files.get('/Release') ?? new Uint8Array());
    bench.origin.serve('repo', files);
    await bench.crawlOne();
    bench.origin.remove('/repo/InRelease');
    expect((await bench.crawlOne()).asked).toEqual(['/InRelease 404', '/Release 200']);
    expect((await stored()).release.path).toBe('/Release');
  });

  it('at another address starts anew', async () => {
    await serve();
    await bench.crawlOne();
    bench.origin.serve('moved', await generateRepository({ packages: makePackages(1) }));
    const outcome = await bench.crawlOne({}, makeEntry('repo', bench.origin.uri('moved')));
    expect(outcome.outcome).toBe('fresh');
    expect((await stored()).packages.stanzas).toBe(1);
  });
});

describe('the store', () => {
  it.each(['release', 'packages'] as const)(
    'C12: that lost or damaged its %s is mended by the next crawl',
    async (which) => {
      for (const harm of [
        (path: string) => writeFile(path, 'x'),
        (path: string, size: number) => writeFile(path, Buffer.alloc(size)),
        (path: string) => rm(path),
      ]) {
        await serve();
        await bench.crawlOne();
        const snapshot = await stored();
        const file = snapshot[which];
        await harm(`${bench.directory}/v1/repo/${file.sha256}`, file.size);
        expect((await bench.crawlOne()).outcome).toBe('fresh');
        expect(hash('sha256', await bench.store.readFile('repo', (await stored())[which]))).toBe(file.sha256);
      }
    },
  );

  it('a crawl leaves nothing behind but the snapshot', async () => {
    await serve({ compressions: ['gz', 'plain'], hashes: [] });
    bench.origin.break('/repo/Packages.gz', { kind: 'body', body: '<html>' });
    await bench.crawlOne();
    const { release, packages } = await stored();
    expect((await readdir(`${bench.directory}/v1/repo`)).sort()).toEqual(
      ['attempts.json', 'meta.json', release.sha256, packages.sha256].sort(),
    );
  });
});

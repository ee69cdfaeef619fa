import { readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { acceptRepository } from '../../src/crawl/operator-word.ts';
import { generateRepository, makePackages, type RepositoryPlan } from '../support/apt-repository.ts';
import { bench, useCrawlBench } from '../support/crawl-bench.ts';
import type { CrawlBench } from '../support/crawling.ts';
import { createSigner, signRepository } from '../support/signer.ts';

const [signer, other] = [await createSigner(), await createSigner()];

useCrawlBench();

const date = (hour: number) => `Mon, 01 Jun 2026 ${String(hour).padStart(2, '0')}:00:00 UTC`;

const serve = async (count: number, plan: RepositoryPlan = {}) => {
  bench.origin.serve('repo', await generateRepository({ packages: makePackages(count), ...plan }));
};

const accept = () => acceptRepository(bench.store, 'repo');
const stanzas = async () => (await bench.store.read('repo'))?.packages.stanzas;

it('C4: an index that lost half of its packages, and not more, is taken', async () => {
  await serve(20);
  await bench.crawlOne();
  await serve(10);
  expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', code: null });
  await serve(4);
  expect(await bench.crawlOne()).toMatchObject({ outcome: 'stale', code: 'index-shrunken' });
});

describe('an index that is held back', () => {
  it.each([
    { etag: true, lastModified: true },
    { etag: true, lastModified: false },
    { etag: false, lastModified: true },
  ])('C4, C6: costs one request answered 304 from then on, and stays visible (%o)', async (validators) => {
    bench.origin.validators = validators;
    await serve(20);
    await bench.crawlOne();
    await serve(8);
    const first = await bench.crawlOne();
    expect(first).toMatchObject({ outcome: 'stale', code: 'index-shrunken' });
    for (let visit = 0; visit < 3; visit++) {
      bench.pass(3600);
      const again = await bench.crawlOne();
      expect(again).toMatchObject({ outcome: 'stale', code: 'index-shrunken', reason: first.reason, bytes: 0 });
      expect(again.confirmedAt).toBe('2026-06-01T12:00:00.000Z');
      expect(again.asked).toEqual(['/Release 304']);
    }
    expect(await bench.store.read('repo')).toMatchObject({
      packages: { stanzas: 20 },
      checkedAt: '2026-06-01T12:00:00.000Z',
    });
  });

  it('C4, C6: costs no index where Release lists no hashes, or where the origin knows no validators', async () => {
    await serve(20, { hashes: [] });
    await bench.crawlOne();
    await serve(8, { hashes: [] });
    await bench.crawlOne();
    expect(await bench.crawlOne()).toMatchObject({
      code: 'index-shrunken',
      asked: ['/Release 304', '/Packages.bz2 304'],
    });
    await bench.store.remove('repo');
    bench.origin.validators = { etag: false, lastModified: false };
    await serve(20);
    await bench.crawlOne();
    await serve(8);
    await bench.crawlOne();
    expect(await bench.crawlOne()).toMatchObject({ code: 'index-shrunken', asked: ['/Release 200'] });
  });

  it('C4, C6: costs no index either where it was held back before anything was remembered apart from the snapshot', async () => {
    await serve(20);
    await bench.crawlOne();
    await bench.store.writeAttempts('repo', { ...(await bench.store.readAttempts('repo')), remembered: null });
    await serve(8);
    expect((await bench.crawlOne()).code).toBe('index-shrunken');
    expect(await bench.crawlOne()).toMatchObject({ code: 'index-shrunken', asked: ['/Release 304'] });
  });

  it('C4: that has grown back is taken without a word, be it the one from before or another', async () => {
    await serve(20);
    await bench.crawlOne();
    await serve(8);
    await bench.crawlOne();
    await serve(20);
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'unchanged', code: null });
    expect(await accept()).toEqual([]);
    await serve(8);
    expect((await bench.crawlOne()).code).toBe('index-shrunken');
    await serve(15);
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', code: null });
    expect(await stanzas()).toBe(15);
  });

  it('C4: that shrank further is held back with its new number', async () => {
    await serve(20);
    await bench.crawlOne();
    await serve(8);
    await bench.crawlOne();
    await serve(1);
    expect((await bench.crawlOne()).reason).toContain('had 20 stanzas, and now has 1.');
    expect(await accept()).toEqual(['The next build takes an index of about 1 stanza.']);
  });

  it('C4: is taken once accepted, also where the origin has changed or grown back since', async () => {
    for (const [then, taken] of [
      [8, 'fresh'],
      [7, 'fresh'],
      [18, 'fresh'],
      [20, 'unchanged'],
    ] as const) {
      await bench.store.remove('repo');
      await serve(20);
      await bench.crawlOne();
      await serve(8);
      await bench.crawlOne();
      expect((await bench.crawlOne()).code).toBe('index-shrunken');
      expect(await accept()).toHaveLength(1);
      await serve(then);
      expect(await bench.crawlOne(), `${then}`).toMatchObject({ outcome: taken, code: null });
      expect(await stanzas()).toBe(then);
      expect(await bench.store.readAttempts('repo')).toMatchObject({ refused: null, accepted: null });
    }
  });

  it('C5: is not taken with an older Release that the origin gives in place of one that no index fits', async () => {
    await serve(20, { release: { Date: date(9) } });
    await bench.crawlOne();
    const newer = await generateRepository({ packages: makePackages(21), release: { Date: date(10) } });
    const older = await generateRepository({ packages: makePackages(19), release: { Date: date(8) } });
    // Release is the newer one until its index is asked for, and that is of the older one.
    bench.origin.serve('repo', new Map([...older, ['/Release', newer.get('/Release') ?? new Uint8Array()]]));
    bench.origin.break('/repo/Packages', () => {
      bench.origin.serve('repo', older);
      return undefined;
    });
    const outcome = await bench.crawlOne();
    expect(outcome).toMatchObject({ outcome: 'stale', code: 'release-older' });
    expect(outcome.asked.filter((asked) => asked === '/Release 200')).toHaveLength(2);
    expect(await stanzas()).toBe(20);
  });

  it('C4: at another address is nothing to the manifest that names a new one', async () => {
    await serve(20);
    await bench.crawlOne();
    await serve(8);
    await bench.crawlOne();
    bench.origin.serve('moved', await generateRepository({ packages: makePackages(8) }));
    const entry = {
      slug: 'repo',
      uri: bench.origin.uri('moved'),
      suite: './',
      ranking: 3,
      bootstrap: false,
      aliases: [],
    };
    expect(await bench.crawlOne({}, entry as Parameters<CrawlBench['crawlOne']>[1])).toMatchObject({
      outcome: 'fresh',
    });
  });

  it('C5, C6: an older release costs one request answered 304 as well', async () => {
    await serve(4, { release: { Date: date(10) } });
    await bench.crawlOne();
    await serve(4, { release: { Date: date(9) } });
    const first = await bench.crawlOne();
    expect(await bench.crawlOne()).toMatchObject({
      code: 'release-older',
      reason: first.reason,
      asked: ['/Release 304'],
    });
    await accept();
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh' });
  });

  it('C5: is none that follows one of the future, or one wrong clock would lock the repository for good', async () => {
    await serve(4, { release: { Date: 'Mon, 01 Jun 2099 10:00:00 UTC' } });
    await bench.crawlOne();
    await serve(5, { release: { Date: date(9) } });
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', code: null });
    expect(await stanzas()).toBe(5);
  });
});

const folder = () => `${bench.directory}/v1/repo`;
const content = async () => (await readdir(folder())).filter((name) => /^[0-9a-f]{64}$/.test(name));

/** The ways in which a disk can lose a snapshot. */
const harms: [string, () => Promise<unknown>][] = [
  ['lost its files', async () => Promise.all((await content()).map((name) => rm(`${folder()}/${name}`)))],
  ['cut its files short', async () => Promise.all((await content()).map((name) => truncate(`${folder()}/${name}`, 1)))],
  [
    'holds other bytes',
    async () => Promise.all((await content()).map(async (name) => writeFile(`${folder()}/${name}`, await zeros(name)))),
  ],
  ['cannot read its description', () => writeFile(`${folder()}/meta.json`, '{')],
  ['lost its description', () => rm(`${folder()}/meta.json`)],
];

const zeros = async (name: string): Promise<Uint8Array> => {
  const snapshot = await bench.store.read('repo');
  const file = [snapshot?.release, snapshot?.packages].find((one) => one?.sha256 === name);
  return new Uint8Array(file?.size ?? 0);
};

describe.each(harms)('a store that %s', (_what, harm) => {
  const start = async () => {
    const files = await generateRepository({ packages: makePackages(10), release: { Date: date(10) } });
    bench.origin.serve('repo', await signRepository(files, signer));
    await bench.crawlOne();
    await harm();
  };

  it('C5: still knows the signing key', async () => {
    await start();
    const files = await generateRepository({ packages: makePackages(11), release: { Date: date(11) } });
    bench.origin.serve('repo', await signRepository(files, other));
    expect(await bench.crawlOne()).toMatchObject({
      outcome: 'fresh',
      signing: { state: 'key-changed', remembered: [signer.fingerprint] },
    });
  });

  it('C5: still refuses a release that is older, until the operator takes it', async () => {
    await start();
    const files = await generateRepository({ packages: makePackages(10), release: { Date: date(9) } });
    bench.origin.serve('repo', await signRepository(files, signer));
    expect(await bench.crawlOne()).toMatchObject({ code: 'release-older' });
    expect(await bench.crawlOne()).toMatchObject({ code: 'release-older', asked: ['/InRelease 304'] });
    expect(await accept()).toHaveLength(1);
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', signing: { state: 'signed' } });
  });

  it('C4: still holds back an index that shrank', async () => {
    await start();
    const files = await generateRepository({ packages: makePackages(2), release: { Date: date(11) } });
    bench.origin.serve('repo', await signRepository(files, signer));
    expect(await bench.crawlOne()).toMatchObject({ code: 'index-shrunken' });
  });

  it('C12: is mended by the next crawl where nothing else is wrong', async () => {
    await start();
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', code: null, signing: { state: 'signed' } });
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'unchanged' });
    expect(await stanzas()).toBe(10);
  });
});

import { readdir, rm, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { acceptRepository, listWaiting } from '../../src/crawl/operator-word.ts';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { bench, useCrawlBench } from '../support/crawl-bench.ts';
import { createSigner, signRepository } from '../support/signer.ts';

useCrawlBench();

const serve = async (count: number, hour = 8) => {
  const release = { Date: `Mon, 01 Jun 2026 ${String(hour).padStart(2, '0')}:00:00 UTC` };
  bench.origin.serve('repo', await generateRepository({ packages: makePackages(count), release }));
};

const stanzas = async () => (await bench.store.read('repo'))?.packages.stanzas;
const accept = () => acceptRepository(bench.store, 'repo');

describe('accepting what was held back', () => {
  it('C4: a shrunken index is taken by the next crawl, and one that shrank further is not', async () => {
    await serve(20);
    await bench.crawlOne();
    expect(await accept()).toEqual([]);
    await serve(8);
    expect((await bench.crawlOne()).code).toBe('index-shrunken');
    expect(await accept()).toEqual(['The next build takes an index of about 8 stanzas.']);
    await serve(2);
    expect((await bench.crawlOne()).code).toBe('index-shrunken');
    await serve(7);
    expect((await bench.crawlOne()).outcome).toBe('fresh');
    expect(await stanzas()).toBe(7);
    await serve(3);
    expect((await bench.crawlOne()).code).toBe('index-shrunken');
  });

  it('C4: what was held back is held back again where nothing is left but the history', async () => {
    await serve(20);
    await bench.crawlOne();
    await serve(8);
    await bench.crawlOne();
    await rm(`${bench.directory}/v1`, { recursive: true });
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'failed', code: 'index-shrunken' });
    expect(await accept()).toEqual(['The next build takes an index of about 8 stanzas.']);
    expect((await bench.crawlOne()).outcome).toBe('fresh');
  });

  it('C4: the word holds until it is used, also where the origin is down in between', async () => {
    await serve(20);
    await bench.crawlOne();
    await serve(8);
    await bench.crawlOne();
    bench.origin.break('/repo/Release', { kind: 'reset' });
    await bench.crawlOne();
    expect(await accept()).toHaveLength(1);
    bench.pass(3600);
    await bench.crawlOne();
    bench.origin.mend();
    bench.pass(3600);
    expect((await bench.crawlOne()).outcome).toBe('fresh');
    expect((await bench.store.readAttempts('repo')).accepted).toBeNull();
  });

  it('C4, C5: a second word adds to the first, where that was not used yet', async () => {
    await serve(20, 10);
    await bench.crawlOne();
    await serve(8, 11);
    expect((await bench.crawlOne()).code).toBe('index-shrunken');
    await accept();
    await serve(8, 9);
    expect((await bench.crawlOne()).code).toBe('release-older');
    expect(await accept()).toEqual([
      'The next build takes a release of 2026-06-01 09:00:00 UTC or later and an index of about 8 stanzas.',
    ]);
    expect((await bench.crawlOne()).outcome).toBe('fresh');
    expect(await stanzas()).toBe(8);
  });

  it('C5: a key that was accepted is the one that is known, also where the snapshot is lost afterwards', async () => {
    const [signer, other] = [await createSigner(), await createSigner()];
    const files = await generateRepository({ packages: makePackages(4) });
    bench.origin.serve('repo', await signRepository(files, signer));
    await bench.crawlOne();
    bench.origin.serve('repo', await signRepository(files, other));
    expect((await bench.crawlOne()).signing?.state).toBe('key-changed');
    expect(await accept()).toHaveLength(1);
    await rm(`${bench.directory}/v1/repo/meta.json`);
    expect((await bench.crawlOne()).signing).toMatchObject({ state: 'signed', signers: [other.fingerprint] });
  });

  it('C5: an older release is taken, and one older still is not', async () => {
    await serve(4, 10);
    await bench.crawlOne();
    await serve(4, 8);
    expect((await bench.crawlOne()).code).toBe('release-older');
    await accept();
    await serve(4, 7);
    expect((await bench.crawlOne()).code).toBe('release-older');
    await serve(4, 8);
    expect((await bench.crawlOne()).outcome).toBe('fresh');
  });

  it('C4, C5: a repository that is both older and shrunken is held back for both, and taken in one word', async () => {
    await serve(20, 10);
    await bench.crawlOne();
    await serve(8, 8);
    const held = await bench.crawlOne();
    expect(held.code).toBe('release-older');
    expect(held.reason).toMatch(
      /is of 2026-06-01 08:00:00 UTC, and the last one was of 2026-06-01 10:00:00 UTC.+had 20 stanzas, and now has 8/,
    );
    // Known now, so that the index is not asked for again.
    expect((await bench.crawlOne()).asked).toEqual(['/Release 304']);
    expect(await accept()).toEqual([
      'The next build takes a release of 2026-06-01 08:00:00 UTC or later and an index of about 8 stanzas.',
    ]);
    expect((await bench.crawlOne()).outcome).toBe('fresh');
    expect(await stanzas()).toBe(8);
  });

  it('C4, C5: a second word adds to the first where that one is not used yet', async () => {
    await serve(20, 10);
    await bench.crawlOne();
    await serve(8, 8);
    bench.origin.break('/repo/Packages.bz2', { kind: 'status', status: 404 });
    bench.origin.break('/repo/Packages', { kind: 'status', status: 404 });
    const held = await bench.crawlOne();
    expect(held.code).toBe('release-older');
    expect(held.reason).not.toContain('stanzas');
    await accept();
    bench.origin.mend();
    expect((await bench.crawlOne()).code).toBe('index-shrunken');
    expect(await accept()).toEqual([expect.stringMatching(/a release of .+ and an index of about 8 stanzas/)]);
    expect((await bench.crawlOne()).outcome).toBe('fresh');
  });

  it('C6: a pause that is asked for outweighs what would be held back', async () => {
    await serve(20, 10);
    await bench.crawlOne();
    await serve(8, 8);
    for (const name of ['Packages.bz2', 'Packages']) {
      bench.origin.break(`/repo/${name}`, { kind: 'status', status: 429, headers: { 'retry-after': '7200' } });
    }
    expect((await bench.crawlOne()).code).toBe('origin-busy');
    expect((await bench.crawlOne()).asked).toEqual([]);
  });

  it('C5: another key is the usual one from then on, and so is none', async () => {
    const [first, second] = [await createSigner(), await createSigner()];
    const files = await generateRepository();
    bench.origin.serve('repo', await signRepository(files, first, ['Release.gpg']));
    await bench.crawlOne();
    const next = await generateRepository({ packages: makePackages(4) });
    bench.origin.serve('repo', await signRepository(next, second, ['Release.gpg']));
    expect((await bench.crawlOne()).signing?.state).toBe('key-changed');
    expect(await accept()).toEqual([expect.stringContaining(second.fingerprint)]);
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'unchanged', findings: [], signing: { state: 'signed' } });
    bench.origin.serve('repo', await generateRepository({ packages: makePackages(5) }));
    expect((await bench.crawlOne()).signing?.state).toBe('lost');
    await accept();
    expect(await bench.crawlOne()).toMatchObject({ findings: [], signing: { state: 'unsigned', remembered: [] } });
    expect(await accept()).toEqual([]);
  });
});

describe('what waits for the operator', () => {
  it('C4, C5: is listed with its reason, and no longer once accepted', async () => {
    const list = () => listWaiting(bench.store, ['repo', 'unknown']);
    expect(await list()).toEqual([]);
    const [first, second] = [await createSigner(), await createSigner()];
    bench.origin.serve('repo', await signRepository(await generateRepository({ packages: makePackages(9) }), first));
    await bench.crawlOne();
    bench.origin.serve('repo', await signRepository(await generateRepository({ packages: makePackages(8) }), second));
    await bench.crawlOne();
    bench.origin.serve('repo', await signRepository(await generateRepository({ packages: makePackages(2) }), second));
    await bench.crawlOne();
    expect(await list()).toEqual([
      { slug: 'repo', code: 'index-shrunken', reason: expect.stringContaining('had 8 stanzas, and now has 2') },
      { slug: 'repo', code: 'signature-key-changed', reason: expect.stringContaining(second.fingerprint) },
    ]);
    expect(await accept()).toHaveLength(2);
    expect(await list()).toEqual([]);
  });
});

describe('a repository that left the manifest', () => {
  it('is forgotten when nobody has crawled it for a while, and not before', async () => {
    await serve(3);
    await bench.crawlOne();
    const later = (days: number) => new Date(bench.now.getTime() + days * 86_400_000);
    expect(await bench.store.removeUnused(new Set(['repo']), later(1))).toEqual([]);
    expect(await bench.store.removeUnused(new Set(), later(-1))).toEqual([]);
    expect(await stanzas()).toBe(3);
    expect(await bench.store.removeUnused(new Set(), later(1))).toEqual(['repo']);
    expect(await bench.store.list()).toEqual([]);
  });

  it('C12: what a visit killed in the middle left behind goes with the next', async () => {
    await serve(3);
    await bench.crawlOne();
    const folders = [`${bench.directory}/v1/repo`, `${bench.directory}/history/v1/repo`];
    for (const folder of folders) await writeFile(`${folder}/tmp-left`, 'half');
    await bench.crawlOne();
    for (const folder of folders) expect(await readdir(folder)).not.toContain('tmp-left');
  });
});

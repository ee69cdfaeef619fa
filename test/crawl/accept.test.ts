import { readdir, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acceptRepository } from '../../src/crawl/accept.ts';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { CrawlBench } from '../support/crawling.ts';
import { createSigner, signRepository } from '../support/signer.ts';

let bench: CrawlBench;

beforeEach(async () => {
  bench = await CrawlBench.start();
});

afterEach(() => bench.stop());

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
    expect(await accept()).toEqual(['The next build takes an index of about 8 packages.']);
    await serve(2);
    expect((await bench.crawlOne()).code).toBe('index-shrunken');
    await serve(7);
    expect((await bench.crawlOne()).outcome).toBe('fresh');
    expect(await stanzas()).toBe(7);
    await serve(3);
    expect((await bench.crawlOne()).code).toBe('index-shrunken');
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
    await writeFile(`${bench.directory}/v1/repo/tmp-left`, 'half');
    await bench.crawlOne();
    expect(await readdir(`${bench.directory}/v1/repo`)).not.toContain('tmp-left');
  });
});

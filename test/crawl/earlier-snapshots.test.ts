import { describe, expect, it } from 'vitest';
import { CatalogBuild } from '../../src/catalog/state-catalog.ts';
import { updateCatalog } from '../../src/catalog/update.ts';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { bench, useCrawlBench } from '../support/crawl-bench.ts';
import { makeEntry } from '../support/crawling.ts';
import { temporaryFolder } from '../support/folder.ts';
import { createSigner, signRepository } from '../support/signer.ts';

const signer = await createSigner();

useCrawlBench();

/** Serves a signed repository, crawls it, and makes the snapshot one of a file with this at its end, as if that was taken. */
const keepWithBlank = async (name: 'InRelease' | 'Release.gpg', blank: string): Promise<Buffer> => {
  const files = await signRepository(await generateRepository({ packages: makePackages(3) }), signer, [name]);
  bench.origin.serve('repo', files);
  await bench.crawlOne();
  const snapshot = (await bench.store.read('repo')) ?? expect.fail('it was taken');
  const bytes = Buffer.from(`${Buffer.from(files.get(`/${name}`) ?? '')}${blank}`);
  bench.origin.serve('repo', new Map(files).set(`/${name}`, bytes));
  const staged = await bench.store.stage('repo', [bytes]);
  const { headers } = await fetch(`${bench.origin.uri('repo')}/${name}`);
  const [etag, lastModified] = [headers.get('etag'), headers.get('last-modified')];
  const file = { path: `/${name}`, sha256: staged.sha256, size: staged.size, etag, lastModified };
  const part = name === 'InRelease' ? { release: file } : { signature: file };
  await bench.store.write({ ...snapshot, ...part }, [staged]);
  return bytes;
};

const ingest = async (blank: string) => {
  const catalog = new CatalogBuild(temporaryFolder());
  const options = { base: `https://index.test/${blank.length}`, now: bench.now };
  const entry = makeEntry('repo', bench.origin.uri('repo'));
  const { ingested, damaged } = await updateCatalog(catalog, [entry], bench.store, options);
  catalog.discard();
  return { ingested, damaged };
};

describe('a snapshot with blank lines after a signature, which earlier versions took', () => {
  it.each(['\n', ' ', '\n\n'])('V3, C4: %j in InRelease: stays in force, and is asked for anew', async (blank) => {
    await keepWithBlank('InRelease', blank);
    expect(await ingest(blank)).toEqual({ ingested: ['repo'], damaged: [] });
    const asked = ['/InRelease 200', '/Release 200'];
    bench.origin.break('/repo/Release', { kind: 'status', status: 404 });
    for (const _ of [1, 2]) {
      expect(await bench.crawlOne()).toMatchObject({
        outcome: 'stale',
        code: 'release-unreadable',
        detail: '/InRelease contains unsigned lines (blank ones)',
        asked: ['/InRelease 200', '/Release 404'],
      });
      expect(await ingest(blank)).toEqual({ ingested: ['repo'], damaged: [] });
    }
    bench.origin.mend();
    const outcome = await bench.crawlOne();
    expect(outcome).toMatchObject({ outcome: 'fresh', signing: { state: 'lost' } });
    expect(outcome.asked.slice(0, 2)).toEqual(asked);
    expect(outcome.findings.map(({ code }) => code)).toEqual(['release-unreadable', 'signature-lost']);
    expect((await bench.store.read('repo'))?.release.path).toBe('/Release');
  });

  it('V3, C5: in Release.gpg: is signed no longer, and is again once that is mended', async () => {
    const bytes = await keepWithBlank('Release.gpg', '\n');
    for (const _ of [1, 2]) {
      const outcome = await bench.crawlOne();
      expect(outcome).toMatchObject({ outcome: 'unchanged', signing: { state: 'lost' } });
      expect(outcome.findings.map(({ code }) => code)).toEqual(['signature-lost', 'signature-unreadable']);
      bench.pass(60);
    }
    bench.origin.put('/repo/Release.gpg', bytes.subarray(0, -1));
    expect(await bench.crawlOne()).toMatchObject({ findings: [], signing: { state: 'signed' } });
  });

  it('V3, C5: in Release.gpg, for which the origin fails: is not said to have lost its signature', async () => {
    const bytes = await keepWithBlank('Release.gpg', '\n');
    bench.origin.break('/repo/Release.gpg', { kind: 'status', status: 500 });
    for (const _ of [1, 2]) {
      const outcome = await bench.crawlOne();
      expect(outcome).toMatchObject({ outcome: 'unchanged', signing: { state: 'unanswered' } });
      expect(outcome.findings.map(({ code }) => code)).toEqual(['extras-unanswered']);
      bench.pass(60);
    }
    bench.origin.mend();
    bench.origin.put('/repo/Release.gpg', bytes.subarray(0, -1));
    expect(await bench.crawlOne()).toMatchObject({ findings: [], signing: { state: 'signed' } });
  });
});

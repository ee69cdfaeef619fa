import { describe, expect, it } from 'vitest';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { bench, useCrawlBench } from '../support/crawl-bench.ts';
import { makeEntry } from '../support/crawling.ts';
import { type Fault, statusFault, webPage } from '../support/origin-server.ts';

useCrawlBench();

describe('many repositories', () => {
  it('C7: those that fail change nothing for the others, and keep to their own budget', async () => {
    const faults: Fault[] = [
      { kind: 'silent' },
      { kind: 'reset' },
      { kind: 'slow', intervalMs: 200 },
      { kind: 'endless' },
      { kind: 'redirect', location: '/loop' },
      { kind: 'giant-headers', bytes: 100_000 },
      { kind: 'body', body: webPage },
      statusFault(500),
    ];
    const plan = { compressions: ['gz', 'plain'], hashes: [] } as const;
    const entries = [];
    for (let index = 0; index < 24; index++) {
      const slug = `r${String(index).padStart(2, '0')}`;
      bench.origin.serve(slug, await generateRepository({ ...plan, packages: makePackages(1 + index, slug) }));
      const fault = faults[index / 3];
      if (fault) bench.origin.break(`/${slug}/Packages.gz`, fault);
      if (fault) bench.origin.break(`/${slug}/Packages`, fault);
      entries.push(makeEntry(slug, bench.origin.uri(slug)));
    }
    const seen: string[] = [];
    const outcomes = await bench.crawl(entries, {
      limits: { repositoryMs: 6000, indexBytes: 1_000_000, repetitions: 1 },
      // The others are in time on a busy machine too.
      network: { headersMs: 2000, graceMs: 2000, totalMs: 6000 },
      onOutcome: ({ slug }, done, total) => seen.push(`${slug} ${done}/${total}`),
    });
    expect(outcomes.map(({ slug }) => slug)).toEqual(entries.map(({ slug }) => slug));
    expect(seen).toHaveLength(24);
    expect(seen.at(-1)).toMatch(/ 24\/24$/);
    expect(bench.origin.greatestOpen).toBeLessThanOrEqual(3);
    for (const [index, outcome] of outcomes.entries()) {
      expect(outcome.outcome, outcome.slug).toBe(faults[index / 3] ? 'failed' : 'fresh');
    }
  });

  it('C7: one that takes longer than its budget ends', async () => {
    bench.origin.serve('repo', await generateRepository());
    bench.origin.break('/repo/Packages.bz2', { kind: 'slow', intervalMs: 50 });
    const outcome = await bench.crawlOne({ limits: { repositoryMs: 300 }, network: { graceMs: 60_000 } });
    expect(outcome).toMatchObject({ outcome: 'failed', code: 'budget-exceeded' });
  });

  it('an aborted crawl rejects, and blames no repository', async () => {
    bench.origin.serve('repo', await generateRepository());
    bench.origin.break('/repo/Release', { kind: 'silent' });
    const controller = new AbortController();
    const crawl = bench.crawl([makeEntry('repo', bench.origin.uri('repo'))], { signal: controller.signal });
    setTimeout(() => controller.abort(new Error('enough')), 50);
    await expect(crawl).rejects.toThrow('enough');
    expect(await bench.store.readAttempts('repo')).toMatchObject({ failures: 0 });
  });
});

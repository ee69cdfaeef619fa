import { describe, expect, it } from 'vitest';
import { describeBuild } from '../../scripts/summary.ts';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { CrawlBench, makeEntry } from '../support/crawling.ts';

describe('the summary of a build', () => {
  it('C4: says of what was held back, and of what is left alone, why and how old its data is', async () => {
    const bench = await CrawlBench.start();
    const entries = ['shrunken', 'busy'].map((slug) => makeEntry(slug, bench.origin.uri(slug)));
    for (const { slug } of entries) bench.origin.serve(slug, await generateRepository({ packages: makePackages(9) }));
    await bench.crawl(entries);
    bench.pass(86_400);
    bench.origin.serve('shrunken', await generateRepository());
    bench.origin.break('/busy/Release', { kind: 'status', status: 429, headers: { 'retry-after': '7200' } });
    // One after the other, since a host that asks for a pause is left alone altogether.
    await bench.crawl(entries, { concurrency: 1 });
    bench.pass(7200);
    bench.origin.break('/busy/Release', { kind: 'status', status: 429, headers: { 'retry-after': '7200' } });
    await bench.crawl(entries, { concurrency: 1 });
    bench.pass(60);
    const outcomes = await bench.crawl(entries, { concurrency: 1 });
    await bench.stop();
    const text = describeBuild(
      {
        outcomes,
        statistics: undefined,
        stanzas: 0,
        findings: [],
        waiting: [],
        site: undefined,
        documents: { written: 0, unchanged: 0, removed: 0 },
      },
      { seconds: new Map(), total: 0 } as Parameters<typeof describeBuild>[1],
    );
    expect(text).toMatch(/stale shrunken: .+ Last confirmed 2026-06-01T12:00:00\.000Z\.\n/);
    expect(text).toMatch(
      /stale busy: Not asked, because it failed before: .+429.+ Last confirmed 2026-06-01T12:00:00\.000Z\.\n/,
    );
  });
});

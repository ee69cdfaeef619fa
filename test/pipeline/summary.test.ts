import { describe, expect, it, onTestFinished } from 'vitest';
import type { LastBuild } from '../../src/catalog/last-build.ts';
import type { Generation, PackageChange } from '../../src/contract/generation.ts';
import type { ManifestEntry } from '../../src/contract/manifest.ts';
import { listWaiting } from '../../src/crawl/operator-word.ts';
import type { BuildResult } from '../../src/pipeline/build-result.ts';
import { compareBuilds, composeLastBuild, renameFormerSlugs } from '../../src/pipeline/outcomes.ts';
import { describeBuild, describeStop } from '../../src/pipeline/summary.ts';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { CrawlBench, makeEntry } from '../support/crawling.ts';

/** What a build of these entries comes to, but for the catalog. */
const crawl = async (
  bench: CrawlBench,
  entries: readonly ManifestEntry[],
  previous?: LastBuild,
  packageChanges: PackageChange[] = [],
): Promise<BuildResult> => {
  const outcomes = await bench.crawl(entries, { concurrency: 1 });
  const waiting = await listWaiting(
    bench.store,
    entries.map(({ slug }) => slug),
  );
  const lastBuild = composeLastBuild({ entries, visited: outcomes, waiting, found: [], previous, now: bench.now });
  return {
    outcomes,
    lastBuild,
    packageChanges,
    repairs: [],
    unreadable: [],
    newSlugs: [],
    repositoryChanges: compareBuilds(previous, lastBuild),
    statistics: undefined,
    stanzas: 0,
    site: undefined,
    documents: { written: 0, unchanged: 0, removed: 0 },
  };
};

const progress = { seconds: new Map(), total: 0 } as Parameters<typeof describeBuild>[1];
const describeResult = (result: BuildResult): string => describeBuild(result, progress, '/a state');

describe('the summary of a build', () => {
  it('C4: says of what was held back, and of what is left alone, why and how old its data is', async () => {
    const bench = await CrawlBench.start();
    const entries = ['shrunken', 'busy'].map((slug) => makeEntry(slug, bench.origin.uri(slug)));
    for (const { slug } of entries) bench.origin.serve(slug, await generateRepository({ packages: makePackages(9) }));
    const { lastBuild } = await crawl(bench, entries);
    bench.pass(86_400);
    bench.origin.serve('shrunken', await generateRepository());
    bench.origin.break('/busy/Release', { kind: 'status', status: 429, headers: { 'retry-after': '7200' } });
    const failing = await crawl(bench, entries, lastBuild);
    expect(describeResult(failing)).toMatch(/2 begun to fail: shrunken, busy\n +1 newly held back: shrunken\n/);
    expect(describeResult(failing)).toMatch(
      /Held back +npm run accept -- --state '\/a state' SLUG takes.+\n +shrunken: index-shrunken: More/,
    );
    bench.pass(60);
    const still = await crawl(bench, entries, failing.lastBuild);
    const visitedAt = (slug: string) => still.lastBuild.repositories.find((one) => one.slug === slug)?.visitedAt;
    expect(visitedAt('shrunken')).toBe(still.lastBuild.builtAt);
    expect(visitedAt('busy')).toBe(failing.lastBuild.builtAt);
    const text = describeResult(still);
    expect(text).toMatch(/stale shrunken: .+ Last confirmed 2026-06-01 12:00 UTC\.\n/);
    expect(text).toMatch(
      /stale busy: Not asked, because it failed before: .+429.+ Last confirmed 2026-06-01 12:00 UTC\.\n/,
    );
    expect(text).toMatch(/Changes +none\n/);
    expect(still.lastBuild.repositories.map(({ since }) => since)).toEqual(
      failing.lastBuild.repositories.map(({ since }) => since),
    );
    bench.pass(7200);
    bench.origin.mend();
    const gone = entries.slice(1);
    const recovered = describeResult(await crawl(bench, gone, still.lastBuild));
    await bench.stop();
    expect(recovered).toMatch(/1 recovered: busy\n +1 gone from the manifest: shrunken\n/);
  });

  it('C4: tells of a first build that everything is new, and of a repository that was renamed neither that it came nor that it went', async () => {
    const bench = await CrawlBench.start();
    onTestFinished(() => bench.stop());
    const entries = ['one', 'other'].map((slug) => makeEntry(slug, bench.origin.uri(slug)));
    for (const { slug } of entries) bench.origin.serve(slug, await generateRepository());
    const first = await crawl(bench, entries);
    const { lastBuild: before } = first;
    const statistics = { repositories: 2, packages: 3, versions: 3, updated: before.builtAt };
    const newSlugs = ['one', 'other'];
    const full = { ...first, statistics, newSlugs, isUncompared: true };
    expect(describeResult(full)).toMatch(/Changes +everything is new\n/);
    expect(describeResult({ ...full, newSlugs: [] })).toMatch(/Changes +\n +packages: not known, because/);
    // One that published nothing, for lack of a network for one.
    expect(describeResult({ ...full, statistics: undefined })).toMatch(/Changes +none\n/);
    bench.pass(60);
    const [one, other] = entries as [ManifestEntry, ManifestEntry];
    const moved = { ...one, slug: 'moved', aliases: ['One'] };
    // What has a former slug of another for its own keeps what was known of it.
    const taking = { ...other, aliases: ['moved'] };
    const told = await crawl(bench, [moved, taking], renameFormerSlugs(before, [moved, taking]));
    expect(describeResult(told)).toMatch(/Changes +none\n/);
    expect(told.lastBuild.repositories.map(({ slug, since }) => [slug, since])).toEqual(
      ['moved', 'other'].map((slug, place) => [slug, before.repositories[place]?.since]),
    );
    const back = renameFormerSlugs(told.lastBuild, [{ ...one, aliases: ['moved'] }, other]);
    expect(back.repositories.map(({ slug }) => slug)).toEqual(['one', 'other']);
    expect(renameFormerSlugs(before, [{ ...one, slug: 'ONE' }, other]).repositories[0]?.slug).toBe('ONE');
    // Where it is another repository that has the name now, the former one is gone.
    expect(renameFormerSlugs(before, [{ ...moved, aliases: ['other'] }, other]).repositories).toEqual(
      before.repositories,
    );
  });

  it('C4: tells of one that is new and gave nothing that it fails, and of one that fails as before nothing', () => {
    const buildOf = (outcomes: Readonly<Record<string, 'fresh' | 'stale' | 'failed'>>): LastBuild =>
      ({
        repositories: Object.entries(outcomes).map(([slug, outcome]) => ({ slug, outcome, heldBack: [] })),
      }) as unknown as LastBuild;
    const before = buildOf({ down: 'failed', gone: 'stale', kept: 'fresh', worse: 'stale' });
    const now = buildOf({ down: 'failed', kept: 'fresh', sound: 'fresh', unsound: 'failed', worse: 'failed' });
    expect(compareBuilds(before, now)).toEqual({
      ...{ added: ['sound', 'unsound'], removed: ['gone'] },
      ...{ failing: ['unsound'], recovered: [], heldBack: [] },
    });
  });

  it('C4: says neither that a repository fails that no build has visited, nor that it recovers once one has', async () => {
    const bench = await CrawlBench.start();
    onTestFinished(() => bench.stop());
    const [old, sound, unsound] = ['old', 'sound', 'unsound'].map((slug) => makeEntry(slug, bench.origin.uri(slug)));
    if (!old || !sound || !unsound) throw new Error('there are three');
    for (const { slug } of [old, sound]) bench.origin.serve(slug, await generateRepository());
    const entries = [old, sound, unsound];
    const { lastBuild: before } = await crawl(bench, [old]);
    // As with --only, or after a time budget.
    const tools = { entries, visited: [], waiting: [], found: [], now: bench.now };
    const unvisited = composeLastBuild({ ...tools, previous: before });
    expect(compareBuilds(before, unvisited)).toMatchObject({ added: ['sound', 'unsound'], failing: [], recovered: [] });
    const visited = await crawl(bench, entries, unvisited);
    expect(visited.repositoryChanges).toMatchObject({ added: [], failing: ['unsound'], recovered: [] });
  });

  it('C4: tells of what is held back for another reason than before, and not of what is as before', () => {
    const buildOf = (...codes: readonly string[]): LastBuild =>
      ({
        repositories: [{ slug: 'one', outcome: 'stale', heldBack: codes.map((code) => ({ code, reason: code })) }],
      }) as unknown as LastBuild;
    const heldBack = (before: LastBuild, now: LastBuild) => compareBuilds(before, now).heldBack;
    expect(heldBack(buildOf('release-older'), buildOf('index-shrunken'))).toEqual(['one']);
    expect(heldBack(buildOf('release-older', 'signature-lost'), buildOf('index-shrunken'))).toEqual(['one']);
    expect(heldBack(buildOf('release-older', 'signature-lost'), buildOf('release-older'))).toEqual([]);
  });

  it('C12: has nothing begin in times that are still to come, which a clock said that was ahead', async () => {
    const bench = await CrawlBench.start();
    const entries = [makeEntry('one', bench.origin.uri('one'))];
    const { now } = bench;
    bench.pass(5 * 365 * 86_400);
    const { lastBuild: ahead } = await crawl(bench, entries);
    bench.pass(-5 * 365 * 86_400 + 60);
    const { lastBuild } = await crawl(bench, entries, ahead);
    bench.pass(60);
    const later = await crawl(bench, entries, lastBuild);
    await bench.stop();
    const sinceOf = (build: LastBuild) => build.repositories.map(({ since }) => Date.parse(since) - now.getTime());
    expect(sinceOf(ahead)[0]).toBeGreaterThan(86_400_000);
    expect(sinceOf(lastBuild)).toEqual([60_000]);
    expect(sinceOf(later.lastBuild)).toEqual([60_000]);
  });

  it('names the repositories that are down, the first forty of them', async () => {
    const bench = await CrawlBench.start();
    const entries = Array.from({ length: 43 }, (_, n) => makeEntry(`r${100 + n}`, bench.origin.uri(`r${n}`)));
    const text = describeResult(await crawl(bench, entries));
    await bench.stop();
    expect(text).toContain('Repositories  43: 0 fresh, 0 unchanged, 0 stale, 43 failed');
    expect(text.match(/failed r1\d\d: /g)).toHaveLength(40);
    expect(text).toContain(' and 3 more; outcomes.json in the state folder has all\n');
  });

  it('tells in one line of those that our own network kept from being asked, and of each that is down itself', async () => {
    const bench = await CrawlBench.start();
    const entries = ['a', 'b', 'c', 'd', 'e'].map((slug) => makeEntry(slug, bench.origin.uri(slug)));
    const result = await crawl(bench, entries);
    await bench.stop();
    const textOf = (unreached: number) => {
      const repositories = result.lastBuild.repositories.map((one, index) =>
        index < unreached ? { ...one, code: 'no-network' as const, reason: 'There is no network.' } : one,
      );
      return describeResult({ ...result, lastBuild: { ...result.lastBuild, repositories } });
    };
    expect(textOf(4)).toContain('4 could not be asked, of which a: There is no network.\n');
    expect(textOf(4).match(/failed \w: /g)).toEqual(['failed e: ']);
    expect(textOf(3)).not.toContain('could not be asked');
    expect(textOf(3).match(/failed \w: /g)).toHaveLength(5);
  });

  it('names the packages that changed, the first twenty of them', async () => {
    const bench = await CrawlBench.start();
    await bench.stop();
    const changes = Array.from({ length: 23 }, (_, index): PackageChange => {
      const id = `com.example.p${String(index).padStart(2, '0')}`;
      return { package_id: id, repository: 'one', change: 'updated', version: '2', previous_version: '1' };
    });
    const text = describeResult(await crawl(bench, [], undefined, changes));
    expect(text).toContain('packages: 0 added, 23 updated, 0 removed\n');
    expect(text).toContain('updated com.example.p19 1 to 2 (one)\n');
    expect(text).not.toContain('com.example.p20');
    expect(text).toContain('and 3 more packages');
  });

  it('H12: has no line that a name of a stranger turns around or breaks', async () => {
    const bench = await CrawlBench.start();
    await bench.stop();
    const odd = { package_id: 'com.\u202eelpmaxe', version: '1\u20282', previous_version: null } as const;
    const text = describeResult(await crawl(bench, [], undefined, [{ ...odd, repository: 'one', change: 'added' }]));
    expect(text).toContain('added com.\\u202eelpmaxe 1\\u20282 (one)\n');
  });

  it('says how much is published, in units that are never nothing, and for which known hosts it is too much', async () => {
    const bench = await CrawlBench.start();
    await bench.stop();
    const result = await crawl(bench, []);
    const sizeOf = (bytes: number, largest: number) =>
      describeResult({ ...result, size: { files: 1234, bytes, largest: { path: 'v2/a.json', bytes: largest } } });
    expect(sizeOf(999_999, 1)).toContain('1,234 files, 1,000 kB; the largest is v2/a.json, 1 kB\n');
    expect(sizeOf(1_000_000, 999)).toContain('1,234 files, 1 MB; the largest is v2/a.json, 1 kB\n');
    const passed = sizeOf(1_499_999_999, 30_000_000);
    expect(passed).toContain('1,234 files, 1,500 MB; the largest is v2/a.json, 30 MB\n');
    expect(passed).toMatch(
      /more than Cloudflare, free takes: 25 MiB a file\n(?:.*\n)+ +more than GitHub Pages takes: 1 GB/,
    );
  });

  it('C11: counts one of a thing as one', async () => {
    const bench = await CrawlBench.start();
    await bench.stop();
    const statistics = { repositories: 1, packages: 1, versions: 1, updated: '2026-06-01T12:00:00.000Z' };
    const result = { ...(await crawl(bench, [])), statistics };
    expect(describeResult({ ...result, stanzas: 1 })).toMatch(/Packages +1, 1 version, of 1 stanza read\n/);
    expect(describeResult({ ...result, stanzas: 1200 })).toMatch(/Packages +1, 1 version, of 1,200 stanzas read\n/);
  });

  it('counts over all repositories what was asked, received, signed and found', async () => {
    const bench = await CrawlBench.start();
    const entries = ['a', 'b', 'c', 'd'].map((slug) => makeEntry(slug, bench.origin.uri(slug)));
    const { lastBuild, ...result } = await crawl(bench, entries);
    await bench.stop();
    const builtOf = (
      signings: Readonly<Record<string, 'verified' | 'unsigned'>>,
      counts: Readonly<Record<string, number>>,
    ): BuildResult => ({
      ...result,
      outcomes: result.outcomes.map((one) => ({ ...one, requests: 3, bytes: 1_400 })),
      lastBuild: {
        ...lastBuild,
        repositories: lastBuild.repositories.map((one) => {
          const [state, count] = [signings[one.slug], counts[one.slug]];
          return {
            ...one,
            signing: state === undefined ? null : { state, signers: [] },
            findings: count === undefined ? [] : [{ code: 'homepage-malformed', count, example: 'x' }],
          };
        }),
      },
    });
    const text = describeResult(builtOf({ a: 'unsigned', b: 'verified', c: 'verified' }, { b: 1_200, d: 2 }));
    expect(text).toMatch(/Signatures +2 verified, 1 unsigned\n/);
    expect(text).toMatch(/Requests +12, 6 kB received\n/);
    expect(text).toMatch(/Findings +\n +1,202 homepage-malformed: b, d\n/);
    const nothing = describeResult(builtOf({}, {}));
    expect(nothing).toMatch(/Signatures +none read\n/);
    expect(nothing).toMatch(/Findings +none\n/);
  });

  it('says what was repaired, left out and not visited, and whether the generation is as before', async () => {
    const bench = await CrawlBench.start();
    const entries = ['a', 'b'].map((slug) => makeEntry(slug, bench.origin.uri(slug)));
    const result = await crawl(bench, entries);
    await bench.stop();
    const generationOf = (isNew: boolean, portionsLeftOut?: string) => ({
      generation: {
        ...{ generation: { number: 7, documents: { count: 1_234 } } as Generation, isNew },
        portionsLeftOut,
      },
    });
    const told = describeResult({
      ...result,
      outcomes: result.outcomes.slice(1),
      repairs: ['The catalog was damaged.'],
      unreadable: ['a'],
      ...generationOf(true, 'A row is too large.'),
    });
    expect(told).toMatch(/Repositories +2: .+; 1 not visited, as they were before\n/);
    expect(told).toMatch(/Repaired +The catalog was damaged\.\n/);
    expect(told).toMatch(/Damaged +snapshots that could not be read, .+: a\n/);
    expect(told).toMatch(/Left out +the catalog as rows, .+: A row is too large\.\n/);
    expect(told).toMatch(/Generation +7; 1,234 files\n/);
    const plain = describeResult({ ...result, ...generationOf(false) });
    expect(plain).not.toMatch(/not visited|Repaired|Damaged|Left out/);
    expect(plain).toMatch(/Generation +7, as before; 1,234 files\n/);
  });

  it('says of a build that was stopped how many repositories it visited, and whether anything was published', async () => {
    const bench = await CrawlBench.start();
    const entries = ['a', 'b'].map((slug) => makeEntry(slug, bench.origin.uri(slug)));
    const result = await crawl(bench, entries);
    await bench.stop();
    const statistics = { repositories: 2, packages: 3, versions: 3, updated: result.lastBuild.builtAt };
    const stopped = { ...result, outcomes: result.outcomes.slice(1) };
    expect(describeStop(stopped, 'SIGTERM')).toBe(
      'Stopped by SIGTERM: 1 of 2 repositories were visited, and nothing was published.\n',
    );
    expect(describeStop({ ...stopped, statistics }, 'SIGTERM')).toBe(
      'Stopped by SIGTERM: 1 of 2 repositories were visited, and what was crawled is published.\n',
    );
  });

  it('C4: says apart what is held back and what signature is to be confirmed, of which the packages were taken', async () => {
    const bench = await CrawlBench.start();
    const slugs = ['key', 'lost', 'both'];
    const entries = slugs.map((slug) => makeEntry(slug, bench.origin.uri(slug)));
    for (const slug of slugs) bench.origin.serve(slug, await generateRepository());
    const { lastBuild, ...result } = await crawl(bench, entries);
    const codesOf: Readonly<Record<string, string[]>> = {
      key: ['signature-key-changed'],
      lost: ['signature-lost'],
      both: ['signature-lost', 'index-shrunken'],
    };
    const repositories = lastBuild.repositories.map((one) => ({
      ...one,
      heldBack: (codesOf[one.slug] ?? []).map((code) => ({ code, reason: 'Of the test.' })),
    }));
    const waiting = { ...lastBuild, repositories };
    const told = { ...result, lastBuild: waiting, repositoryChanges: compareBuilds(lastBuild, waiting) };
    const text = describeResult(told);
    expect(text).toMatch(/1 newly held back: both\n +2 newly signed otherwise, to confirm: key, lost\n/);
    expect(text).toMatch(
      /Held back +npm run accept -- .+ SLUG takes it.+\n +both: index-shrunken: Of the test\.\nTo confirm +the packages were taken;.+\n(?: +(?:both: signature-lost|key: signature-key-changed|lost: signature-lost): Of the test\.\n){3}/,
    );
    const rehearsed = describeBuild(told, progress, undefined);
    expect(rehearsed).toMatch(
      /Held back +a build without --dry-run says.+\n.+\nTo confirm +a build without --dry-run takes/,
    );
    expect(rehearsed).not.toContain('npm run accept');
    await bench.stop();
  });
});

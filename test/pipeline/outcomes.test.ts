import { expect, it } from 'vitest';
import type { LastBuild, RepositoryOutcome } from '../../src/catalog/last-build.ts';
import type { RepositoryFindings } from '../../src/catalog/reading.ts';
import type { CrawlOutcome } from '../../src/crawl/crawl.ts';
import { composeFailures, composeLastBuild, recallFindings } from '../../src/pipeline/outcomes.ts';
import { makeEntry } from '../support/crawling.ts';

const entries = ['one', 'two'].map((slug) => makeEntry(slug, `https://${slug}.example/`));
const day = (number: number, year = 2026): string => new Date(Date.UTC(year, 5, number)).toISOString();

const outcomeOf = (slug: string, fields: Partial<RepositoryOutcome> = {}): RepositoryOutcome => ({
  ...{ slug, uri: `https://${slug}.example/`, outcome: 'unchanged', code: null, reason: null, detail: null },
  ...{ since: day(1), visitedAt: day(1), confirmedAt: day(1), signing: null, heldBack: [], findings: [] },
  ...fields,
});
const buildOf = (builtAt: string, ...repositories: RepositoryOutcome[]): LastBuild => ({
  format: 2,
  builtAt,
  repositories,
});

/** The outcomes of a build at this time that visits nothing unless it is said. */
const compose = (
  now: string,
  previous: LastBuild | undefined,
  { visited = [], found = [] }: { visited?: readonly Partial<CrawlOutcome>[]; found?: readonly string[] } = {},
): readonly RepositoryOutcome[] =>
  composeLastBuild({
    entries,
    visited: visited as readonly CrawlOutcome[],
    waiting: [],
    found: found.map((slug) => ({ slug, signing: null, findings: [] }) as unknown as RepositoryFindings),
    previous,
    now: new Date(now),
  }).repositories;

it('C4: a repository that no build has visited is old where the catalog has it, and else has failed', () => {
  const [one, two] = compose(day(2), undefined, { found: ['one'] });
  const unvisited = { reason: 'Not visited yet.', visitedAt: null, confirmedAt: null, since: day(2) };
  expect(one).toMatchObject({ ...unvisited, outcome: 'stale' });
  expect(two).toMatchObject({ ...unvisited, outcome: 'failed' });
});

it('C4: what is left alone for a while was not visited, and what was in order begins anew where it fails', () => {
  const previous = buildOf(day(1), outcomeOf('one'), outcomeOf('two', { outcome: 'stale' }));
  const failing = { outcome: 'stale', reason: 'It is.', detail: 'it', confirmedAt: day(1) } as const;
  const [one, two] = compose(day(3), previous, {
    visited: [
      { slug: 'one', ...failing, code: 'dns' },
      { slug: 'two', ...failing, code: 'backing-off' },
    ],
  });
  expect(one).toMatchObject({ visitedAt: day(3), since: day(3) });
  expect(two).toMatchObject({ visitedAt: day(1), since: day(1) });
});

it('C12: under a clock of before any build, as SOURCE_DATE_EPOCH may say, times are kept that an earlier build noted', () => {
  const previous = buildOf(day(2, 1970), outcomeOf('one', { since: day(1, 1970) }));
  const sinceOf = (now: string, before: LastBuild) => compose(now, before)[0]?.since;
  expect(sinceOf(day(3, 1970), previous)).toBe(day(1, 1970));
  // Once the clock is right, none of them can be.
  expect(sinceOf(day(3), previous)).toBe(day(3));
  expect(sinceOf(day(3), { ...previous, builtAt: day(2) })).toBe(day(2));
});

it('C12: a confirmation of the future came before the trouble began', () => {
  const ahead = outcomeOf('one', { outcome: 'stale', since: day(2), confirmedAt: day(9) });
  expect(compose(day(3), buildOf(day(2), ahead))[0]?.confirmedAt).toBe(day(2));
  const sound = outcomeOf('one', { confirmedAt: day(3) });
  expect(compose(day(3), buildOf(day(2), sound))[0]?.confirmedAt).toBe(day(3));
});

it('C4: the failure of a repository is a finding since it began, unless an earlier version knew it by another code', () => {
  const build = buildOf(
    day(2),
    outcomeOf('one', { outcome: 'stale', code: 'dns', detail: 'one.example' }),
    outcomeOf('two', { outcome: 'stale', code: 'of-an-earlier-version' }),
    outcomeOf('three', { findings: [{ code: 'release-expired', count: 1, example: '', since: day(1) }] }),
  );
  expect([...composeFailures(build)]).toEqual([
    ['one', { code: 'dns', count: 1, example: 'one.example', since: day(1) }],
  ]);
  const since = recallFindings(build);
  expect([since('three', 'release-expired'), since('three', 'dns'), since('four', 'dns')]).toEqual([
    day(1),
    undefined,
    undefined,
  ]);
});

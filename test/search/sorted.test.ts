import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { CatalogFiles } from '../../functions/node/catalog-files.ts';
import { SearchReading } from '../../src/catalog/search-reading.ts';
import { readStale, writeStale } from '../../src/catalog/stale-repositories.ts';
import type { PackageOrder } from '../../src/contract/parameters.ts';
import { furthestResult, PackageSearch } from '../../src/search/package-search.ts';
import { SortedResults } from '../../src/search/sorted-results.ts';
import { openBuild, packages, parseRecords, type SourceRepository } from '../support/catalog.ts';
import { emissionOf } from '../support/emission.ts';

const day = (number: number) => new Date(`2026-05-${String(number).padStart(2, '0')}T00:00:00Z`);
const named = (Name: string, more = {}) => ({
  Name,
  Package: `com.example.${Name.replaceAll(' ', '').toLowerCase()}`,
  ...more,
});

const first = [
  named('Snow Zebra'),
  named('snöw ant', { Package: 'com.example.snowant' }),
  named('Snow', { Section: 'Themes' }),
  named('Board', { Description: 'for snow' }),
  named('Light'),
];
const later = [named('Snow Bear', { Version: '2~beta1' }), named('Light Snow')];
const sources = (stanzas: readonly Record<string, string>[]): SourceRepository[] => [
  { slug: 'one', packages: packages(...stanzas) },
];

const downloads = [
  { package_id: 'com.example.snowzebra', total: 7, last_30_days: 0 },
  { package_id: 'com.example.board', total: 300, last_30_days: 0 },
  // About as often, which the index does not tell apart.
  { package_id: 'com.example.snowant', total: 6, last_30_days: 0 },
];

let search: CatalogFiles;
beforeAll(async () => {
  const state = mkdtempSync(path.join(tmpdir(), 'debdex-test-'));
  const build = async (stanzas: readonly Record<string, string>[], now: Date) => {
    const opened = await openBuild(state, sources(stanzas), now);
    const emission = emissionOf(opened, path.join(state, 'dist'), { now, downloads });
    await emission.write();
    await opened.catalog.publish();
  };
  await build(first, day(2));
  await build([...first, later[0] as (typeof first)[0]], day(3));
  await build([...first, ...later], day(4));
  search = new CatalogFiles(state);
  return () => {
    search.close();
    rmSync(state, { recursive: true, force: true });
  };
});

const names = async (q: string, order?: PackageOrder, limit = 100, page = 1) =>
  parseRecords((await search.searchPackages(q, limit, page, {}, order)).records).map(({ name }) => name);

describe('a search of packages in another order', () => {
  it('finds what the search finds, and nothing else', async () => {
    const all = (await names('snow')).sort();
    expect(all).toHaveLength(6);
    for (const order of ['newest', 'downloads', 'name'] as const)
      expect((await names('snow', order)).sort()).toEqual(all);
  });

  it('has it by name, without regard to case and accents, by the day it was first seen, or by how often it was downloaded, and then as it fits', async () => {
    expect(await names('snow', 'name')).toEqual(['Board', 'Light Snow', 'Snow', 'snöw ant', 'Snow Bear', 'Snow Zebra']);
    expect((await names('snow', 'newest')).slice(0, 3)).toEqual(['Light Snow', 'Snow Bear', 'Snow']);
    expect(await names('snow', 'downloads')).toEqual([
      'Board',
      'Snow Zebra',
      'snöw ant',
      ...(await names('snow')).filter((name) => !['Board', 'Snow Zebra', 'snöw ant'].includes(String(name))),
    ]);
  });

  it('has what all words but one fit behind what all fit, and tells how many those are, in any order', async () => {
    for (const order of [undefined, 'newest', 'downloads', 'name'] as const) {
      const { records, parts } = await search.searchPackages('light snow', 100, 1, {}, order);
      const found = parseRecords(records).map(({ name }) => name);
      expect(found[0], order).toBe('Light Snow');
      expect([found.length, parts], order).toEqual([7, 6]);
    }
    expect((await names('light snow', 'name')).slice(1)).toEqual([
      'Board',
      'Light',
      'Snow',
      'snöw ant',
      'Snow Bear',
      'Snow Zebra',
    ]);
    // On each page those that are on it.
    const partsOf = async (page: number, order?: PackageOrder) =>
      (await search.searchPackages('light snow', 3, page, {}, order)).parts;
    for (const order of [undefined, 'name'] as const) {
      expect([await partsOf(1, order), await partsOf(2, order), await partsOf(4, order)], order).toEqual([2, 3, 0]);
    }
    // Inside a word is all of the question.
    expect((await search.searchPackages('ebra', 100, 1)).parts).toBe(0);
  });

  it('puts what is asked for page by page in order once, and not what was asked long before', async () => {
    const sorted = vi.spyOn(SearchReading.prototype, 'sortKeys');
    const timesOf = async (work: () => Promise<unknown>) => {
      sorted.mockClear();
      await work();
      return sorted.mock.calls.length;
    };
    const page = (number: number, q = 'snow', order: PackageOrder = 'name') => names(q, order, 3, number);
    expect(await timesOf(() => page(1))).toBe(1);
    expect(await timesOf(() => page(2))).toBe(0);
    expect(await timesOf(() => page(2, 'snow', 'newest'))).toBe(1);
    expect(await timesOf(() => search.searchPackages('snow', 3, 1, { kind: 'themes' }, 'name'))).toBe(1);
    expect(await timesOf(() => search.searchPackages('snow', 4, 1, {}, 'name'))).toBe(1);
    expect(await page(1)).toEqual(['Board', 'Light Snow', 'Snow']);
    for (const q of ['ant', 'bear', 'board', 'light', 'zebra', 'sn', 'be', 'li']) await page(1, q);
    expect(await timesOf(() => page(1))).toBe(1);
    sorted.mockRestore();
  });

  it('has on its pages what it has on one, and none beyond the last', async () => {
    const paged = await Promise.all([1, 2, 3].map((page) => names('snow', 'name', 2, page)));
    expect(paged.flat()).toEqual(await names('snow', 'name'));
    const at = (page: number) => search.searchPackages('snow', 2, page, {}, 'name');
    expect([(await at(2)).more, (await at(3)).more]).toEqual([true, false]);
    for (const page of [4, furthestResult, Number.MAX_SAFE_INTEGER]) {
      expect(await at(page)).toEqual({ records: { count: 0, pieces: [] }, more: false, last: 3, parts: 0 });
    }
    expect(await names('!?', 'name')).toEqual([]);
  });
});

it('H7: reads what is put in order in many steps, each of no more than one class or some hundred keys', () => {
  const asked: number[] = [];
  const keyed: number[] = [];
  const reading: Partial<SearchReading> = {
    match: (_, wanted) => {
      asked.push(wanted);
      return Array.from({ length: Math.min(wanted, 20_000) }, (__, id) => id + asked.length * 2000);
    },
    names: () => [],
    sortKeys: (ids) => {
      keyed.push(ids.length);
      return ids.map((id) => ({ id, identifier: `${id}`, name: `${id}`, firstSeen: '' }));
    },
  };
  const search = new PackageSearch(reading as SearchReading);
  const steps = new SortedResults(reading as SearchReading, () => []).sort(search.locateAll('snow', 100), 'name');
  let most = 0;
  for (let step = steps.next(); ; step = steps.next()) {
    most = Math.max(most, asked.length + keyed.length);
    asked.length = 0;
    keyed.length = 0;
    if (step.done === true) {
      expect(step.value.ids).toHaveLength(furthestResult);
      break;
    }
  }
  expect(most).toBeLessThanOrEqual(4);
});

/** The order of documents 1 and up to `count` by `sorted`. */
const orderBy = (sorted: SortedResults, order: NonNullable<PackageOrder>, count: number): number[] => {
  function* found(): Generator<void, { ids: number[]; fitting: number }, void> {
    yield;
    return { ids: Array.from({ length: count }, (_, index) => index + 1), fitting: count };
  }
  const steps = sorted.sort(found(), order);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return [...step.value.ids];
};

it('C12: has what was first seen under a clock that was ahead behind all else, not before it for good', () => {
  const seen = [-2, -1, 0, 2].map((days) => new Date(Date.now() + days * 86_400_000).toISOString());
  const reading: Partial<SearchReading> = {
    sortKeys: (ids) => ids.map((id) => ({ id, identifier: `p${id}`, name: '', firstSeen: seen[id - 1] ?? '' })),
  };
  expect(orderBy(new SortedResults(reading as SearchReading, () => []), 'newest', 4)).toEqual([3, 2, 1, 4]);
});

it('reads how often packages were downloaded once, however often that order is wanted', () => {
  let read = 0;
  const reading: Partial<SearchReading> = {
    sortKeys: (ids) => ids.map((id) => ({ id, identifier: `p${id}`, name: '', firstSeen: '' })),
  };
  const sorted = new SortedResults(reading as SearchReading, () => {
    read++;
    return [['p2', 5]];
  });
  for (let time = 0; time < 2; time++) expect(orderBy(sorted, 'downloads', 2)).toEqual([2, 1]);
  expect(read).toBe(1);
});

describe('repositories that the last build could not read', () => {
  it('are noted where they are others than before, and else nothing is written', async () => {
    const state = mkdtempSync(path.join(tmpdir(), 'debdex-test-'));
    try {
      const open = (stale: string) =>
        openBuild(
          state,
          ['one', 'two'].map((slug) => ({ slug, isStale: slug === stale, packages: packages(named(slug)) })),
        );
      const { catalog } = await open('two');
      writeStale(catalog, new Set(['two', 'gone']));
      expect(readStale(catalog.database)).toEqual(['two']);
      await catalog.publish();
      const same = await open('two');
      expect(same.catalog.changed).toBe(false);
      same.catalog.discard();
      const other = await open('one');
      expect([other.catalog.changed, readStale(other.catalog.database)]).toEqual([true, ['one']]);
      other.catalog.discard();
    } finally {
      rmSync(state, { recursive: true, force: true });
    }
  });
});

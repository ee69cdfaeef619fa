import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { CatalogFiles } from '../../functions/node/catalog-files.ts';
import { excludedByTerms, excludingTerms, facetTerm } from '../../src/catalog/facets.ts';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { SearchReading } from '../../src/catalog/search-reading.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { endOfVersions, holdsVersion, parseVersion, uniteRanges } from '../../src/compatibility/ios-versions.ts';
import { readExcluded } from '../../src/compatibility/statements.ts';
import { packageStates, stateOf } from '../../src/contract/package-states.ts';
import type { PackageFilter } from '../../src/contract/parameters.ts';
import { sectionKind } from '../../src/contract/sections.ts';
import { filterExpression } from '../../src/search/filter.ts';
import { buildCatalog, packages, parseRecords } from '../support/catalog.ts';

const architectures = ['iphoneos-arm', 'iphoneos-arm64', 'iphoneos-arm64e', 'all', 'amd64'];
const sections = ['Tweaks', 'tweaks', 'Thèmes & Co', undefined, 'Tweaks (iOS 15)'];
const firmware = [
  undefined,
  'firmware (>= 14.0)',
  'firmware (<< 16)',
  'firmware (>= 13), firmware (<= 15.8.3)',
  'firmware',
];
const tags = [undefined, 'cydia::commercial', 'compatible_max::ios16.5', 'compatible_min::ios15, cydia::commercial'];

const versions = ['1.0', '2.0~beta3', '1.5-2', '3.0+debug'];

const pick = <T>(list: readonly T[], number: number): T => list[number % list.length] as T;

const stanzas = Array.from({ length: 480 }, (_, number) => ({
  Package: `com.example.snow${number}`,
  Name: `${pick(['Snow', 'Snowfall', 'Let it Snow', 'Winter'], number)} ${number}`,
  Description: 'Falls on a screen like snow',
  Author: 'Ada',
  Architecture: pick(architectures, number),
  Section: pick(sections, Math.floor(number / 5)),
  Depends: pick(firmware, Math.floor(number / 7)),
  Tag: pick(tags, Math.floor(number / 11)),
  Version: pick(versions, Math.floor(number / 13)),
}));
const dependsOf = new Map(stanzas.map(({ Package, Depends }) => [Package, Depends]));

let search: CatalogFiles;
let state: string;
beforeAll(async () => {
  state = mkdtempSync(path.join(tmpdir(), 'debdex-test-'));
  await buildCatalog(state, [
    { slug: 'one', ranking: 1, aliases: ['first', 'two'], packages: packages(...stanzas.slice(0, 200)) },
    { slug: 'two', ranking: 3, packages: packages(...stanzas.slice(200, 420)) },
    { slug: 'away', ranking: 2, isStale: true, packages: packages(...stanzas.slice(420)) },
  ]);
  search = new CatalogFiles(state);
  return () => {
    search.close();
    rmSync(state, { recursive: true, force: true });
  };
});

const found = async (q: string, filter: PackageFilter = {}, limit = 1000, page = 1) =>
  parseRecords((await search.searchPackages(q, limit, page, filter)).records);
type Found = Awaited<ReturnType<typeof found>>[number];

// What the parameters say, of a record (decisions, section 7).
const fits = (
  record: Found,
  { architecture, firmware, section, repository, price, kind, state }: PackageFilter,
): boolean => {
  const excluded = readExcluded({ ...record, depends: dependsOf.get(record.package_id) });
  return (
    (architecture === undefined ||
      (architectures.includes(architecture) && [architecture, 'all'].includes(record.architecture))) &&
    (firmware === undefined || !holdsVersion(excluded, parseVersion(firmware) ?? Number.NaN)) &&
    (section === undefined || record.section?.toLowerCase() === section.toLowerCase()) &&
    (repository === undefined || record.repository_id === repository) &&
    (price === undefined || record.price === price) &&
    (kind === undefined || sectionKind(record.section) === kind) &&
    (state === undefined || stateOf(record.version, record.repository_id === 'away') === state)
  );
};

const filters = fc.record(
  {
    architecture: fc.constantFrom(...architectures, 'nothing'),
    firmware: fc.constantFrom('12', '13.0', '14.0', '15.8.3', '15.8.4', '16', '16.5.1', '16.6', '17.0'),
    section: fc.constantFrom('Tweaks', 'THÈMES & co', 'Nothing'),
    repository: fc.constantFrom('one', 'two', 'three'),
    price: fc.constantFrom('Free' as const, 'Paid' as const),
    kind: fc.constantFrom('tweaks' as const, 'themes' as const, 'apps' as const, 'other' as const),
    state: fc.constantFrom(...packageStates),
  },
  { requiredKeys: [] },
);

describe('C14: a search of packages that is narrowed', () => {
  it('finds what it would find otherwise and what fits, and nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(
        filters,
        fc.constantFrom('snow', 'let snow', 'fall ada', 'winter', 'snow 12'),
        async (filter, q) => {
          const all = await found(q);
          const narrowed = await found(q, filter);
          expect(narrowed.filter((record) => !fits(record, filter))).toEqual([]);
          const ids = new Set(narrowed.map(({ id }) => id));
          expect(all.filter((record) => fits(record, filter) && !ids.has(record.id))).toEqual([]);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('finds on its pages what it finds on one, once each, in one order', async () => {
    const filter = { architecture: 'iphoneos-arm64', firmware: '16.7' };
    const whole = (await found('snow', filter)).map(({ id }) => id);
    expect(whole.length).toBeGreaterThan(60);
    const pages: string[] = [];
    for (let page = 1; page <= Math.ceil(whole.length / 25); page++) {
      pages.push(...(await found('snow', filter, 25, page)).map(({ id }) => id));
    }
    expect(pages).toEqual(whole);
    expect(await found('snow', filter, 25, Math.ceil(whole.length / 25) + 1)).toEqual([]);
  });

  it('knows sections without regard to case and accents, repositories by former slugs, and nothing by an unknown value', async () => {
    const inSection = (section: string) => found('snow', { section });
    expect((await inSection('themes & CO')).length).toBe((await inSection('Thèmes & Co')).length);
    expect((await inSection('tweaks')).some(({ section }) => section === 'Tweaks')).toBe(true);
    expect(await inSection('Them')).toEqual([]);
    // What is asked for is trimmed; a record may name it with a blank that a stanza's field keeps.
    expect(facetTerm('section', 'Tweaks\u00a0')).toBe(facetTerm('section', 'tweaks'));
    expect((await found('snow', { repository: 'first' })).every(({ repository_id }) => repository_id === 'one')).toBe(
      true,
    );
    // A slug that a repository has is that of no other.
    expect((await found('snow', { repository: 'two' })).every(({ repository_id }) => repository_id === 'two')).toBe(
      true,
    );
    for (const filter of [{ repository: 'ONE' }, { architecture: 'arm' }, { section: 'one' }, { firmware: '16.99' }]) {
      expect(await found('snow', filter), JSON.stringify(filter)).toEqual([]);
    }
  });

  it('takes any number of repositories that could not be read', () => {
    const stale = ['away', ...Array.from({ length: 3000 }, (_, number) => `r${number}`)];
    const database = CatalogFile.openReadOnly(catalogPath(state));
    const reading = new SearchReading(database);
    const count = (chosen: PackageFilter['state']) => {
      const within = filterExpression({ state: chosen }, { slugOf: () => undefined, stale, isKnown: () => true });
      return reading.match(`"snow" ${within}`, 1000).length;
    };
    expect(count('stale')).toBeGreaterThan(0);
    const none = filterExpression({ state: 'stale' }, { slugOf: () => undefined, stale: [], isKnown: () => true });
    expect(reading.match(`"snow" ${none}`, 1000)).toEqual([]);
    expect(packageStates.map(count).reduce((sum, one) => sum + one)).toBe(reading.match('"snow"', 1000).length);
    database.close();
  });

  it('leaves out by a tag alone what says that it does not run', async () => {
    const ids = async (firmware: string) =>
      (await found('snow', { firmware })).map(({ package_id }) => package_id).filter((id) => /snow7[0-6]$/.test(id));
    expect((await ids('16.5.1')).length).toBe(7);
    expect(await ids('16.6')).toEqual([]);
  });

  it('finds no package by the terms of its facets', async () => {
    for (const facet of ['architecture', 'section', 'repository', 'price', 'kind', 'stage'] as const) {
      const term = facetTerm(facet, facet === 'architecture' ? 'all' : facet === 'repository' ? 'one' : 'Free');
      expect(await found(term)).toEqual([]);
    }
  });

  it('forgives a typing mistake there too', async () => {
    const names = (await found('wimter', { repository: 'two', architecture: 'iphoneos-arm64' })).map(
      ({ name }) => name,
    );
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect(name).toContain('Winter');
  });
});

describe('C14: the terms of versions', () => {
  const range = fc
    .tuple(fc.nat(endOfVersions), fc.nat(endOfVersions))
    .map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);

  it('of a package and of a question meet where the package excludes the version, and nowhere else', () => {
    fc.assert(
      fc.property(fc.array(range, { maxLength: 3 }), fc.nat(endOfVersions - 1), fc.nat(2), (list, any, near) => {
        const excluded = uniteRanges(list);
        const edges = excluded.flat().flatMap((edge) => [edge - 1, edge, edge + 1]);
        const asked = [any, ...edges, near].filter((version) => version >= 0 && version < endOfVersions);
        const terms = new Set(excludingTerms(excluded));
        for (const version of asked) {
          expect(excludedByTerms(version).some((term) => terms.has(term))).toBe(holdsVersion(excluded, version));
        }
        expect(terms.size).toBeLessThanOrEqual(excluded.length * 2 * 19);
      }),
    );
    expect(excludingTerms([[0, endOfVersions]])).toHaveLength(1);
  });
});

import { expect, it } from 'vitest';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { limits } from '../../src/contract/limits.ts';
import { buildCatalog, packages } from '../support/catalog.ts';
import { temporaryFolder } from '../support/folder.ts';

const read = (state: string): string[] => {
  const database = CatalogFile.openReadOnly(catalogPath(state));
  const rows = database
    .prepare<[string, string, string]>(
      `SELECT package, provision.name, provision.version FROM provision LEFT JOIN record ON record.id = provision.record
       ORDER BY 1, 2, 3`,
    )
    .all();
  database.close();
  return rows.map((row) => row.join(' '));
};

it('D1: names that are provided are those of the newest versions, and go with their repository', async () => {
  const state = temporaryFolder();
  const one = (...stanzas: Record<string, string>[]) => ({ slug: 'one', packages: packages(...stanzas) });
  const two = { slug: 'two', packages: packages({ Package: 'z', Provides: 'w' }) };
  const a = (Version: string, Provides: string) => ({ Package: 'a', Version, Provides });
  await buildCatalog(state, [one(a('1', 'old'), a('2', 'v (= 3), v, u'), a('2', 'v, u (<< 1), (')), two]);
  expect(read(state)).toEqual(['a v ', 'z w ']);
  await buildCatalog(state, [one(a('3', 'x, v'), a('2', 'v')), two]);
  expect(read(state)).toEqual(['a v ', 'a x ', 'z w ']);
  await buildCatalog(state, [two]);
  expect(read(state)).toEqual(['z w ']);
});

it('C7: no more names are taken than the limits say', async () => {
  const state = temporaryFolder();
  const Provides = Array.from({ length: limits.providesPerPackage + 5 }, (_, number) => `v${number}`).join(', ');
  await buildCatalog(state, [{ slug: 'one', packages: packages({ Package: 'a', Provides }) }]);
  expect(read(state)).toHaveLength(limits.providesPerPackage);
});

it('C7: names that older versions provided do not count for the limit of a repository', async () => {
  const state = temporaryFolder();
  const Provides = Array.from({ length: limits.providesPerPackage }, (_, number) => `v${number}`).join(', ');
  const versions = Math.ceil(limits.providesPerRepository / limits.providesPerPackage) + 1;
  const stanzas = Array.from({ length: versions }, (_, number) => ({ Package: 'a', Version: `${number}`, Provides }));
  await buildCatalog(state, [{ slug: 'one', packages: packages(...stanzas) }]);
  expect(read(state)).toHaveLength(limits.providesPerPackage);
});

it('D1: a package that provides as many long names as the largest of Debian is there with all of them', async () => {
  const state = temporaryFolder();
  const names = Array.from({ length: 1603 }, (_, number) => `librust-winapi-0.3+${'feature'.repeat(3)}-${number}-dev`);
  const stanza = { Package: 'a', Provides: names.map((name) => `${name} (= 0.3.9-1+b1)`).join(', ') };
  expect(stanza.Provides.length).toBeGreaterThan(75_639);
  await buildCatalog(state, [{ slug: 'one', packages: packages(stanza) }]);
  expect(read(state)).toHaveLength(names.length);
});

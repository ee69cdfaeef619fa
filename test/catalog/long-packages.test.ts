import { expect, it } from 'vitest';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { fewPackages, readLongPackages } from '../../src/catalog/reading.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { buildCatalog, packages } from '../support/catalog.ts';
import { temporaryFolder } from '../support/folder.ts';

it('tells which packages have more records than should be in memory at once, of those that it is asked for', async () => {
  const state = temporaryFolder();
  const versions = (name: string, count: number) =>
    Array.from({ length: count }, (_, version) => ({ Package: name, Version: `1.${version}` }));
  const stanzas = [...versions('long', 201), ...versions('longer', 210), ...versions('short', 200)];
  await buildCatalog(state, [{ slug: 'one', packages: packages(...stanzas) }]);
  const database = CatalogFile.openReadOnly(catalogPath(state));
  try {
    const asked = (names: string[]) => readLongPackages(database, new Set(names)).sort();
    expect(asked(['short', 'long', 'absent'])).toEqual([['long', 201]]);
    const many = Array.from({ length: fewPackages + 1 }, (_, number) => `absent.${number}`);
    expect(asked([...many, 'longer', 'short'])).toEqual([['longer', 210]]);
  } finally {
    database.close();
  }
});

import { constants, DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished } from 'vitest';
import type { CatalogDatabase, SqlValue, Statement } from '../../src/catalog/database.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { CatalogSearch } from '../../src/search/catalog-search.ts';
import { buildCatalog, packages } from '../support/catalog.ts';
import { temporaryFolder } from '../support/folder.ts';

// SQLite prepares a statement anew, without a word, where a value that is bound may change how it is best read; that costs
// more than many a statement itself. It asks who may read what whenever it prepares.

it('H7 a search prepares nothing that was prepared before, whatever it asks for', async () => {
  const state = temporaryFolder();
  const tweaks = packages(...['snow', 'snowboard', 'board'].map((name) => ({ Package: `com.example.${name}` })));
  await buildCatalog(state, [{ slug: 'one', packages: tweaks }]);
  const file = new DatabaseSync(catalogPath(state), { readOnly: true });
  onTestFinished(() => file.close());
  const database: CatalogDatabase = {
    prepare: <Row extends readonly SqlValue[]>(sql: string) => {
      const statement = file.prepare(sql);
      statement.setReturnArrays(true);
      return statement as unknown as Statement<Row>;
    },
  };
  const search = new CatalogSearch(database);
  let prepared = 0;
  file.setAuthorizer(() => {
    prepared++;
    return constants.SQLITE_OK;
  });
  const ask = async () => {
    for (const limit of [1, 2, 50]) {
      for (const question of ['snow', 'snowbaord', 'board snow', 'nowboa', 'com.example.snow', 'nothing at all']) {
        await search.searchPackages(question, limit, 1);
      }
    }
  };
  // What reads for the first time is prepared then.
  await ask();
  expect(prepared).toBeGreaterThan(0);
  prepared = 0;
  await ask();
  expect(prepared).toBe(0);
});

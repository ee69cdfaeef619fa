import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { OpenCatalog } from '../../functions/node/open-catalog.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { buildCatalog, packages, parseRecords } from '../support/catalog.ts';
import { temporaryFolder } from '../support/folder.ts';

const openBuilt = async (): Promise<OpenCatalog> => {
  const state = temporaryFolder();
  await buildCatalog(state, [{ slug: 'one', packages: packages({ Name: 'Alpha' }) }]);
  return new OpenCatalog(catalogPath(state), () => undefined);
};

it('closes its file once the last of its readers is done, and not before', async () => {
  const catalog = await openBuilt();
  const [first, last] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const read = (until: Promise<void>) =>
    catalog.ask(async (search) => {
      await until;
      const { records } = await search.searchPackages('alpha', 10, 1);
      return parseRecords(records).map(({ name }) => name);
    });
  const [one, other] = [read(first.promise), read(last.promise)];
  catalog.close();
  first.resolve();
  expect(await one).toEqual(['Alpha']);
  last.resolve();
  expect(await other).toEqual(['Alpha']);
  await expect(catalog.ask((search) => search.searchPackages('alpha', 10, 1))).rejects.toThrow(/not open/);
});

it('closes its file at once where nobody reads it, and once however often it is told to', async () => {
  const catalog = await openBuilt();
  catalog.close();
  expect(() => catalog.close()).not.toThrow();
  await expect(catalog.ask((search) => search.searchPackages('alpha', 10, 1))).rejects.toThrow(/not open/);
});

it('H10: reads no text of a catalog of somebody else that would not fit in memory', async () => {
  const state = temporaryFolder();
  await buildCatalog(state, [{ slug: 'one', packages: packages({ Name: 'Alpha' }) }]);
  const database = new DatabaseSync(catalogPath(state));
  database.exec('UPDATE record SET name = hex(zeroblob(17 * 1048576))');
  database.close();
  for (const isForeign of [false, true]) {
    const catalog = new OpenCatalog(catalogPath(state), () => undefined, isForeign);
    const sorted = catalog.ask((search) => search.searchPackages('alpha', 10, 1, {}, 'name'));
    if (isForeign) await expect(sorted).rejects.toThrow('too big');
    else expect((await sorted).records.count).toBe(1);
    catalog.close();
  }
});

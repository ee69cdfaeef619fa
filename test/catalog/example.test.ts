import { expect, it } from 'vitest';
import { chooseExample, shortList } from '../../src/catalog/example-reading.ts';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { buildCatalog, packages, type SourceRepository } from '../support/catalog.ts';
import { temporaryFolder } from '../support/folder.ts';

const choose = async (...repositories: readonly SourceRepository[]) => {
  const state = temporaryFolder();
  await buildCatalog(state, repositories);
  const database = CatalogFile.openReadOnly(catalogPath(state));
  const found = chooseExample(database);
  database.close();
  return found && `${found.slug} ${found.packageId} ${found.name}`;
};

const repository = (slug: string, ranking: number, count: number, fields = {}): SourceRepository => ({
  slug,
  ranking,
  packages: packages(
    ...Array.from({ length: count }, (_, number) => ({ Package: `${slug}${number}`, Name: 'A name', ...fields })),
  ),
});

it('the example is of the best ranked repository whose list is short, else of the shortest', async () => {
  const [long, longer] = [repository('long', 1, shortList + 1), repository('longer', 1, shortList + 2)];
  expect(await choose(long, repository('short', 3, 2), repository('better', 2, shortList))).toBe(
    'better better0 A name',
  );
  expect(await choose(longer, long)).toBe('long long0 A name');
});

it('a package with a name comes before one without, and its identifier stands for the name where none has one', async () => {
  const nameless = repository('nameless', 1, 2, { Name: '' });
  expect(await choose(nameless, repository('named', 5, 2))).toBe('named named0 A name');
  expect(await choose(nameless)).toBe('nameless nameless0 nameless0');
});

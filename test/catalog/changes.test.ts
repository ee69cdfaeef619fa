import { expect, it } from 'vitest';
import { readPackageChanges } from '../../src/catalog/changes.ts';
import { openBuild, packages, type SourceRepository } from '../support/catalog.ts';
import { temporaryFolder } from '../support/folder.ts';

const catalogOf = async (...repositories: readonly SourceRepository[]) => {
  const { catalog } = await openBuild(temporaryFolder(), repositories);
  return catalog;
};

it('P2: tells of the first and the last package of a repository that stays, and of none of one that came or went', async () => {
  const full = packages({ Package: 'a' }, { Package: 'b', Version: '2.0' });
  const filled = await catalogOf({ slug: 'one', packages: full }, { slug: 'gone', packages: full });
  const emptied = await catalogOf({ slug: 'one', packages: '' }, { slug: 'new', packages: full });
  const entries = ['one', 'new'].map((slug) => ({ slug, aliases: [] }));
  const listed = { repository: 'one', version: null, previous_version: null };
  expect(readPackageChanges(filled.database, emptied.database, entries)).toEqual([
    { ...listed, package_id: 'a', change: 'removed', previous_version: '1.0' },
    { ...listed, package_id: 'b', change: 'removed', previous_version: '2.0' },
  ]);
  expect(readPackageChanges(emptied.database, filled.database, entries)).toEqual([
    { ...listed, package_id: 'a', change: 'added', version: '1.0' },
    { ...listed, package_id: 'b', change: 'added', version: '2.0' },
  ]);
  // What it had under a former slug it has not got now.
  const before = await catalogOf({ slug: 'one', packages: '' }, { slug: 'gone', packages: full });
  const renamed = [{ slug: 'one', aliases: ['gone'] }];
  expect(readPackageChanges(before.database, filled.database, renamed)).toEqual([]);
  for (const catalog of [filled, emptied, before]) catalog.discard();
});

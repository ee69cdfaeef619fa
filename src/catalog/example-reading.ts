import type { ExampleSubject } from '../contract/example-subject.ts';
import { isAskable, repositoryWords } from '../contract/public-addresses.ts';
import type { CatalogDatabase } from './database.ts';
import { readRepositoryRows } from './reading.ts';
import { parseRecord } from './record-list.ts';
import { findRepository } from './record-range.ts';

/** A list of more records than these is no example but a download. */
export const shortList = 20;
/** A package with more records than these likewise. */
const fewRecords = 4;
/** So many packages are looked at, since there is always one that will do. */
const looked = 50;

/**
 * What to ask this index about where an example is shown: a package, with a name and an identifier that needs no
 * encoding, of the best ranked repository whose list is short and that is looked up by its slug. The same while that repository stays the same. Undefined
 * where nothing has a name.
 */
export const chooseExample = (database: CatalogDatabase): ExampleSubject | undefined => {
  const filled = readRepositoryRows(database).filter(
    ({ slug, packageCount }) => packageCount > 0 && isAskable(slug, repositoryWords),
  );
  const shortest = filled.toSorted((a, b) => a.packageCount - b.packageCount);
  const ordered = [...filled.filter(({ packageCount }) => packageCount <= shortList), ...shortest];
  for (const { slug, ranking, record } of ordered) {
    const { uri, suite } = JSON.parse(record) as { uri: string; suite: string };
    const found = findPackage(database, slug);
    if (found !== undefined) return { ...found, slug, uri, suite, ranking };
  }
  return undefined;
};

const findPackage = (
  database: CatalogDatabase,
  slug: string,
): Pick<ExampleSubject, 'packageId' | 'name' | 'version' | 'architecture' | 'author'> | undefined => {
  const found = findRepository(database, slug);
  if (found === undefined) return undefined;
  const rows = database
    .prepare<[name: string | null, json: string]>(
      `SELECT name, json FROM record
       WHERE id >= ? AND id < ? AND latest = 1 AND length(name) BETWEEN 2 AND 100
         AND (SELECT count(*) FROM record AS other WHERE other.package = record.package) <= ${fewRecords}
       ORDER BY id LIMIT ${looked}`,
    )
    .all(...found.range);
  for (const [name, json] of rows) {
    const { package_id: packageId, version, architecture, author } = parseRecord(json);
    if (name !== null && /^[a-z0-9][a-z0-9.+-]+$/.test(packageId))
      return { packageId, name, version, architecture, author };
  }
  return undefined;
};

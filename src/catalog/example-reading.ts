import type { ExampleSubject } from '../contract/example-subject.ts';
import { isAskable, repositoryWords } from '../contract/public-addresses.ts';
import type { CatalogDatabase } from './database.ts';
import { readRepositoryRows } from './reading.ts';
import { parseRecord } from './record-list.ts';
import { findRepository } from './record-range.ts';

/** A list with more records than this is too long for an example. */
export const shortList = 20;
/** So is a package with more records than this. */
const fewRecords = 4;
/** How many packages are tried. One of so many always fits. */
const looked = 50;

/**
 * The subject of examples for this index: a package that has a name and an identifier that needs no encoding, from the
 * best ranked repository that has a short list and can be looked up by its slug. It stays the same while that
 * repository does. If no package has a name, as in a distribution, its identifier stands for it. Undefined if none has
 * such an identifier.
 */
export const chooseExample = (database: CatalogDatabase): ExampleSubject | undefined => {
  const filled = readRepositoryRows(database).filter(
    ({ slug, packageCount }) => packageCount > 0 && isAskable(slug, repositoryWords),
  );
  const shortest = filled.toSorted((a, b) => a.packageCount - b.packageCount);
  const ordered = [...filled.filter(({ packageCount }) => packageCount <= shortList), ...shortest];
  for (const name of [asName, 'name IS NULL']) {
    for (const { slug, ranking, record } of ordered) {
      const { uri, suite } = JSON.parse(record) as { uri: string; suite: string };
      const found = findPackage(database, slug, name);
      if (found !== undefined) return { ...found, slug, uri, suite, ranking };
    }
  }
  return undefined;
};

/** The condition for a name that can be searched for and shown. */
const asName = 'length(name) BETWEEN 2 AND 100';

const findPackage = (
  database: CatalogDatabase,
  slug: string,
  condition: string,
): Pick<ExampleSubject, 'packageId' | 'name' | 'version' | 'architecture' | 'author'> | undefined => {
  const found = findRepository(database, slug);
  if (found === undefined) return undefined;
  const rows = database
    .prepare<[name: string | null, json: string]>(
      `SELECT name, json FROM record
       WHERE id >= ? AND id < ? AND latest = 1 AND ${condition}
         AND (SELECT count(*) FROM record AS other WHERE other.package = record.package) <= ${fewRecords}
       ORDER BY id LIMIT ${looked}`,
    )
    .all(...found.range);
  for (const [name, json] of rows) {
    const { package_id: packageId, version, architecture, author } = parseRecord(json);
    if (/^[a-z0-9][a-z0-9.+-]{1,99}$/.test(packageId))
      return { packageId, name: name ?? packageId, version, architecture, author };
  }
  return undefined;
};

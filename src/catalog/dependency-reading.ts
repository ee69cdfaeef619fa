import type { CatalogDatabase, Statement } from './database.ts';
import { parseDetails, type RecordDetails } from './record-details.ts';
import { bySlugOrder, settleAliases } from './repository-slugs.ts';
import { endRecordId, firstRecordId } from './schema.ts';

/** The part of a repository that matters for installing from it. */
export interface DependencyRepository {
  readonly number: number;
  readonly slug: string;
  readonly ranking: number;
  readonly bootstrap: boolean;
  readonly uri: string;
  readonly suite: string;
  /** Former slugs by which it is still found; never the slug of another repository. */
  readonly aliases: readonly string[];
}

/** The newest version of a package for its architecture in one repository. */
export interface NewestRecord {
  readonly record: number;
  /** Number of its repository. */
  readonly repository: number;
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
}

/** The newest version of a package that provides a name besides its own. */
export interface ProvidingRecord extends NewestRecord {
  /** The version in which it provides the name; null if none is stated. */
  readonly provided: string | null;
  /** If several provide a name, the lowest preference is taken first. */
  readonly preference: number;
  /** Where the index of its repository first names it. Among equal preferences the last one is taken first. */
  readonly place: number;
}

/** The relations of a record to other packages, as written. */
export type RecordRelations = Pick<
  RecordDetails,
  'depends' | 'preDepends' | 'conflicts' | 'breaks' | 'provides' | 'anyArchitecture' | 'essential'
>;

/** How many records that provide a name are considered: those of the best ranked repositories. */
const mostProviding = 200;
/** How many architectures are named at most. */
const mostArchitectures = 10;

/** The architecture of packages that run on every architecture. */
export const everyArchitecture = 'all';

/**
 * What resolving dependencies reads from the catalog. Its statements are prepared once. The size of every result is
 * bounded by the number of repositories, whatever strangers wrote.
 */
export class DependencyReading {
  /** Ordered by ranking, then slug. */
  readonly repositories: readonly DependencyRepository[];
  readonly #newest: Statement<[record: number, repository: number, version: string, architecture: string]>;
  readonly #architectures: Statement<[architecture: string]>;
  readonly #providing: Statement<
    [
      record: number,
      repository: number,
      name: string,
      version: string,
      architecture: string,
      provided: string,
      preference: number,
      place: number,
    ]
  >;
  readonly #details: Statement<[details: string | null]>;

  constructor(database: CatalogDatabase) {
    const rows = database
      .prepare<[number, string, number, number, string, string, string]>(
        `SELECT id, slug, ranking, bootstrap, uri, suite, aliases FROM repository ${bySlugOrder}`,
      )
      .all();
    this.repositories = settleAliases(
      rows.map(([number, slug, ranking, bootstrap, uri, suite, aliases]) => ({
        number,
        slug,
        ranking,
        bootstrap: bootstrap === 1,
        uri,
        suite,
        aliases,
      })),
    );
    this.#newest = database.prepare(
      `SELECT id, repository, version, architecture FROM record INDEXED BY record_newest
       WHERE package = ? AND architecture IN (?, '${everyArchitecture}') AND latest = 1`,
    );
    this.#architectures = database.prepare(
      `SELECT DISTINCT architecture FROM record INDEXED BY record_newest
       WHERE package = ? AND latest = 1 ORDER BY architecture LIMIT ${mostArchitectures}`,
    );
    this.#providing = database.prepare(
      `SELECT provision.record, repository, package, record.version, record.architecture, provision.version, preference,
         place
       FROM json_each(?) AS range
       CROSS JOIN provision INDEXED BY provision_name
         ON provision.name = ? AND provision.architecture IN (?, '${everyArchitecture}')
         AND provision.record >= range.value ->> 0 AND provision.record < range.value ->> 1
       CROSS JOIN record ON record.id = provision.record
       LIMIT ${mostProviding}`,
    );
    this.#details = database.prepare('SELECT details FROM record WHERE id = ?');
  }

  /** The newest versions of a package in all repositories, for this architecture or for all. */
  newest(name: string, architecture: string): NewestRecord[] {
    return this.#newest
      .all(name, architecture)
      .map(([record, repository, version, of]) => ({ record, repository, name, version, architecture: of }));
  }

  /** The architectures for which there is any version of a package, at most ten. */
  architectures(name: string): string[] {
    return this.#architectures.all(name).flat();
  }

  /**
   * The newest versions that provide a name in these repositories. If there are many, those of the first repositories.
   */
  providing(name: string, architecture: string, repositories: readonly DependencyRepository[]): ProvidingRecord[] {
    const ranges = repositories.map(({ ranking, number }) => [
      firstRecordId(ranking, number),
      endRecordId(ranking, number),
    ]);
    return this.#providing
      .all(JSON.stringify(ranges), name, architecture)
      .map(([record, repository, provider, version, of, provided, preference, place]) => ({
        record,
        repository,
        name: provider,
        version,
        architecture: of,
        provided: provided === '' ? null : provided,
        preference,
        place,
      }));
  }

  /** The relations of a record to other packages. */
  relations(record: number): RecordRelations {
    const [details = null] = this.#details.get(record) ?? [];
    return parseDetails(details);
  }
}

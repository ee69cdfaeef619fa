import type { CatalogDatabase } from './database.ts';
import { type Divergences, readDivergences } from './divergence-reading.ts';
import { ListReading } from './list-reading.ts';
import {
  prepareLookup,
  type RepositoryRow,
  readPackageRecords,
  readRepositoryRecords,
  readRepositoryRows,
} from './reading.ts';
import { mapSlugs } from './repository-slugs.ts';

/** What a catalog records of a published document. */
export interface PublishedEntry {
  /** 16 bytes of SHA-256 over its content without its date. */
  readonly digest: Uint8Array;
  /** When that content was first published, ISO 8601. */
  readonly date: string;
  /** Of the file, in bytes. */
  readonly size: number;
  /** The whole file, if its content cannot be made from the rows of the catalog. */
  readonly text: string | null;
}

/** Records as JSON texts, and their number. */
export interface CountedRecords {
  readonly count: number;
  readonly records: Iterable<string>;
}

/**
 * What documents are made of, read from a catalog that does not change any more. What all documents need is read once.
 */
export class DocumentReading {
  readonly #database: CatalogDatabase;
  readonly #entry;
  readonly #larger;
  readonly #some;
  readonly #packageCount;
  /** The records of a package, in lookup order. */
  readonly packageRecords: (name: string) => string[];
  /** Every repository, by ranking and then slug. */
  readonly repositories: readonly RepositoryRow[];
  readonly #lists: ListReading;
  readonly #bySlug: ReadonlyMap<string, RepositoryRow>;

  /** Throws where the catalog cannot be read. */
  constructor(database: CatalogDatabase) {
    this.#database = database;
    this.#entry = database.prepare<[Uint8Array, string, number, string | null]>(
      'SELECT digest, date, size, text FROM document WHERE path = ?',
    );
    this.#larger = database.prepare<[string]>(
      'SELECT path FROM document WHERE size > ? AND text IS NULL ORDER BY path',
    );
    this.#some = database.prepare<[string]>(
      'SELECT path FROM (SELECT path, row_number() OVER (ORDER BY path) AS place FROM document) WHERE place % ? = 0',
    );
    this.#packageCount = database.prepare<[number]>('SELECT count(*) FROM record WHERE package = ?');
    this.packageRecords = prepareLookup(database);
    this.#lists = new ListReading(database);
    this.repositories = readRepositoryRows(database);
    this.#bySlug = mapSlugs(this.repositories);
  }

  /** What is recorded of the document at a path below the output folder; undefined if none is published there. */
  entry(path: string): PublishedEntry | undefined {
    const row = this.#entry.get(path);
    return row && { digest: row[0], date: row[1], size: row[2], text: row[3] };
  }

  /** The paths of the documents of more than that many bytes, except those that are kept as a whole. */
  largerThan(bytes: number): string[] {
    return this.#larger.all(bytes).flat();
  }

  /** How many documents there are. */
  get count(): number {
    return this.#database.prepare<[number]>('SELECT count(*) FROM document').get()?.[0] ?? 0;
  }

  /** The path of every `nth` document. */
  everyNth(nth: number): string[] {
    return this.#some.all(nth).flat();
  }

  /** The repository with this slug, or that had it formerly. */
  repository(slug: string): RepositoryRow | undefined {
    return this.#bySlug.get(slug);
  }

  /** The contradictions in the catalog. */
  divergences(): Divergences {
    return readDivergences(this.#database);
  }

  /** The records of a package, in lookup order, with only a few in memory at a time. */
  manyPackageRecords(name: string): CountedRecords {
    const [count = 0] = this.#packageCount.get(name) ?? [];
    return { count, records: readPackageRecords(this.#database, name) };
  }

  /** The records of a repository in the order of its list, with only a few in memory at a time. */
  repositoryRecords({ slug, packageCount }: RepositoryRow): CountedRecords {
    return { count: packageCount, records: readRepositoryRecords(this.#database, slug) };
  }

  /** `count` of these from `start` on, counted from 0, without reading those before. */
  somePackages({ slug }: RepositoryRow, start: number, count: number): CountedRecords {
    const { ids = [] } = this.#lists.locate(slug, start, count) ?? {};
    return { count: ids.length, records: this.#lists.texts(ids) };
  }
}

import type { OlderPackage, OlderRepository } from '../contract/older-addresses/records.ts';
import type { RepositoryRecord } from '../contract/records.ts';
import type { CatalogDatabase, Statement } from './database.ts';
import { ownerIn, readRepositoryRows } from './reading.ts';
import { parseDetails } from './record-details.ts';
import { parseRecord } from './record-list.ts';

/**
 * A stored record: its ready text, the size of that in bytes, the details that only the site shows, and the number of its
 * repository.
 */
type Columns = [json: string, size: number, details: string | null, repository: number];

/**
 * The component of a repository, taken from the path of its index: dists/<suite>/<component>/binary-<architecture>/
 * (wiki.debian.org, "DebianRepository/Format"). A flat repository has none.
 */
export const componentOf = ({
  suite,
  origin_packages_path: path,
}: Pick<RepositoryRecord, 'suite' | 'origin_packages_path'>): string | null => {
  const beginning = `/dists/${suite}/`;
  const end = path.lastIndexOf('/binary-');
  return path.startsWith(beginning) && end > beginning.length ? path.slice(beginning.length, end) : null;
};

const toRepository = (record: RepositoryRecord, aliases: readonly string[]): OlderRepository => ({
  slug: record.slug,
  aliases: [...aliases],
  uri: record.uri,
  version: record.version,
  suite: record.suite,
  component: componentOf(record),
  ranking: record.quality,
  name: record.name ?? record.origin_hostname,
});

const toPackage = (json: string, details: string | null, repository: OlderRepository): OlderPackage => {
  const record = parseRecord(json);
  const { depiction = null } = parseDetails(details);
  return {
    identifier: record.package_id,
    architecture: record.architecture,
    price: record.price,
    latestVersion: record.version,
    name: record.name,
    description: record.description,
    author: record.author,
    maintainer: record.maintainer,
    depiction,
    nativeDepiction: record.native_depiction,
    header: record.header_url,
    tintColor: null,
    packageIcon: record.icon_url,
    section: record.section,
    repository,
  };
};

/** A record in its older form, and the size in bytes of what was read for it. */
export interface ReadOlder {
  readonly record: OlderPackage;
  readonly size: number;
}

/** Records in the form of addresses from before /v2. Its statements are prepared once. */
export class OlderReading {
  /** By slug, ordered by ranking. */
  readonly repositories: ReadonlyMap<string, OlderRepository>;
  readonly #byNumber: ReadonlyMap<number, OlderRepository>;
  readonly #ofDocuments: Statement<Columns>;
  readonly #ofRecords: Statement<Columns>;
  readonly #best: Statement<[id: number]>;

  /** Throws where the catalog cannot be read. */
  constructor(database: CatalogDatabase) {
    const rows = readRepositoryRows(database);
    this.repositories = new Map(
      rows.map(({ slug, record, aliases }) => [slug, toRepository(JSON.parse(record) as RepositoryRecord, aliases)]),
    );
    const numbers = database.prepare<[number, string]>('SELECT id, slug FROM repository').all();
    this.#byNumber = new Map(
      numbers.flatMap(([number, slug]) => {
        const repository = this.repositories.get(slug);
        return repository === undefined ? [] : [[number, repository] as const];
      }),
    );
    // CROSS JOIN keeps the given order.
    const select = (join: string) =>
      `SELECT record.json, octet_length(record.json), record.details, record.repository
       FROM json_each(?) AS wanted ${join} ORDER BY wanted.key`;
    this.#ofDocuments = database.prepare(
      select(`CROSS JOIN search_document ON search_document.id = wanted.value
              CROSS JOIN record ON record.id = search_document.record`),
    );
    this.#ofRecords = database.prepare(select('CROSS JOIN record ON record.id = wanted.value'));
    this.#best = database.prepare('SELECT id FROM search_document ORDER BY id LIMIT ? OFFSET ?');
  }

  /** The records of these search documents, in the given order. */
  ofDocuments(ids: readonly number[]): ReadOlder[] {
    return this.#read(this.#ofDocuments, ids);
  }

  /** The records with these numbers, in the given order. */
  ofRecords(ids: readonly number[]): ReadOlder[] {
    return this.#read(this.#ofRecords, ids);
  }

  /** The numbers of the search documents of the best rankings: a number is a rank (see searchTables). */
  bestDocuments(limit: number, offset: number): number[] {
    return this.#best.all(limit, offset).flat();
  }

  #read(statement: Statement<Columns>, ids: readonly number[]): ReadOlder[] {
    return statement.all(JSON.stringify(ids)).map(([json, size, details, number]) => {
      const repository = ownerIn(this.#byNumber, number);
      return { record: toPackage(json, details, repository), size };
    });
  }
}

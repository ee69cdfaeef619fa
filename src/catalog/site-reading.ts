import type { Finding } from '../contract/findings.ts';
import type { RepositoryRecord } from '../contract/records.ts';
import type { SigningState } from '../contract/signing-states.ts';
import type { CatalogDatabase } from './database.ts';
import { readRepositoryFindings, readRepositoryRows } from './reading.ts';

// What the pages read from the catalog besides the public documents.

/** A repository as stored in the catalog. */
export interface CatalogRepository {
  readonly number: number;
  readonly slug: string;
  readonly record: RepositoryRecord;
  /** Former slugs by which it is still found; never the slug of another repository. */
  readonly aliases: readonly string[];
  /** When it first entered the catalog, ISO 8601. */
  readonly addedAt: string;
  /** When its origin was last seen to change, ISO 8601. */
  readonly changedAt: string;
  readonly findings: readonly Finding[];
  readonly signing: SigningState;
  /** Fingerprints of the keys that signed its Release. */
  readonly signers: readonly string[];
}

/** Every repository, by ranking and then slug. */
export const readCatalogRepositories = (database: CatalogDatabase): CatalogRepository[] => {
  const found = new Map(readRepositoryFindings(database).map((one) => [one.slug, one]));
  const times = new Map(
    database
      .prepare<[slug: string, number: number, addedAt: string, changedAt: string]>(
        'SELECT slug, id, added_at, changed_at FROM repository',
      )
      .all()
      .map(([slug, ...columns]) => [slug, columns] as const),
  );
  return readRepositoryRows(database).map(({ slug, aliases, record }) => {
    const [number = 0, addedAt = '', changedAt = ''] = times.get(slug) ?? [];
    const { findings = [], signing } = found.get(slug) ?? {};
    return {
      number,
      slug,
      record: JSON.parse(record) as RepositoryRecord,
      aliases,
      addedAt,
      changedAt,
      findings,
      signing: signing?.state ?? 'unsigned',
      signers: signing?.signers ?? [],
    };
  });
};

/** A stored record. `json` and `details` are JSON texts; see the table `record`. */
export type RecordColumns = [
  repository: number,
  name: string,
  version: string,
  architecture: string,
  latest: number,
  firstSeen: string,
  news: number,
  json: string,
  details: string | null,
  changedAt: string | null,
];

const columns = 'repository, package, version, architecture, latest, first_seen, news, json, details, changed_at';

/** Returns a function that reads all records of one package, in no particular order. */
export const prepareRecords = (database: CatalogDatabase): ((name: string) => RecordColumns[]) => {
  const select = database.prepare<RecordColumns>(`SELECT ${columns} FROM record WHERE package = ?`);
  return (name) => select.all(name);
};

/** The records of every package, package by package in the order of identifiers. */
export function* readRecordGroups(database: CatalogDatabase): Generator<RecordColumns[]> {
  let group: RecordColumns[] = [];
  for (const row of database.prepare<RecordColumns>(`SELECT ${columns} FROM record ORDER BY package`).iterate()) {
    if (group[0] !== undefined && group[0][1] !== row[1]) {
      yield group;
      group = [];
    }
    group.push(row);
  }
  if (group.length > 0) yield group;
}

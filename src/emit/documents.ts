import type { DatabaseSync } from 'node:sqlite';
import { readPackages, readRepositoryRows } from '../catalog/reading.ts';
import { ranks } from '../contract/parameters.ts';
import { documentPath } from '../contract/paths.ts';
import type { LandingRecord } from '../contract/records.ts';
import { type Document, listDocument, objectDocument, statusHead } from './document.ts';

/** The lookup document of each of these packages that the catalog holds. */
export function* packageDocuments(database: DatabaseSync, packages: ReadonlySet<string>): Generator<Document> {
  for (const [name, records] of readPackages(database, packages)) {
    yield listDocument(documentPath.package(name), records);
  }
}

/** The lookup document of every repository, under its slug and its former ones; then the ranking documents, in the order of decisions, section 4. */
export function* repositoryDocuments(database: DatabaseSync): Generator<Document> {
  const rows = readRepositoryRows(database);
  for (const { slug, aliases, record } of rows) {
    for (const name of [slug, ...aliases]) yield objectDocument(documentPath.repository(name), record);
  }
  for (const rank of ranks) {
    const ranked = rows.filter(({ ranking }) => rank === '*' || ranking === Number(rank));
    yield listDocument(
      documentPath.ranking(rank),
      ranked.map(({ record }) => record),
    );
  }
}

/** The landing document. */
export const landingDocument = (landing: LandingRecord): Document =>
  objectDocument(documentPath.landing, JSON.stringify(landing), statusHead);

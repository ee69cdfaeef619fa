import type { CatalogDatabase } from '../catalog/database.ts';
import {
  type RepositoryFindings,
  type RepositoryRow,
  readPackages,
  readRepositoryFindings,
} from '../catalog/reading.ts';
import { type FindingText, fillSentence, findingText, findingTexts } from '../contract/finding-texts.ts';
import type { Finding } from '../contract/findings.ts';
import { ranks } from '../contract/parameters.ts';
import { documentPath } from '../contract/paths.ts';
import type { FindingRecord, FindingsRecord, LandingRecord } from '../contract/records.ts';
import { signingTexts } from '../contract/signing-states.ts';
import { type Document, listDocument, objectDocument, statusHead } from './document.ts';

/** The lookup document of each of these packages that the catalog holds. */
export function* packageDocuments(database: CatalogDatabase, packages: ReadonlySet<string>): Generator<Document> {
  for (const [name, records] of readPackages(database, packages)) {
    yield listDocument(documentPath.package(name), records);
  }
}

/** The lookup document of every repository, under its slug and its former ones. */
export function* repositoryDocuments(rows: readonly RepositoryRow[]): Generator<Document> {
  for (const { slug, aliases, record } of rows) {
    for (const name of [slug, ...aliases]) yield objectDocument(documentPath.repository(name), record);
  }
}

/** The ranking documents, in the order of decisions, section 4. */
export function* rankingDocuments(rows: readonly RepositoryRow[]): Generator<Document> {
  for (const rank of ranks) {
    const ranked = rows.filter(({ ranking }) => rank === '*' || ranking === Number(rank));
    yield listDocument(
      documentPath.ranking(rank),
      ranked.map(({ record }) => record),
    );
  }
}

/** A list of packages that names none, to stand until the real one can. */
export const emptyPackagesDocument = (slug: string): Document =>
  listDocument(documentPath.repositoryPackages(slug), []);

const computeFinding = ({ code, count, example }: Finding, text: FindingText): FindingRecord => {
  const { weight, title, owner } = text;
  return { code, weight, count, title, for_operator: fillSentence(text, example), for_owner: owner };
};

/** What is wrong with a repository, in words; `failure` is why its last crawl took nothing. */
export const composeFindings = (
  slug: string,
  found: Omit<RepositoryFindings, 'slug'> | undefined,
  failure: Finding | undefined,
): FindingsRecord => ({
  repository_id: slug,
  failure: failure ? computeFinding(failure, findingTexts[failure.code]) : null,
  signature: found
    ? { state: found.signing.state, text: signingTexts[found.signing.state], signers: [...found.signing.signers] }
    : null,
  findings: (found?.findings ?? []).map((finding) => computeFinding(finding, findingText(finding.code))),
});

/**
 * The findings document of every repository of the catalog, under its slug and its former ones, and of those of
 * `failures` (why the last crawl of a repository took nothing, by slug) that never got there.
 */
export function* findingsDocuments(
  database: CatalogDatabase,
  rows: readonly RepositoryRow[],
  failures: ReadonlyMap<string, Finding>,
): Generator<Document> {
  const found = new Map(readRepositoryFindings(database).map((one) => [one.slug, one]));
  const former = new Map(rows.map(({ slug, aliases }) => [slug, aliases]));
  for (const slug of new Set([...found.keys(), ...failures.keys()])) {
    const record = JSON.stringify(composeFindings(slug, found.get(slug), failures.get(slug)));
    for (const name of [slug, ...(former.get(slug) ?? [])]) {
      yield objectDocument(documentPath.repositoryFindings(name), record);
    }
  }
}

/** The landing document. */
export const landingDocument = (landing: LandingRecord): Document =>
  objectDocument(documentPath.landing, JSON.stringify(landing), statusHead);

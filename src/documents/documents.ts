import type { Divergences } from '../catalog/divergence-reading.ts';
import type { RepositoryFindings, RepositoryRow } from '../catalog/reading.ts';
import type { Failure, Finding } from '../contract/findings.ts';
import { type Rank, ranks } from '../contract/parameters.ts';
import { documentPath, type OperationName, type operations } from '../contract/paths.ts';
import type { DownloadTotal, FindingsRecord, LandingRecord } from '../contract/records.ts';
import { composeYaml } from '../contract/yaml.ts';
import { composeDivergences } from './divergences-record.ts';
import { type Document, listDocument, objectDocument, type PageLinks, statusHead, textDocument } from './document.ts';
import { composeFindings } from './findings-record.ts';

/** The operations that a prebuilt document answers which is made of the catalog. */
type Answered = {
  [Name in OperationName]: (typeof operations)[Name] extends { readonly ofBuilds: true }
    ? never
    : (typeof operations)[Name] extends { readonly file: string }
      ? Name
      : never;
}[OperationName];

/**
 * A builder for each row of the table of paths that has a file: it makes the document from records, most of which are
 * ready JSON texts. A row without a builder does not compile.
 */
export const documents = {
  landing: (landing: LandingRecord): Document => ({
    ...objectDocument(documentPath.landing, JSON.stringify(landing), statusHead),
    isKept: true,
  }),
  openapiJson: (description: object) => textDocument(documentPath.openapiJson, JSON.stringify(description)),
  openapiYaml: (description: object) => textDocument(documentPath.openapiYaml, composeYaml(description)),
  package: (id: string, records: readonly string[]) => listDocument(documentPath.package(id), records),
  repository: (slug: string, record: string) => objectDocument(documentPath.repository(slug), record),
  repositoryRanking: (rank: Rank, records: readonly string[]) => listDocument(documentPath.ranking(rank), records),
  repositoryPackages: (slug: string, records: readonly string[]) =>
    listDocument(documentPath.repositoryPackages(slug), records),
  repositoryPackagesPage: (slug: string, page: number, records: readonly string[], links: PageLinks) =>
    listDocument(documentPath.repositoryPackagesPage(slug, page), records, links),
  downloads: (totals: readonly DownloadTotal[]): Document => ({
    ...listDocument(
      documentPath.downloads,
      totals.map((total) => JSON.stringify(total)),
    ),
    // The rest of the catalog does not contain this.
    isKept: true,
  }),
  divergences: (found: Divergences) =>
    objectDocument(documentPath.divergences, JSON.stringify(composeDivergences(found))),
  repositoryFindings: (slug: string, record: FindingsRecord): Document => ({
    ...objectDocument(documentPath.repositoryFindings(slug), JSON.stringify(record)),
    // The catalog knows nothing of visits that took nothing. Also, the sentences are those of the version that built
    // it, which a replica may not have.
    isKept: true,
  }),
} satisfies Record<Answered, (...parts: never[]) => Document>;

/** The lookup document of every repository, under its slug and its former ones. */
export function* repositoryDocuments(rows: readonly RepositoryRow[]): Generator<Document> {
  for (const { slug, aliases, record } of rows) {
    for (const name of [slug, ...aliases]) yield documents.repository(name, record);
  }
}

/** The ranking documents, in the order of decisions, section 4. */
export function* rankingDocuments(rows: readonly RepositoryRow[]): Generator<Document> {
  for (const rank of ranks) {
    const ranked = rows.filter(({ ranking }) => rank === '*' || ranking === Number(rank));
    yield documents.repositoryRanking(
      rank,
      ranked.map(({ record }) => record),
    );
  }
}

/** Since when every build has found this of a repository, ISO 8601; undefined if that is not known. */
export type SeenSince = (slug: string, code: Finding['code']) => string | undefined;

/**
 * The findings document of every repository in `found`, under its slug and its former ones (which `rows` contain), and
 * of those in `failures` (why the last crawl took nothing, by slug) that are not in the catalog.
 *
 * @param seenSince since when every build has found this of a repository, if that is known
 */
export function* findingsDocuments(
  found: readonly RepositoryFindings[],
  rows: readonly RepositoryRow[],
  failures: ReadonlyMap<string, Failure>,
  seenSince: SeenSince = () => undefined,
): Generator<Document> {
  const bySlug = new Map(found.map((one) => [one.slug, one]));
  const former = new Map(rows.map(({ slug, aliases }) => [slug, aliases]));
  for (const slug of new Set([...bySlug.keys(), ...failures.keys()])) {
    const of = bySlug.get(slug);
    const findings = of?.findings.map((one) => ({ ...one, since: seenSince(slug, one.code) }));
    const record = composeFindings(slug, of && { ...of, findings: findings ?? [] }, failures.get(slug));
    for (const name of [slug, ...(former.get(slug) ?? [])]) yield documents.repositoryFindings(name, record);
  }
}

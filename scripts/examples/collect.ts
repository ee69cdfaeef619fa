import { createApp } from '../../functions/app.ts';
import type { Dependencies } from '../../functions/dependencies.ts';
import { smallestRepositories } from '../../functions/health/probe-sample.ts';
import { readSafetyList, safetyFile } from '../../functions/node/safety-file.ts';
import { chooseExample, shortList } from '../../src/catalog/example-reading.ts';
import { ListReading } from '../../src/catalog/list-reading.ts';
import { readPackages, readRepositoryFindings, readRepositoryRows } from '../../src/catalog/reading.ts';
import { exampleAddress, exampleDownloads, hasExample } from '../../src/contract/examples.ts';
import type { Examples } from '../../src/contract/openapi.ts';
import { apiRoot, type Operation, type OperationName, operations } from '../../src/contract/paths.ts';
import type { PackageRecord } from '../../src/contract/records.ts';
import { type Document, documentText } from '../../src/documents/document.ts';
import {
  documents as builders,
  findingsDocuments,
  rankingDocuments,
  repositoryDocuments,
} from '../../src/documents/documents.ts';
import type { ExampleSource } from '../../src/pipeline/build-input.ts';
import { CatalogSearch } from '../../src/search/catalog-search.ts';

const documentsOf = (
  { database, landing, failures, seenSince }: ExampleSource,
  packageId: string,
  slug: string,
): Document[] => {
  const rows = readRepositoryRows(database);
  const lists = new ListReading(database);
  // A short list is shown whole, and of a long one the health check reads only the beginning: all of a distribution
  // would take gigabytes and seconds.
  const recordsOf = (repository: string): string[] => {
    const { ids = [] } = lists.locate(repository, 0, shortList) ?? {};
    return [...lists.texts(ids)];
  };
  // The health check chooses its own package.
  const [sampled = slug] = smallestRepositories(rows.map((row) => ({ slug: row.slug, size: row.packageCount })));
  const [first] = recordsOf(sampled);
  const sampledId = first === undefined ? packageId : (JSON.parse(first) as PackageRecord).package_id;
  const packages = [...readPackages(database, new Set([packageId, sampledId]))];
  const repository = rows.filter((row) => row.slug === slug || row.slug === sampled);
  return [
    ...packages.map(([id, records]) => builders.package(id, records)),
    builders.repositoryPackages(sampled, recordsOf(sampled)),
    ...repositoryDocuments(repository),
    ...findingsDocuments(readRepositoryFindings(database), repository, failures, seenSince),
    ...rankingDocuments(rows),
    builders.repositoryPackages(slug, recordsOf(slug)),
    builders.landing(landing),
  ];
};

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** The app over a catalog that is not in force yet, and over only the documents that the examples request. */
const createExampleApp = (source: ExampleSource, documents: readonly Document[], date: string, safety: URL) => {
  const { database, base } = source;
  const texts = new Map(documents.map((document) => [document.path, bytesOf(documentText(document, date))]));
  const dependencies: Dependencies = {
    documents: {
      read: async (path) => {
        const body = texts.get(path);
        const stored = { etag: '"example"', encoding: 'identity', open: async () => undefined } as const;
        return body && { ...stored, size: body.length, body };
      },
    },
    search: new CatalogSearch(database),
    safety: readSafetyList(safety),
    // As if the example of a report had been the first report.
    downloads: {
      add: async (downloads) => downloads.length,
      read: async (id) => ({
        package_id: id,
        total: 1,
        last_30_days: 1,
        daily: [{ day: date.slice(0, 10), count: 1 }],
      }),
      probe: async () => true,
    },
    limiter: { take: () => 0 },
    probeCredentials: async () => true,
    // The time of the index, so that the same index gives the same description.
    now: () => new Date(date),
    publicAddress: () => base,
    report: () => {},
  };
  return createApp(dependencies);
};

/**
 * The examples of the description: what the service will answer about a package of this index. Undefined if the index
 * has no package to ask about. An operation without a result to show is left out.
 */
export const collectExamples = async (source: ExampleSource, safety = safetyFile): Promise<Examples | undefined> => {
  const subject = chooseExample(source.database);
  if (subject === undefined) return undefined;
  const rows = readRepositoryRows(source.database);
  const isShort = rows.some(({ slug, packageCount }) => slug === subject.slug && packageCount <= shortList);
  const documents = documentsOf(source, subject.packageId, subject.slug);
  const app = createExampleApp(source, documents, source.landing.statistics.updated, safety);
  const ask = async (operation: Operation): Promise<unknown> => {
    if (operation.schema === undefined || !hasExample(operation)) return undefined;
    // If every list is long, none is shown, because the description would become as long.
    if (operation === operations.repositoryPackages && !isShort) return undefined;
    const body = operation.body && JSON.stringify(exampleDownloads(subject));
    const address = `${source.base}/${apiRoot}${exampleAddress(operation, subject)}`;
    const headers = { 'Content-Type': 'application/json' };
    const request = new Request(address, {
      method: operation.method,
      ...(body === undefined ? {} : { body, headers }),
    });
    const answer = await app.request(request);
    return answer.status === 200 ? answer.json() : undefined;
  };
  const answers: Partial<Record<OperationName, unknown>> = {};
  for (const [name, operation] of Object.entries(operations) as [OperationName, Operation][]) {
    const answer = await ask(operation);
    if (answer !== undefined) answers[name] = answer;
  }
  return { subject, answers };
};

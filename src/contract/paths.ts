import type { z } from 'zod';
import * as envelope from './envelope.ts';
import { encodeFileName, encodeFolderName } from './filenames.ts';
import {
  fillPlaceholders,
  listPageMaximum,
  packageFilters,
  parameterOf,
  type QueryName,
  type Rank,
} from './parameters.ts';
import { downloadsSchema, listedDownloads } from './records.ts';

/** The folder of the API in the output, and the first segment of its addresses. */
export const apiRoot = 'v2';

/**
 * One operation of the read API. Files, routes, links, the OpenAPI description and rewrite rules all derive from this
 * single table. Addresses are relative to the API's base. `file` is the prebuilt document with the answer, relative to
 * the same base; without it the answer is computed on request.
 */
export interface Operation {
  readonly method: 'GET' | 'POST';
  readonly address: string;
  readonly tag: 'package' | 'repository' | 'download' | 'service' | 'publication' | 'gateway' | 'feed' | 'badge';
  readonly summary: string;
  /** More than the summary says, in CommonMark. */
  readonly description?: string;
  /** The parameters of its query, in the order in which they are checked. */
  readonly query?: readonly QueryName[];
  /** If the answer is also available in pages: any of these parameters requests one, which is computed. */
  readonly paged?: { readonly query: readonly QueryName[]; readonly schema: z.ZodType };
  readonly schema?: z.ZodType;
  /** The body of the request, if it has one. */
  readonly body?: z.ZodType;
  readonly file?: string;
  /** Whether the document describes builds rather than the catalog, so that every build may change it. */
  readonly ofBuilds?: true;
  /** Whether the document may change every day, so that the description of the index does not show it. */
  readonly daily?: true;
  /** Whether the document covers the whole index, and may be long. */
  readonly ofAll?: true;
  /** Its error statuses besides those of every operation (openapi-operation.ts). */
  readonly errors?: readonly number[];
  /** What is sent as `Authorization: Bearer`, if anything. */
  readonly bearer?: 'authToken' | 'introspectionSecret';
}

const searchQuery = ['q', 'limit', 'page'] as const;

export const operations = {
  landing: {
    method: 'GET',
    address: '/',
    tag: 'service',
    summary: 'What this service is and how much it holds',
    schema: envelope.landingSchema,
    file: 'index.json',
  },
  health: {
    method: 'GET',
    address: '/healthz',
    tag: 'service',
    summary: 'Health of the service and of its route groups',
    schema: envelope.healthSchema,
  },
  liveness: {
    method: 'GET',
    address: '/livez',
    tag: 'service',
    summary: 'Whether the process runs',
    schema: envelope.livenessSchema,
  },
  readiness: {
    method: 'GET',
    address: '/readyz',
    tag: 'service',
    summary: 'Whether every read operation works, whatever the credential store does',
    schema: envelope.readinessSchema,
  },
  status: {
    method: 'GET',
    address: '/status.json',
    tag: 'service',
    summary: 'What the last builds did, and the state of each repository',
    schema: envelope.statusSchema,
    file: 'status.json',
    ofBuilds: true,
  },
  openapiJson: {
    method: 'GET',
    address: '/openapi.json',
    tag: 'service',
    summary: 'This description as JSON',
    file: 'openapi.json',
  },
  openapiYaml: {
    method: 'GET',
    address: '/openapi.yaml',
    tag: 'service',
    summary: 'This description as YAML',
    file: 'openapi.yaml',
  },
  packageSearch: {
    method: 'GET',
    address: '/jailbreak/package/search',
    tag: 'package',
    summary: 'Search packages by text',
    description:
      'Every word must match the beginning of a word in the name, the identifier, the author (or the maintainer, if there is none) or the description, in any order and letter case. Matches in names come first. A name or an identifier may also be written together or apart, or with one typing mistake in a word of five letters or more.\n\nIf several words match fewer than four records, and none has them as its name, names follow that are one mistake apart from all words together, unless there are more than four. If fewer than `limit` records match all words, two more groups follow: for a single word of four letters or more, records with it inside a word of their name or identifier; then records that match all words but one, if what is left is more than a letter or digit. There `1.2.3`, `iOS 14` and `tweak for` count as one word, if what is left is a name or an identifier.',
    query: [...searchQuery, ...packageFilters, 'sort'],
    schema: envelope.packagePageSchema,
  },
  packageMulti: {
    method: 'GET',
    address: '/jailbreak/package/multi',
    tag: 'package',
    summary: 'Latest record of each of several packages',
    query: ['ids', 'priority'],
    schema: envelope.packageListSchema,
  },
  package: {
    method: 'GET',
    address: '/jailbreak/package/{packageId}',
    tag: 'package',
    summary: 'All versions of a package',
    schema: envelope.packageListSchema,
    file: 'jailbreak/package/{packageId}.json',
    errors: [404],
  },
  packageDependencies: {
    method: 'GET',
    address: '/jailbreak/package/{packageId}/dependencies',
    tag: 'package',
    summary: 'What installing a package brings: other packages, repositories to add, and what cannot be met',
    query: ['deviceArchitecture', 'repositories', 'deviceFirmware'],
    schema: envelope.dependenciesSchema,
    errors: [404],
  },
  repositoryRanking: {
    method: 'GET',
    address: '/jailbreak/repository/ranking',
    tag: 'repository',
    summary: 'Repositories of one ranking, or of all',
    query: ['rank'],
    schema: envelope.repositoryListSchema,
    file: 'jailbreak/repository/ranking/{rank}.json',
  },
  repositorySearch: {
    method: 'GET',
    address: '/jailbreak/repository/search',
    tag: 'repository',
    summary: 'Search repositories by text',
    query: searchQuery,
    schema: envelope.repositoryPageSchema,
  },
  repositorySafety: {
    method: 'GET',
    address: '/jailbreak/repository/safety',
    tag: 'repository',
    summary: 'Whether repository addresses are safe',
    query: ['uris'],
    schema: envelope.safetyListSchema,
  },
  repository: {
    method: 'GET',
    address: '/jailbreak/repository/{repositorySlug}',
    tag: 'repository',
    summary: 'One repository',
    schema: envelope.repositorySchema,
    file: 'jailbreak/repository/{repositorySlug}.json',
    errors: [404],
  },
  repositoryPackages: {
    method: 'GET',
    address: '/jailbreak/repository/{repositorySlug}/packages',
    tag: 'repository',
    summary: 'Every package record of a repository',
    paged: { query: ['listLimit', 'page'], schema: envelope.packagePageSchema },
    schema: envelope.packageListSchema,
    file: 'jailbreak/repository/{repositorySlug}/packages.json',
    errors: [404],
  },
  repositoryPackagesPage: {
    method: 'GET',
    address: '/jailbreak/repository/{repositorySlug}/packages/{pageNumber}',
    tag: 'repository',
    summary: `Package records of a repository with more than ${listPageMaximum}, in pages of that many`,
    schema: envelope.packagePageSchema,
    file: 'jailbreak/repository/{repositorySlug}/packages/{pageNumber}.json',
    errors: [404],
  },
  repositoryFindings: {
    method: 'GET',
    address: '/jailbreak/repository/{repositorySlug}/findings',
    tag: 'repository',
    summary: 'What is wrong with a repository, and how its owner can fix it',
    schema: envelope.repositoryFindingsSchema,
    file: 'jailbreak/repository/{repositorySlug}/findings.json',
    errors: [400, 404],
  },
  divergences: {
    method: 'GET',
    address: '/divergences.json',
    tag: 'repository',
    summary: 'Versions whose bytes differ from those in another repository, or from before',
    schema: envelope.divergencesSchema,
    file: 'divergences.json',
    ofAll: true,
  },
  downloads: {
    method: 'GET',
    address: '/downloads.json',
    tag: 'download',
    summary: 'Downloads of packages by the end of the last day, the most downloaded first',
    description: `At most the ${listedDownloads / 1000} thousand most downloaded packages. A build writes the list, so the last day is the one before that build.`,
    schema: envelope.downloadListSchema,
    file: 'downloads.json',
    daily: true,
  },
  downloadIngest: {
    method: 'POST',
    address: '/jailbreak/download/ingest',
    tag: 'download',
    summary: 'Report downloads',
    body: downloadsSchema,
    schema: envelope.ingestSchema,
    errors: [413, 415],
  },
  downloadCount: {
    method: 'GET',
    address: '/jailbreak/download/{packageId}',
    tag: 'download',
    summary: 'How often a package was downloaded',
    schema: envelope.downloadCountAnswerSchema,
    errors: [404],
  },
} as const satisfies Record<string, Operation>;

/** First segments of addresses that belong to the API even without its root (decisions, section 1). */
export const rootlessWords: readonly string[] = [
  ...new Set(Object.values(operations).flatMap(({ address }) => address.split('/').slice(1, 2).filter(Boolean))),
];
export type OperationName = keyof typeof operations;

const probes: ReadonlySet<string> = new Set(
  [operations.health, operations.liveness, operations.readiness].map(({ address }) => address),
);

/**
 * Whether the rate of clients is limited: for computed answers, which cost something, except the probes, whose result
 * is kept.
 */
export const isLimited = ({ file, address }: Operation): boolean => file === undefined && !probes.has(address);

/** The operations whose answers are prebuilt documents. */
export type DocumentOperationName = {
  [Name in OperationName]: (typeof operations)[Name] extends { readonly file: string } ? Name : never;
}[OperationName];

/** Prepares `documentOf` for many documents, by searching for the placeholders once. */
const preparePath = ({ file }: { readonly file: string }): ((...names: readonly string[]) => string) => {
  const encoders: ((name: string) => string)[] = [];
  const mark = '\0';
  const [start = '', ...texts] = fillPlaceholders(file, (placeholder, isFolder) => {
    const { spell } = parameterOf(placeholder).inFile ?? {};
    encoders.push(isFolder ? encodeFolderName : (name) => encodeFileName(spell?.(name) ?? name));
    return mark;
  }).split(mark);
  return (...names) => {
    let path = `${apiRoot}/${start}`;
    for (const [index, encode] of encoders.entries()) path += encode(names[index] ?? '') + (texts[index] ?? '');
    return path;
  };
};

/**
 * The path below the output folder of the document that answers an operation. `names` are the values of its file's
 * placeholders, in order.
 */
export const documentOf = (operation: { readonly file: string }, ...names: readonly string[]): string =>
  preparePath(operation)(...names);

// Needed once for each package of the index.
const packagePath: (id: string) => string = preparePath(operations.package);

/** Paths of the prebuilt documents below the output folder. */
export const documentPath = {
  landing: documentOf(operations.landing),
  status: documentOf(operations.status),
  divergences: documentOf(operations.divergences),
  downloads: documentOf(operations.downloads),
  openapiJson: documentOf(operations.openapiJson),
  openapiYaml: documentOf(operations.openapiYaml),
  package: packagePath,
  repository: (slug: string) => documentOf(operations.repository, slug),
  repositoryPackages: (slug: string) => documentOf(operations.repositoryPackages, slug),
  repositoryPackagesPage: (slug: string, page: number) =>
    documentOf(operations.repositoryPackagesPage, slug, String(page)),
  repositoryFindings: (slug: string) => documentOf(operations.repositoryFindings, slug),
  ranking: (rank: Rank) => documentOf(operations.repositoryRanking, rank),
} as const;

/** The folder of the documents of all packages, below the output folder. */
export const packagesFolder = packagePath('a').slice(0, packagePath('a').lastIndexOf('/'));

/** The public address if no published document names one: that of builds without --base-url. */
export const defaultAddress = 'http://localhost:8080';

/**
 * The public address in a published description of the API (the JSON of `openapi.json`), which is its server's address.
 * Undefined if it names none. Throws if the text is not JSON.
 */
export const describedAddress = (openapi: string): string | undefined => {
  const { servers } = JSON.parse(openapi) as { servers?: { url?: unknown }[] };
  const url = servers?.[0]?.url;
  return typeof url === 'string' && url.endsWith(`/${apiRoot}`) ? url.slice(0, -apiRoot.length - 1) : undefined;
};

/** The path of a public address, without trailing slash: empty if everything is at the root of its host. */
export const basePathOf = (base: string): string => new URL(base).pathname.replace(/\/+$/, '');

/** The address of a published file, by its path below the output folder. */
export const fileAddress = (base: string, path: string): string =>
  `${base}/${path.split('/').map(encodeURIComponent).join('/')}`;

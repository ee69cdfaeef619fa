import type { z } from 'zod';
import { inPartHeader } from './answer-headers.ts';
import { badgeSchema } from './badge.ts';
import { dependencyClosureSchema } from './dependency-records.ts';
import {
  dependenciesSchema,
  divergencesSchema,
  downloadCountAnswerSchema,
  downloadListSchema,
  healthSchema,
  ingestSchema,
  landingSchema,
  livenessSchema,
  packageListSchema,
  packagePageSchema,
  readinessSchema,
  repositoryFindingsSchema,
  repositoryListSchema,
  repositoryPageSchema,
  repositorySchema,
  safetyListSchema,
  statusSchema,
} from './envelope.ts';
import { type ErrorStatus, errorSchema, notFoundSchema } from './errors.ts';
import type { ExampleSubject } from './example-subject.ts';
import { exampleDownloads } from './examples.ts';
import { gatewayAnswers, gatewayBodies, gatewayOperations } from './gateway-schemas.ts';
import {
  documentOperations,
  fileOperations,
  jsonFeedSchema,
  operationOfDocument,
  type SiteFile,
  siteOperations,
} from './openapi-documents.ts';
import {
  describedErrors,
  describeErrors,
  describeSchemas,
  type Json,
  responseName,
  schemaPrefix,
} from './openapi-parts.ts';
import { parameterOf, placeholdersOf, writtenName } from './parameters.ts';
import { apiRoot, isLimited, type Operation, type OperationName, operations } from './paths.ts';
import {
  divergencesRecordSchema,
  downloadCountSchema,
  downloadSchema,
  downloadsSchema,
  downloadTotalSchema,
  embeddedRepositorySchema,
  findingSchema,
  findingsRecordSchema,
  healthRecordSchema,
  landingRecordSchema,
  packageRecordSchema,
  repositoryRecordSchema,
  safetyRecordSchema,
} from './records.ts';
import { statusRecordSchema } from './status.ts';

// The machine-readable description (OpenAPI 3.1), made of the table of operations and the schemas: nothing about an
// answer is written here a second time.

/** The schemas that have a name in the description: what the service answers. */
const named = {
  PackageRecord: packageRecordSchema,
  EmbeddedRepository: embeddedRepositorySchema,
  RepositoryRecord: repositoryRecordSchema,
  Finding: findingSchema,
  FindingsRecord: findingsRecordSchema,
  SafetyRecord: safetyRecordSchema,
  HealthRecord: healthRecordSchema,
  LandingRecord: landingRecordSchema,
  DependencyClosure: dependencyClosureSchema,
  Dependencies: dependenciesSchema,
  PackageList: packageListSchema,
  PackagePage: packagePageSchema,
  Repository: repositorySchema,
  RepositoryList: repositoryListSchema,
  RepositoryPage: repositoryPageSchema,
  RepositoryFindings: repositoryFindingsSchema,
  SafetyList: safetyListSchema,
  DivergencesRecord: divergencesRecordSchema,
  Divergences: divergencesSchema,
  StatusRecord: statusRecordSchema,
  Status: statusSchema,
  Landing: landingSchema,
  Health: healthSchema,
  Liveness: livenessSchema,
  Readiness: readinessSchema,
  Ingest: ingestSchema,
  DownloadCount: downloadCountSchema,
  DownloadCountAnswer: downloadCountAnswerSchema,
  DownloadTotal: downloadTotalSchema,
  DownloadList: downloadListSchema,
  Error: errorSchema,
  NotFound: notFoundSchema,
  ...gatewayAnswers,
} as const satisfies Record<string, z.ZodType>;

/** What the site adds. */
const ofSite = { JsonFeed: jsonFeedSchema, Badge: badgeSchema } as const satisfies Record<string, z.ZodType>;

/** What a client sends. */
const sent = { Download: downloadSchema, Downloads: downloadsSchema, ...gatewayBodies } as const satisfies Record<
  string,
  z.ZodType
>;

const schemaOf = (schema: z.ZodType): Json => {
  const name = Object.entries({ ...named, ...sent, ...ofSite }).find(([, candidate]) => candidate === schema)?.[0];
  if (name === undefined) throw new TypeError('A schema of an operation has no name in the description');
  return { $ref: schemaPrefix + name };
};

/** Error statuses that every operation may answer. */
const commonErrors = [400, 405, 408, 414, 431, 500, 501, 503] as const satisfies readonly ErrorStatus[];

const cacheHeaders = {
  ETag: { description: 'Strong validator of the answer.', schema: { type: 'string' } },
  'Cache-Control': { description: 'How long the answer may be reused.', schema: { type: 'string' } },
};

// What is computed has no validator.
const pagedHeaders = {
  ...cacheHeaders,
  ETag: {
    description: 'Strong validator of the whole list; a page has none.',
    required: false,
    schema: { type: 'string' },
  },
};

const searchHeaders = {
  [inPartHeader]: {
    description:
      'How many records at the end of the page match all words but one. Without this header all records match all words.',
    required: false,
    schema: { type: 'integer', minimum: 1 },
  },
};

/** What an answer says of itself. */
const headersOf = (operation: Operation): Json => {
  if (operation === operations.packageSearch) return { headers: searchHeaders };
  if (operation.file === undefined) return {};
  return { headers: operation.paged === undefined ? cacheHeaders : pagedHeaders };
};

const typeOf = (file: string): string => (file.endsWith('.yaml') ? 'application/yaml' : 'application/json');

const successResponse = (operation: Operation, example: unknown): Json => {
  const type = 'type' in operation ? (operation as SiteFile).type : typeOf(operation.file ?? '');
  const { paged } = operation;
  const whole = operation.schema ? schemaOf(operation.schema) : { type: type.includes('xml') ? 'string' : 'object' };
  const schema = paged === undefined ? whole : { anyOf: [whole, schemaOf(paged.schema)] };
  return {
    description: operation.summary,
    ...headersOf(operation),
    content: { [type]: { schema, ...(example === undefined ? {} : { example }) } },
  };
};

const createResponses = (operation: Operation, example: unknown): Json => {
  const errors = new Set([
    ...operation.errors,
    ...(operation.tag !== 'gateway' && (isLimited(operation) || operation.paged !== undefined) ? [429] : []),
    ...commonErrors,
  ]);
  const responses: Json = { 200: successResponse(operation, example) };
  if (operation.file !== undefined) {
    responses[304] = { description: 'The client has this answer already.', headers: cacheHeaders };
  }
  for (const status of [...errors].sort((a, b) => a - b) as ErrorStatus[]) {
    responses[status] = { $ref: `#/components/responses/${responseName(status)}` };
  }
  // That the process runs is told by any answer.
  if (operation.schema === livenessSchema) delete responses[503];
  if (operation.schema === healthSchema || operation.schema === readinessSchema) {
    responses[503] = {
      ...successResponse(operation, undefined),
      description:
        operation.schema === healthSchema ? 'Something is unhealthy; the leaves say what.' : 'A read operation fails.',
    };
  }
  return responses;
};

const createParameters = (operation: Operation, subject: ExampleSubject | undefined): Json[] => {
  const { address, query = [], paged, tag } = operation;
  const places = [
    ...placeholdersOf(address).map((name) => ({ of: name, name, in: 'path', required: true })),
    ...[...query, ...(paged?.query ?? [])].map((name) => ({ of: name, name: writtenName(name), in: 'query' })),
  ];
  return places.map(({ of: parameter, ...place }) => {
    const { description, required, schema, example } = parameterOf(parameter);
    const text = subject && example?.(subject, tag);
    return {
      ...place,
      ...(required === undefined ? {} : { required }),
      description,
      schema,
      ...(text === undefined ? {} : { example: schema.type === 'integer' ? Number(text) : text }),
    };
  });
};

const createBody = (body: z.ZodType, subject: ExampleSubject | undefined): Json => {
  const example = subject && body === downloadsSchema ? { example: exampleDownloads(subject) } : {};
  return { required: true, content: { 'application/json': { schema: schemaOf(body), ...example } } };
};

interface Shown {
  /** The answer. */
  readonly example?: unknown;
  readonly subject?: ExampleSubject | undefined;
}

const createOperation = (name: string, operation: Operation, { example, subject }: Shown = {}): Json => {
  const parameters = createParameters(operation, subject);
  return {
    operationId: name,
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    ...(operation.bearer ? { security: [{ [operation.bearer]: [] }] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(operation.body ? { requestBody: createBody(operation.body, subject) } : {}),
    responses: createResponses(operation, example),
  };
};

/** What the examples ask about, and what the service answers to it, by operation. */
export interface Examples {
  readonly subject: ExampleSubject;
  readonly answers: Partial<Record<OperationName, unknown>>;
}

export interface OpenApiOptions {
  /** The public address of the service, without trailing slash and without `/v2`. */
  readonly publicAddress: string;
  /** The version of the service. */
  readonly version: string;
  /** Left out where there is nothing to ask about. */
  readonly examples?: Examples | undefined;
  /** Whether the site is published too, and its feeds and badges with it. */
  readonly site?: boolean;
  /** Whether to describe what any host answers alone: the files, each under its name. */
  readonly staticRefs?: boolean | undefined;
}

const describeAll = (described: Readonly<Record<string, Operation>>, common: Json = {}): [string, Json][] =>
  Object.entries(described).map(([name, operation]) => [
    operation.address,
    { ...common, [operation.method.toLowerCase()]: createOperation(name, operation) },
  ]);

const describeOperations = (examples: Examples | undefined): [string, Json][] =>
  (Object.entries(operations) as [OperationName, Operation][]).map(([name, operation]) => {
    const shown = examples && { example: examples.answers[name], subject: examples.subject };
    return [operation.address, { [operation.method.toLowerCase()]: createOperation(name, operation, shown) }];
  });

/** Documents under their names, and what has no other address: what answers where nothing but files is known. */
const describeFiles = (examples: Examples | undefined): [string, Json][] => {
  return Object.entries<Operation>({ ...documentOperations, ...fileOperations }).map(([name, operation]) => {
    const shown = examples && { example: examples.answers[operationOfDocument(name)], subject: examples.subject };
    return [operation.address, { get: createOperation(name, operation, shown) }];
  });
};

/** The OpenAPI 3.1 description of all that programs may ask this host for, to be written as JSON or YAML. */
export const createOpenApi = ({
  publicAddress,
  version,
  examples,
  site = true,
  staticRefs = false,
}: OpenApiOptions): Json => ({
  openapi: '3.1.0',
  info: {
    title: 'Package and repository index',
    version,
    summary: 'Packages of APT repositories: lookup, search, ranking and safety.',
    description: [
      'Every answer is JSON in UTF-8. HEAD answers as GET does, without the body. Scripts of any site may read everything (CORS).',
      'Prebuilt answers have an ETag: repeat requests with If-None-Match. Unknown query parameters are ignored.',
      staticRefs
        ? 'Every answer is a file. In its name, an identifier of lower-case letters, digits, ".", "+" and "-" appears unchanged; any other is encoded reversibly, and split into folders if it is long.'
        : 'A prebuilt answer is also a file with a name ending in ".json", which any static host can serve. In that name, an identifier of lower-case letters, digits, ".", "+" and "-" appears unchanged; any other is encoded reversibly, and split into folders if it is long.',
    ].join('\n\n'),
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: `${publicAddress}/${apiRoot}` }],
  security: [],
  tags: [
    { name: 'package', description: 'Packages: every version, the latest of several, and search.' },
    { name: 'repository', description: 'Repositories: one, its packages, search, ranking and safety.' },
    { name: 'service', description: 'The service itself.' },
    ...(staticRefs
      ? []
      : [
          { name: 'download', description: 'Counting of downloads.' },
          { name: 'gateway', description: 'Credentials of the payment gateway. Never store its answers.' },
        ]),
    ...(site
      ? [
          { name: 'feed', description: 'What is new, for feed readers.' },
          { name: 'badge', description: 'The state of a repository, for its README.' },
        ]
      : []),
  ],
  paths: Object.fromEntries([
    ...(staticRefs
      ? describeFiles(examples)
      : [...describeOperations(examples), ...describeAll(documentOperations), ...describeAll(gatewayOperations)]),
    ...(site ? describeAll(siteOperations, { servers: [{ url: publicAddress }] }) : []),
  ]),
  components: {
    schemas: {
      ...describeSchemas(named, 'output'),
      ...describeSchemas(sent, 'input'),
      ...(site ? describeSchemas(ofSite, 'output') : {}),
    },
    responses: describeErrors(describedErrors, (status, example) => ({
      schema: schemaOf(status === 404 ? notFoundSchema : errorSchema),
      example,
    })),
    securitySchemes: {
      authToken: { type: 'http', scheme: 'bearer', description: 'The auth token of a credential set.' },
      introspectionSecret: { type: 'http', scheme: 'bearer', description: 'A secret from the operator.' },
    },
  },
});

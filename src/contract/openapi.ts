import { z } from 'zod';
import {
  healthSchema,
  ingestSchema,
  landingSchema,
  packageListSchema,
  packagePageSchema,
  repositoryFindingsSchema,
  repositoryListSchema,
  repositoryPageSchema,
  repositorySchema,
  safetyListSchema,
} from './envelope.ts';
import { type ErrorStatus, errorSchema, notFoundSchema, phrases } from './errors.ts';
import { type ParameterName, parameterDescriptions } from './openapi-parameters.ts';
import { apiRoot, isLimited, type Operation, type OperationName, operations } from './paths.ts';
import {
  downloadSchema,
  downloadsSchema,
  embeddedRepositorySchema,
  findingSchema,
  findingsRecordSchema,
  healthRecordSchema,
  landingRecordSchema,
  packageRecordSchema,
  repositoryRecordSchema,
  safetyRecordSchema,
} from './records.ts';

// The machine-readable description (OpenAPI 3.1), made of the table of operations and the schemas: nothing about an
// answer is written here a second time.

type Json = Record<string, unknown>;

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
  PackageList: packageListSchema,
  PackagePage: packagePageSchema,
  Repository: repositorySchema,
  RepositoryList: repositoryListSchema,
  RepositoryPage: repositoryPageSchema,
  RepositoryFindings: repositoryFindingsSchema,
  SafetyList: safetyListSchema,
  Landing: landingSchema,
  Health: healthSchema,
  Ingest: ingestSchema,
  Error: errorSchema,
  NotFound: notFoundSchema,
} as const satisfies Record<string, z.ZodType>;

/** What a client sends. */
const sent = { Download: downloadSchema, Downloads: downloadsSchema } as const satisfies Record<string, z.ZodType>;

const schemaPrefix = '#/components/schemas/';

const describeSchemas = (schemas: Record<string, z.ZodType>, io: 'input' | 'output'): Json => {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const described = z.toJSONSchema(registry, {
    io,
    uri: (id) => schemaPrefix + id,
    override: ({ jsonSchema }) => {
      // The format says it already, and the bound is one of the implementation, not of the API.
      if (jsonSchema.format === 'date-time' || jsonSchema.format === 'date') delete jsonSchema.pattern;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return Object.fromEntries(
    Object.entries(described.schemas).map(([id, { $schema: _dialect, $id: _address, ...schema }]) => [id, schema]),
  );
};

const schemaOf = (schema: z.ZodType): Json => {
  const name = Object.entries({ ...named, ...sent }).find(([, candidate]) => candidate === schema)?.[0];
  if (name === undefined) throw new TypeError('A schema of an operation has no name in the description');
  return { $ref: schemaPrefix + name };
};

const errorDescriptions: Partial<Record<ErrorStatus, string>> = {
  400: 'A parameter is missing, repeated or out of bounds, the path cannot be decoded, the body is not valid, or the request is not valid HTTP.',
  404: 'Unknown package, repository or address.',
  405: 'The address does not answer this method.',
  408: 'The request took too long to arrive.',
  413: 'The body is too large.',
  414: 'The address is too long.',
  415: 'The body is of another content type.',
  429: 'Too many requests.',
  431: 'The headers are too large.',
  500: 'A fault of the service.',
  503: 'The service cannot answer at the moment.',
};

const retryAfter = {
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } },
};
const errorHeaders: Partial<Record<ErrorStatus, Json>> = {
  405: { Allow: { description: 'The methods it answers.', schema: { type: 'string' } } },
  429: retryAfter,
  503: retryAfter,
};

// A sentence that the status comes with; for 400 the most common one.
const errorSentences: Partial<Record<ErrorStatus, string>> = {
  400: "Missing query parameter: 'q'",
  405: 'This address answers GET, HEAD, OPTIONS',
  408: 'The request took too long to arrive',
  413: 'The body must be at most 262144 bytes',
  414: 'The address of the request is too long',
  415: 'The body must be JSON (application/json)',
  429: 'Too many requests: try again in 1 s',
  431: 'The headers of the request are too large',
  500: 'Something went wrong on our side',
  503: 'The service cannot answer this at the moment',
};
const exampleDate = '2026-05-01T12:00:00.000Z';

const responseName = (status: ErrorStatus): string => phrases[status].replaceAll(' ', '');

const createErrorResponses = (): Json =>
  Object.fromEntries(
    (Object.keys(errorDescriptions).map(Number) as ErrorStatus[]).map((status) => {
      const message = `${status} ${phrases[status]}`;
      const example =
        status === 404 ? { message, date: exampleDate } : { message, error: errorSentences[status], date: exampleDate };
      const headers = errorHeaders[status];
      return [
        responseName(status),
        {
          description: errorDescriptions[status],
          ...(headers ? { headers } : {}),
          content: { 'application/json': { schema: schemaOf(status === 404 ? notFoundSchema : errorSchema), example } },
        },
      ];
    }),
  );

/** Error statuses that every operation may answer. */
const commonErrors = [400, 405, 408, 414, 431, 500, 503] as const satisfies readonly ErrorStatus[];

const cacheHeaders = {
  ETag: { description: 'Strong validator of the answer.', schema: { type: 'string' } },
  'Cache-Control': { description: 'How long the answer may be reused.', schema: { type: 'string' } },
};

const successResponse = (operation: Operation, example: unknown): Json => {
  const schema = operation.schema ? schemaOf(operation.schema) : { type: 'object' };
  const type = operation.file?.endsWith('.yaml') ? 'application/yaml' : 'application/json';
  return {
    description: operation.summary,
    ...(operation.file === undefined ? {} : { headers: cacheHeaders }),
    content: { [type]: { schema, ...(example === undefined ? {} : { example }) } },
  };
};

const createResponses = (operation: Operation, example: unknown): Json => {
  const errors = new Set([...operation.errors, ...(isLimited(operation) ? [429] : []), ...commonErrors]);
  const responses: Json = { 200: successResponse(operation, example) };
  if (operation.file !== undefined) {
    responses[304] = { description: 'The client has the answer already.', headers: cacheHeaders };
  }
  for (const status of [...errors].sort((a, b) => a - b) as ErrorStatus[]) {
    responses[status] = { $ref: `#/components/responses/${responseName(status)}` };
  }
  if (operation.schema === healthSchema) {
    responses[503] = {
      ...successResponse(operation, undefined),
      description: 'Something is not well; the leaves say what.',
    };
  }
  return responses;
};

const createParameters = (operation: Operation): Json[] => {
  const inPath = [...operation.address.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
  }));
  const inQuery = Object.keys(operation.query?.shape ?? {}).map((name) => ({ name, in: 'query' }));
  return [...inPath, ...inQuery].map((place) => ({ ...place, ...parameterDescriptions[place.name as ParameterName] }));
};

/** What a package manager sends, to show as an example. */
export const downloadsExample: z.infer<typeof downloadsSchema> = [
  {
    package_id: 'org.example.lampyrid.nightlamp',
    package_version: '1.2.0',
    package_author: null,
    repository_uri: 'https://repository.example/',
    repository_suite: './',
  },
];

const createOperation = (name: OperationName, operation: Operation, example: unknown): Json => {
  const parameters = createParameters(operation);
  return {
    operationId: name,
    tags: [operation.tag],
    summary: operation.summary,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(operation.body
      ? {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: schemaOf(operation.body), example: downloadsExample } },
          },
        }
      : {}),
    responses: createResponses(operation, example),
  };
};

export interface OpenApiOptions {
  /** The public address of the service, without trailing slash and without `/v2`. */
  readonly publicAddress: string;
  /** The version of the service. */
  readonly version: string;
  /** Real answers, by operation, to show as examples. */
  readonly examples?: Partial<Record<OperationName, unknown>>;
}

/** The OpenAPI 3.1 description of the read API, as an object to be written as JSON or YAML. */
export const createOpenApi = ({ publicAddress, version, examples = {} }: OpenApiOptions): Json => ({
  openapi: '3.1.0',
  info: {
    title: 'Package and repository index',
    version,
    summary: 'What APT repositories hold: lookup, search, ranking and safety.',
    description: [
      'Every answer is JSON in UTF-8. HEAD answers as GET does, without the body. Scripts of any site may read all of it.',
      'Prebuilt answers carry an ETag; ask again with If-None-Match. Unknown query parameters are ignored.',
    ].join('\n\n'),
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: `${publicAddress}/${apiRoot}` }],
  security: [],
  tags: [
    { name: 'package', description: 'Packages: every version, the latest of several, and search.' },
    { name: 'repository', description: 'Repositories: one, its packages, search, ranking and safety.' },
    { name: 'download', description: 'Counting of downloads.' },
    { name: 'service', description: 'The service itself.' },
  ],
  paths: Object.fromEntries(
    (Object.entries(operations) as [OperationName, Operation][]).map(([name, operation]) => [
      operation.address,
      { [operation.method.toLowerCase()]: createOperation(name, operation, examples[name]) },
    ]),
  ),
  components: {
    schemas: { ...describeSchemas(named, 'output'), ...describeSchemas(sent, 'input') },
    responses: createErrorResponses(),
  },
});

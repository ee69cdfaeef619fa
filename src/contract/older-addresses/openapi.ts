import type { z } from 'zod';
import type { ErrorStatus } from '../errors.ts';
import {
  commonErrors,
  describeErrors,
  describeSchemas,
  type Json,
  responseName,
  schemaPrefix,
} from '../openapi-parts.ts';
import { apiRoot } from '../paths.ts';
import { laterRoot, type OlderOperation, olderRoot, olderTable } from './operations.ts';
import { olderQueryParameters } from './parameters.ts';
import * as records from './records.ts';

// The description of addresses from before /v2. It is separate from that of /v2, so that nobody who writes a program
// today uses them.

const named = {
  Package: records.olderPackageSchema,
  PackageFields: records.olderPackageFieldsSchema,
  Repository: records.olderRepositorySchema,
  Safety: records.olderSafetySchema,
  Notice: records.olderNoticeSchema,
  Landing: records.olderLandingSchema,
  PackageAnswer: records.olderPackageAnswerSchema,
  PackagesAnswer: records.olderPackagesAnswerSchema,
  LookupAnswer: records.olderLookupAnswerSchema,
  RepositoriesAnswer: records.olderRepositoriesAnswerSchema,
  SafetyAnswer: records.olderSafetyAnswerSchema,
  CheckAnswer: records.olderCheckAnswerSchema,
  IndexRepository: records.indexRepositorySchema,
  IndexRepositories: records.indexRepositoriesSchema,
  UnsafeHosts: records.unsafeHostsSchema,
  Error: records.olderErrorSchema,
} as const satisfies Record<string, z.ZodType>;

const reference = (schema: z.ZodType | undefined): Json => {
  const name = Object.entries(named).find(([, candidate]) => candidate === schema)?.[0];
  return name === undefined ? { type: 'object' } : { $ref: schemaPrefix + name };
};

const responsesOf = ({ summary, schema, file, redirects, errors = [] }: OlderOperation): Json => {
  const statuses = [...errors, ...(file === undefined ? [429] : []), ...commonErrors].toSorted((a, b) => a - b);
  const headers = { Location: { description: 'The address.', schema: { type: 'string', format: 'uri' } } };
  return {
    200: { description: summary, content: { 'application/json': { schema: reference(schema) } } },
    ...(redirects ? { 302: { description: 'A redirect to the requested address.', headers } } : {}),
    ...(file === undefined ? {} : { 304: { description: 'The client has the answer already.' } }),
    ...Object.fromEntries(
      statuses.map((status) => [status, { $ref: `#/components/responses/${responseName(status as ErrorStatus)}` }]),
    ),
  };
};

const parametersOf = ({ query = [] }: OlderOperation): Json[] =>
  query.map((name) => {
    const parameter = olderQueryParameters[name];
    const { description, schema } = parameter;
    return {
      name: 'written' in parameter ? parameter.written : name,
      in: 'query',
      ...('required' in parameter ? { required: true } : {}),
      description,
      schema,
    };
  });

/** A path in a description has no trailing slash. */
const described = ({ address }: OlderOperation): string => address.replace(/\/$/, '');

const describeOperation = (name: string, operation: OlderOperation): Json => {
  const parameters = parametersOf(operation);
  return {
    operationId: name,
    tags: ['older'],
    deprecated: true,
    summary: operation.summary,
    description: `Use \`/${apiRoot}${operation.instead}\` instead.`,
    ...(parameters.length > 0 ? { parameters } : {}),
    responses: responsesOf(operation),
  };
};

/** The OpenAPI 3.1 description of the addresses that came before /v2. */
export const createOlderOpenApi = ({ publicAddress, version }: { publicAddress: string; version: string }): Json => ({
  openapi: '3.1.0',
  info: {
    title: 'Older addresses of the package and repository index',
    version,
    summary: 'Addresses for programs that were written before the present API.',
    description: [
      `All of them are deprecated. New programs use /${apiRoot}, described at ${publicAddress}/${apiRoot}/openapi.json.`,
      `Addresses below /${laterRoot.join('/')}/jailbreak/ answer the same bytes as those below /${apiRoot}/jailbreak/.`,
      `/${olderRoot}/ answers as /${olderRoot} does. HEAD answers as GET does, without the body. Unknown parameters are ignored.`,
    ].join('\n\n'),
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: publicAddress }],
  security: [],
  tags: [{ name: 'older', description: 'Addresses from before the present API.' }],
  paths: Object.fromEntries(
    olderTable.map(([name, operation]) => [described(operation), { get: describeOperation(name, operation) }]),
  ),
  components: {
    schemas: describeSchemas(named, 'output'),
    responses: describeErrors([...commonErrors, 404, 429], () => ({ schema: reference(records.olderErrorSchema) })),
  },
});

import type { z } from 'zod';
import { inPartHeader } from './answer-headers.ts';
import { healthSchema, livenessSchema, readinessSchema } from './envelope.ts';
import type { ErrorStatus } from './errors.ts';
import type { ExampleSubject } from './example-subject.ts';
import { exampleDownloads } from './examples.ts';
import type { SiteFile } from './openapi-documents.ts';
import { commonErrors, type Json, responseName } from './openapi-parts.ts';
import { schemaOf } from './openapi-schemas.ts';
import { parameterOf, placeholdersOf, writtenName } from './parameters.ts';
import { isLimited, type Operation, operations } from './paths.ts';
import { downloadsSchema } from './records.ts';

const cacheHeaders = {
  ETag: {
    description: 'Validator of the answer; weak where a host compresses it on the way.',
    schema: { type: 'string' },
  },
  'Cache-Control': { description: 'How long the answer may be reused.', schema: { type: 'string' } },
};

// A computed answer has no validator.
const pagedHeaders = {
  ...cacheHeaders,
  ETag: {
    description: 'Validator of the whole list; a page has none. Weak where a host compresses it on the way.',
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

/** The headers of an answer. */
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
    ...(operation.errors ?? []),
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
  // Any answer at all shows that the process runs.
  if (operation.schema === livenessSchema) delete responses[503];
  if (operation.schema === healthSchema || operation.schema === readinessSchema) {
    responses[503] = {
      ...successResponse(operation, undefined),
      description:
        operation.schema === healthSchema
          ? 'Something is unhealthy; the leaves say what.'
          : 'A read operation fails, or the server is about to stop.',
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

/** An operation in the form of the description. */
export const createOperation = (name: string, operation: Operation, { example, subject }: Shown = {}): Json => {
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

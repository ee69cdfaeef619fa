import { z } from 'zod';
import { readMethods } from './answer-headers.ts';
import { type ErrorStatus, otherMethod, ourFault, phrases, unreadable } from './errors.ts';
import { answerMaximum, missingParameter } from './parameters.ts';

// What the descriptions of the API and of older addresses have in common: the form of schemas, and the errors.

export type Json = Record<string, unknown>;

/** The prefix of references to a schema. */
export const schemaPrefix = '#/components/schemas/';

const describeAnew = (schemas: Record<string, z.ZodType>, io: 'input' | 'output'): Json => {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const described = z.toJSONSchema(registry, {
    io,
    uri: (id) => schemaPrefix + id,
    override: ({ jsonSchema }) => {
      // The format says it already, and the limit belongs to the implementation, not to the API.
      if (jsonSchema.format === 'date-time' || jsonSchema.format === 'date') delete jsonSchema.pattern;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return Object.fromEntries(
    Object.entries(described.schemas).map(([id, { $schema: _dialect, $id: _address, ...schema }]) => [id, schema]),
  );
};

// They never change, and to describe them takes a tenth of the time of a small build. A process may build more than once.
const known = { input: new WeakMap<object, Json>(), output: new WeakMap<object, Json>() };

/**
 * These schemas as JSON Schema, by name, as a client receives (`output`) or sends (`input`) them. The result is the same
 * each time, and is not to be changed.
 */
export const describeSchemas = (schemas: Record<string, z.ZodType>, io: 'input' | 'output'): Json => {
  const described = known[io].get(schemas) ?? describeAnew(schemas, io);
  known[io].set(schemas, described);
  return described;
};

const errorDescriptions: Partial<Record<ErrorStatus, string>> = {
  400: `A parameter is missing, repeated or out of bounds, the records asked for are larger than ${answerMaximum / 2 ** 20} MB together, the path cannot be decoded, the body is not valid, or the request is not valid HTTP.`,
  401: 'Credentials are missing, expired or not valid.',
  404: 'Unknown package, repository or address.',
  405: 'The address does not answer this method.',
  408: 'The request took too long to arrive.',
  409: 'The credentials are not expired yet.',
  413: 'The body is too large.',
  414: 'The address is too long.',
  415: 'The content type of the body is not supported.',
  429: 'Too many requests.',
  431: 'The headers are too large.',
  500: 'A fault of the service.',
  501: 'The transfer coding of the body is not supported.',
  503: 'The service cannot answer at the moment.',
};

const retryAfter = {
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } },
};
const errorHeaders: Partial<Record<ErrorStatus, Json>> = {
  401: { 'WWW-Authenticate': { description: 'The authentication scheme.', schema: { type: 'string' } } },
  405: { Allow: { description: 'The methods that the address answers.', schema: { type: 'string' } } },
  429: retryAfter,
  503: retryAfter,
};

// An example sentence for each status; for 400 the most common one.
const errorSentences: Partial<Record<ErrorStatus, string>> = {
  ...unreadable,
  ...ourFault,
  400: missingParameter('q'),
  401: 'The auth token is expired or invalid',
  405: otherMethod(readMethods),
  409: 'The credentials are not expired yet',
  413: 'The body must be at most 262144 bytes',
  415: 'The body must be JSON (application/json)',
  429: 'Too many requests: try again in 1 s',
};
const exampleDate = '2026-05-01T12:00:00.000Z';

/** Error statuses that every operation may answer. */
export const commonErrors = [400, 405, 408, 414, 431, 500, 501, 503] as const satisfies readonly ErrorStatus[];

/** The name of the response for an error status in the description. */
export const responseName = (status: ErrorStatus): string => phrases[status].replaceAll(' ', '');

/** Every error status that is described. */
export const describedErrors = Object.keys(errorDescriptions).map(Number) as ErrorStatus[];

/** The responses for these error statuses, by name. `bodyOf` describes the body. */
export const describeErrors = (
  statuses: readonly ErrorStatus[],
  bodyOf: (status: ErrorStatus, example: object) => Json,
): Json =>
  Object.fromEntries(
    statuses.map((status) => {
      const message = `${status} ${phrases[status]}`;
      const example =
        status === 404 ? { message, date: exampleDate } : { message, error: errorSentences[status], date: exampleDate };
      const headers = errorHeaders[status];
      return [
        responseName(status),
        {
          description: errorDescriptions[status],
          ...(headers ? { headers } : {}),
          content: { 'application/json': bodyOf(status, example) },
        },
      ];
    }),
  );

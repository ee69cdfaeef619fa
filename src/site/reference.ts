import { z } from 'zod';
import { type Operation, operations } from '../contract/paths.ts';

/** A field of an answer, for the reference. */
export interface FieldRow {
  readonly name: string;
  readonly depth: number;
  readonly type: string;
  readonly description: string;
  readonly deprecated: boolean;
}

/** One operation as the reference prints it. */
export interface OperationView {
  readonly id: string;
  readonly method: string;
  readonly address: string;
  readonly summary: string;
  readonly tag: Operation['tag'];
  /** Where the answer is a prebuilt document, its path below the API's address. */
  readonly file: string | undefined;
  readonly parameters: readonly { readonly name: string; readonly text: string }[];
  readonly fields: readonly FieldRow[];
  readonly errors: readonly number[];
}

type Schema = {
  type?: string | readonly string[];
  format?: string;
  description?: string;
  deprecated?: boolean;
  const?: unknown;
  enum?: readonly unknown[];
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  anyOf?: readonly Schema[];
};

const typeOf = (schema: Schema): string => {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(' | ');
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' | ');
  if (schema.type === 'array') return `array of ${typeOf(schema.items ?? {})}`;
  const type = typeof schema.type === 'string' ? schema.type : 'any';
  return schema.format === undefined ? type : `${type} (${schema.format})`;
};

const fieldsOf = (schema: Schema, depth = 0): FieldRow[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const inner = field.type === 'array' ? (field.items ?? {}) : field;
    const row = {
      name,
      depth,
      type: typeOf(field),
      description: field.description ?? '',
      deprecated: field.deprecated === true,
    };
    return [row, ...(inner.properties === undefined ? [] : fieldsOf(inner, depth + 1))];
  });

const parameterTexts: Readonly<Record<string, string>> = {
  q: '2 to 256 characters, required',
  limit: '1 to 250, 100 unless given',
  page: 'from 1, 1 unless given',
  rank: '1, 2, 3, 4, 5 or * for all, required',
  ids: '1 to 2000 identifiers separated by commas, required',
  priority: 'default or bootstrap: which repository wins',
  uris: 'up to 250 addresses separated by commas',
};

/** The read API from the table and the schemas that the service itself is made of. */
export const describeOperations = (): OperationView[] =>
  Object.entries<Operation>(operations).map(([id, operation]) => ({
    id,
    method: operation.method,
    address: operation.address,
    summary: operation.summary,
    tag: operation.tag,
    file: operation.file,
    parameters: Object.keys(operation.query?.shape ?? {}).map((name) => ({ name, text: parameterTexts[name] ?? '' })),
    fields:
      operation.schema === undefined ? [] : fieldsOf(z.toJSONSchema(operation.schema, { io: 'output' }) as Schema),
    errors: operation.errors,
  }));

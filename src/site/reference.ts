import { z } from 'zod';
import { gatewayOperations } from '../contract/gateway-schemas.ts';
import {
  documentOperations,
  fileOperations,
  publicationOperations,
  siteOperations,
} from '../contract/openapi-documents.ts';
import type { ParameterText } from '../contract/parameter-kinds.ts';
import { parameterOf, placeholdersOf, writtenName } from '../contract/parameters.ts';
import { type Operation, operations } from '../contract/paths.ts';

/** A field of an answer, for the reference. */
export interface FieldRow {
  readonly name: string;
  readonly depth: number;
  readonly type: string;
  readonly description: string;
  readonly deprecated: boolean;
  /** Whether it must be sent; undefined for an answer, which always has all fields. */
  readonly required: boolean | undefined;
}

/** One operation as the reference prints it. */
export interface OperationView {
  readonly id: string;
  readonly method: string;
  readonly address: string;
  readonly summary: string;
  readonly tag: Operation['tag'];
  /** If the answer is a prebuilt document: its path below the API's address. */
  readonly file: string | undefined;
  readonly parameters: readonly { readonly name: string; readonly text: string }[];
  /** The body of the request, if it has one. */
  readonly body: { readonly type: string; readonly fields: readonly FieldRow[] } | undefined;
  /** What is answered. */
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
  oneOf?: readonly Schema[];
  required?: readonly string[];
};

const typeOf = (schema: Schema): string => {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(' | ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return choices.map(typeOf).join(' | ');
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  if (types.length === 0) throw new TypeError(`A field of the reference has no type: ${JSON.stringify(schema)}`);
  const nameOf = (type: string): string => {
    if (type === 'array') return `array of ${typeOf(schema.items ?? {})}`;
    return type === 'string' && schema.format !== undefined ? `string (${schema.format})` : type;
  };
  return types.map(nameOf).join(' | ');
};

// A nullable record, or a choice of records, has the fields of its alternatives.
const recordsOf = (schema: Schema): readonly Schema[] =>
  schema.items !== undefined
    ? recordsOf(schema.items)
    : ((schema.anyOf ?? schema.oneOf)?.flatMap(recordsOf) ?? [schema]);

const mergedFields = (schema: Schema): Readonly<Record<string, Schema>> => {
  const merged: Record<string, Schema> = {};
  for (const { properties = {} } of recordsOf(schema)) {
    for (const [name, field] of Object.entries(properties)) {
      const other = merged[name];
      merged[name] = other === undefined ? field : { anyOf: [other, field] };
    }
  }
  return merged;
};

const fieldsOf = (schema: Schema, depth = 0, required?: ReadonlySet<string>): FieldRow[] =>
  Object.entries(mergedFields(schema)).flatMap(([name, field]) => {
    const row = {
      name,
      depth,
      type: typeOf(field),
      description: field.description ?? '',
      deprecated: field.deprecated === true,
      required: required?.has(name),
    };
    return [row, ...fieldsOf(field, depth + 1)];
  });

/** The description of a parameter: whether it is required, its values or limits, and its default. */
const parameterText = ({ description, required, schema }: ParameterText): string => {
  const { enum: values, minimum, maximum, default: unless } = schema;
  const parts = [
    required ? 'required' : undefined,
    // The description may already name each of them.
    values?.some((value) => !description.includes(`\`${value}\``)) && `one of ${values.join(', ')}`,
    minimum !== undefined && maximum !== undefined ? `${minimum} to ${maximum}` : undefined,
    unless === undefined ? undefined : `${unless} unless given`,
  ].filter(Boolean);
  return parts.length === 0 ? description : `${description} (${parts.join('; ')})`;
};

const parametersOf = ({ address, query = [], paged }: Operation): OperationView['parameters'] => [
  ...placeholdersOf(address).map((name) => ({ name, text: parameterText(parameterOf(name)) })),
  ...[...query, ...(paged?.query ?? [])].map((name) => ({
    name: writtenName(name),
    text: parameterText(parameterOf(name)),
  })),
];

// The fields of the body, or those of the records in its list.
const bodyOf = (body: z.ZodType): OperationView['body'] => {
  const schema = z.toJSONSchema(body, { io: 'input' }) as Schema;
  const record = schema.items ?? schema;
  return { type: typeOf(schema), fields: fieldsOf(record, 0, new Set(record.required ?? [])) };
};

// A page has the fields of the whole list and its links.
const answerFieldsOf = ({ schema, paged }: Operation): FieldRow[] => {
  const shown = paged?.schema ?? schema;
  return shown === undefined ? [] : fieldsOf(z.toJSONSchema(shown, { io: 'output' }) as Schema);
};

const isLinks = ({ name, depth }: FieldRow) => depth === 0 && name === 'refs';

/** The fields of an answer without the links of a page. */
const withoutLinks = (fields: readonly FieldRow[]): readonly FieldRow[] => {
  const from = fields.findIndex(isLinks);
  if (from < 0) return fields;
  const next = fields.findIndex(({ depth }, index) => index > from && depth === 0);
  return fields.toSpliced(from, (next < 0 ? fields.length : next) - from);
};

/** Where the fields of an answer were already described. */
export interface Alike {
  readonly of: OperationView;
  /** Whether those also have the links of a page. */
  readonly hasLinks: boolean;
}

/**
 * Those of these operations, in reading order, whose answer has the fields of an earlier one, by identifier, so that
 * each table of fields occurs once.
 */
export const findAlike = (views: readonly OperationView[]): ReadonlyMap<string, Alike> => {
  const first = new Map<string, Alike>();
  const alike = new Map<string, Alike>();
  for (const view of views) {
    const key = JSON.stringify(view.fields);
    const known = first.get(key);
    if (known !== undefined) {
      alike.set(view.id, known);
      continue;
    }
    first.set(key, { of: view, hasLinks: false });
    const plain = JSON.stringify(withoutLinks(view.fields));
    if (!first.has(plain)) first.set(plain, { of: view, hasLinks: true });
  }
  return alike;
};

/** From how many characters on a list of values is written once. */
const longList = 400;

/**
 * The same operations, in reading order, with long lists of values where they first occur. Later fields name that field,
 * so that nobody reads a hundred codes again to find that they are the same.
 */
export const withListsOnce = (views: readonly OperationView[]): OperationView[] => {
  const alike = findAlike(views);
  const known = new Map<string, string>();
  return views.map((view) => {
    if (alike.has(view.id)) return view;
    const fields = view.fields.map((field) => {
      if (field.type.length < longList) return field;
      const before = known.get(field.type);
      if (before !== undefined) return { ...field, type: `one of those of ${before}` };
      known.set(field.type, `“${field.name}” of “${view.summary}”`);
      return field;
    });
    return { ...view, fields };
  });
};

const describe = (id: string, operation: Operation): OperationView => ({
  id,
  method: operation.method,
  address: operation.address,
  summary: operation.summary,
  tag: operation.tag,
  file: operation.file,
  parameters: parametersOf(operation),
  body: operation.body && bodyOf(operation.body),
  fields: answerFieldsOf(operation),
  errors: operation.errors ?? [],
});

/**
 * The API, from the tables and schemas that the service itself uses: read API, gateway, feeds and badges; or with
 * `staticRefs` only what any host answers: files, feeds and badges.
 */
export const describeOperations = (staticRefs = false): OperationView[] =>
  (staticRefs
    ? [documentOperations, fileOperations, publicationOperations, siteOperations]
    : [operations, publicationOperations, gatewayOperations, siteOperations]
  ).flatMap((table) => Object.entries<Operation>(table).map(([id, operation]) => describe(id, operation)));

import { gatewayAnswers, gatewayBodies } from '../../src/contract/gateway-schemas.ts';
import { createOpenApi } from '../../src/contract/openapi.ts';
import { type Json, schemaPrefix } from '../../src/contract/openapi-parts.ts';

// The schemas of the description use a small part of JSON Schema; anything else is an error here. No maintained
// generator supports this project's version of TypeScript.

const quoted = (value: unknown): string =>
  typeof value === 'string' ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'` : JSON.stringify(value);

const comment = ({ description, deprecated }: Json, indent: string): string => {
  const words = [description, deprecated === true ? '@deprecated' : undefined].filter((one) => one !== undefined);
  return words.length === 0 ? '' : `${indent}/** ${words.join(' ').replaceAll('*/', '* /')} */\n`;
};

const primitives: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

const fieldsOf = (schema: Json, indent: string): string => {
  const required = new Set(schema.required as string[] | undefined);
  const lines = Object.entries((schema.properties ?? {}) as Record<string, Json>).map(([name, field]) => {
    const key = /^[a-z_$][\w$]*$/i.test(name) ? name : quoted(name);
    const optional = required.has(name) ? '' : '?';
    return `${comment(field, `${indent}  `)}${indent}  readonly ${key}${optional}: ${typeOf(field, `${indent}  `)};\n`;
  });
  return `{\n${lines.join('')}${indent}}`;
};

const typeOf = (schema: Json, indent = ''): string => {
  const { $ref: reference, anyOf, oneOf = anyOf, enum: values, type, items } = schema;
  if (typeof reference === 'string' && reference.startsWith(schemaPrefix)) return reference.slice(schemaPrefix.length);
  if (Array.isArray(oneOf)) return oneOf.map((one: Json) => typeOf(one, indent)).join(' | ');
  if ('const' in schema) return quoted(schema.const);
  if (Array.isArray(values)) return values.map(quoted).join(' | ');
  if (Array.isArray(type)) return type.map((one: string) => typeOf({ ...schema, type: one }, indent)).join(' | ');
  if (type === 'array') return `ReadonlyArray<${typeOf((items ?? {}) as Json, indent)}>`;
  if (type === 'object' && 'properties' in schema) return fieldsOf(schema, indent);
  if (type === 'object')
    return `Readonly<Record<string, ${typeOf((schema.additionalProperties || {}) as Json, indent)}>>`;
  if (typeof type === 'string' && type in primitives) return primitives[type] ?? '';
  if (Object.keys(schema).length === 0) return 'unknown';
  throw new TypeError(`The client has no type for ${JSON.stringify(schema)}`);
};

const declare = ([name, schema]: [string, Json]): string => {
  const body = typeOf(schema);
  const head = comment(schema, '');
  return schema.type === 'object' && 'properties' in schema
    ? `${head}export interface ${name} ${body}\n`
    : `${head}export type ${name} = ${body};\n`;
};

/** The text of the client's types: a declaration for each named schema of the description. */
export const composeClientTypes = (): string => {
  const { components } = createOpenApi({ publicAddress: 'https://index.example', version: '' });
  const { schemas } = components as { schemas: Record<string, Json> };
  // Only package managers sign in.
  const asked = Object.entries(schemas).filter(([name]) => !(name in gatewayAnswers || name in gatewayBodies));
  return [
    '// Made by `npm run client-types` from the description of the API; make it anew instead of changing it.\n',
    ...asked.map(declare),
  ].join('\n');
};

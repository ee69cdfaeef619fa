import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { readQuery } from '../../functions/http/request-query.ts';
import { documentOperations, siteOperations } from '../../src/contract/openapi-documents.ts';
import type { QueryParameter } from '../../src/contract/parameter-kinds.ts';
import {
  parameterOf,
  placeholdersOf,
  type QueryName,
  queryParameters,
  writtenName,
} from '../../src/contract/parameters.ts';
import { type Operation, operations } from '../../src/contract/paths.ts';

const described = [operations, documentOperations, siteOperations].flatMap((table): Operation[] =>
  Object.values(table),
);
const named = new Set(
  described.flatMap(({ address, query = [], paged }) => [
    ...placeholdersOf(address),
    ...query,
    ...(paged?.query ?? []),
  ]),
);
const queries = Object.entries(queryParameters) as [QueryName, QueryParameter<unknown>][];

const subject = {
  packageId: 'com.example.one',
  name: 'Snow',
  version: '1.0',
  architecture: 'iphoneos-arm',
  author: null,
  slug: 'odd',
  uri: 'https://a.example/',
  suite: './',
  ranking: 2,
};

const read = (name: QueryName, value?: string) =>
  readQuery(`http://localhost/${value === undefined ? '' : `?${writtenName(name)}=${encodeURIComponent(value)}`}`, [
    name,
  ])[name];

describe('the table of parameters', () => {
  it('H5: has every parameter of an operation, and none that no operation has', () => {
    for (const name of named) expect(() => parameterOf(name), name).not.toThrow();
    expect(queries.map(([name]) => name).filter((name) => !named.has(name))).toEqual([]);
    expect(() => parameterOf('packageID')).toThrow('src/contract/parameters.ts has no parameter packageID');
  });

  it('H5: names a document after a parameter that its operation has', () => {
    for (const { address, file, query = [] } of Object.values<Operation>(operations)) {
      for (const name of placeholdersOf(file ?? '')) {
        expect([...placeholdersOf(address), ...query], file).toContain(name);
        expect(parameterOf(name).inFile, name).toBeDefined();
      }
    }
  });

  it.each(queries)('H5: reads %s as it describes it', (name, { schema, required, example, words }) => {
    const fits = new Ajv2020().compile(schema);
    const written = (value: string) => (schema.type === 'integer' ? Number(value) : value);
    if (required) expect(() => read(name)).toThrow(`Missing query parameter: '${writtenName(name)}'`);
    else if (schema.default !== undefined) expect(read(name)).toBe(schema.default);
    else expect(read(name)).toEqual(name === 'uris' || name === 'repositories' ? [] : undefined);
    for (const value of schema.enum ?? []) expect(read(name, value)).toBe(value);
    if (schema.enum)
      expect(() => read(name, 'none of them')).toThrow(`'${name}' must be one of ${schema.enum.join(', ')}`);
    const { minimum, maximum } = schema;
    for (const bound of [minimum, maximum]) if (bound !== undefined) expect(read(name, String(bound))).toBe(bound);
    if (minimum !== undefined) expect(() => read(name, String(minimum - 1))).toThrow(String(minimum));
    if (maximum !== undefined) expect(() => read(name, String(maximum + 1))).toThrow(`${minimum} and ${maximum}`);
    for (const shown of schema.examples ?? []) {
      expect(read(name, shown)).toBe(shown);
      expect(fits(shown), shown).toBe(true);
    }
    if (schema.pattern !== undefined) {
      for (const wrong of ['a b', '%', 'é', '-', 'x'.repeat(65)]) {
        expect(fits(wrong), wrong).toBe(false);
        expect(() => read(name, wrong)).toThrow(`'${writtenName(name)}' must be`);
      }
      return;
    }
    for (const tag of ['package', 'repository']) {
      const shown = example?.(subject, tag);
      if (shown === undefined) continue;
      expect(() => read(name, shown)).not.toThrow();
      expect(fits(written(shown)), shown).toBe(true);
    }
    if (schema.type === 'integer' || schema.enum) return;
    expect([readQuery(`http://localhost/?${writtenName(name)}=aa+b`, [name])[name]].flat()).toEqual([
      words ? 'aa b' : 'aa+b',
    ]);
  });
});

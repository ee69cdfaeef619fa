import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  columnsOfPostgres,
  cyclesOfZod,
  describing,
  leanEnglish,
  leanSchemas,
  neverRun,
} from '../../scripts/bundling/leaner.ts';

describe("what a Worker's bundle leaves out", () => {
  test('is there: a package that moved its modules, or a module of ours that did, is noticed', () => {
    const modules = ['zod', 'kysely', 'jose', 'pg', 'pg-connection-string', 'pg-pool', 'pg-types', 'pgpass'].flatMap(
      (name) => globSync(`node_modules/${name}/**/*.js`).map((file) => path.resolve(file)),
    );
    for (const pattern of [...neverRun, columnsOfPostgres, cyclesOfZod])
      expect(
        modules.filter((file) => pattern.test(file)),
        String(pattern),
      ).not.toEqual([]);
    expect(describing.filter((file) => globSync(file).length === 1)).toEqual(describing);
  });

  test('of schemas: that they describe themselves, and code made from text', () => {
    const schemas = readFileSync('node_modules/zod/v4/classic/schemas.js', 'utf8');
    for (const part of ['_zod.processJSONSchema =', 'core.$ZodObjectJIT']) {
      expect(schemas).toContain(part);
      expect(leanSchemas(schemas)).not.toContain(part);
    }
  });

  test('of messages: the words for formats, and nothing else', () => {
    const english = readFileSync('node_modules/zod/v4/locales/en.js', 'utf8');
    const lean = leanEnglish(english);
    expect(lean).toContain('FormatDictionary = {};');
    expect(lean).not.toContain('ISO duration');
    for (const part of ['invalid_type', 'FormatDictionary[', 'export default'])
      expect(lean.split(part)).toHaveLength(english.split(part).length);
  });
});

import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { manifestEntrySchema } from '../../src/contract/manifest.ts';
import { safetyEntriesSchema } from '../../src/contract/safety.ts';
import { serviceSchema } from '../../src/contract/service-file.ts';

const data = path.join(import.meta.dirname, '..', '..', 'data');

const schemas = {
  repository: { schema: manifestEntrySchema, files: 'repositories/*.yaml' },
  safety: { schema: safetyEntriesSchema, files: 'safety.yaml' },
  service: { schema: serviceSchema, files: 'service.yaml' },
} as const;

// Draft 7 is what editors read best.
const textOf = (schema: z.ZodType): string =>
  `${JSON.stringify(z.toJSONSchema(schema, { io: 'input', target: 'draft-7' }), null, 2)}\n`;

describe.each(Object.entries(schemas))('data/schema/%s.json', (name, { schema, files }) => {
  const file = path.join(data, 'schema', `${name}.json`);
  const written = globSync(files, { cwd: data }).map((one) => path.join(data, one));

  // `npm test -- test/data/schemas.test.ts -u` writes it anew.
  it('is that of the code', async () => {
    await expect(textOf(schema)).toMatchFileSnapshot(file);
  });

  it('is named by every file that it describes, in the line that editors read, and holds for it', () => {
    const validate = addFormats.default(new Ajv({ strict: false })).compile(JSON.parse(textOf(schema)));
    expect(written.length).toBeGreaterThan(0);
    for (const one of written) {
      const text = readFileSync(one, 'utf8');
      const [, named = ''] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text) ?? [];
      expect(path.resolve(path.dirname(one), named), one).toBe(file);
      expect(validate(parse(text)) ? [] : validate.errors, one).toEqual([]);
    }
  });

  it('refuses a field that is none', () => {
    const validate = addFormats.default(new Ajv({ strict: false })).compile(JSON.parse(textOf(schema)));
    const [one = ''] = written;
    const value = parse(readFileSync(one, 'utf8'));
    const misspelt = Array.isArray(value) ? [{ ...value[0], reasons: 'x' }] : { ...value, rankng: 1 };
    expect(validate(misspelt)).toBe(false);
  });
});

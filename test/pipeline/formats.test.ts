import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { lastBuildSchema } from '../../src/catalog/last-build.ts';
import { reportSchema } from '../../src/pipeline/report.ts';

const docs = path.join(import.meta.dirname, '..', '..', 'docs');

describe('the description of what a build writes for programs', () => {
  // With --update these files are written anew.
  it.each([
    ['outcomes', lastBuildSchema],
    ['report', reportSchema],
  ] as const)('docs/%s.schema.json is that of the code', async (name, schema) => {
    const text = `${JSON.stringify(z.toJSONSchema(schema), null, 2)}\n`;
    await expect(text).toMatchFileSnapshot(path.join(docs, `${name}.schema.json`));
  });
});

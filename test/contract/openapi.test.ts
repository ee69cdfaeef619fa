import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import { readExamples } from '../../scripts/examples/examples.ts';
import { createOpenApi } from '../../src/contract/openapi.ts';
import { type Operation, operations } from '../../src/contract/paths.ts';

const description = createOpenApi({
  publicAddress: 'https://index.test',
  version: '1.2.3',
  examples: readExamples('https://index.test'),
});

describe('OpenAPI description', () => {
  it('passes a third-party linter', async () => {
    const config = await createConfig({ extends: ['recommended'], telemetry: 'off' });
    const problems = await lintFromString({ source: JSON.stringify(description), config });
    expect(problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)).toEqual(
      [],
    );
  });

  it('describes every operation of the table and no other', () => {
    const paths = description.paths as Record<string, Record<string, unknown>>;
    const described = Object.entries(paths).flatMap(([address, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${address}`),
    );
    const known = Object.values(operations).map(({ method, address }: Operation) => `${method} ${address}`);
    expect(described.sort()).toEqual(known.sort());
  });

  it('resolves every reference', () => {
    const references = [...JSON.stringify(description).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path ?? '');
    expect(references.length).toBeGreaterThan(50);
    for (const reference of new Set(references)) {
      const target = reference
        .split('/')
        .reduce<unknown>((value, key) => (value as Record<string, unknown>)?.[key], description);
      expect(target, reference).toBeDefined();
    }
  });

  it('shows the examples it is given', () => {
    const example = { message: '200 Successful' };
    const { paths } = createOpenApi({
      publicAddress: 'https://index.test',
      version: '1',
      examples: { packageMulti: example },
    });
    expect(JSON.stringify(paths)).toContain(JSON.stringify({ example }).slice(1, -1));
  });
});

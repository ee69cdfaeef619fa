import { createConfig, lintFromString, type RawUniversalConfig } from '@redocly/openapi-core';
import { expect } from 'vitest';

/** The complaints of a third-party linter about a description; none if it passes. */
export const lintDescription = async (
  source: string,
  rules: NonNullable<RawUniversalConfig['rules']> = {},
): Promise<string[]> => {
  const config = await createConfig({ extends: ['recommended'], rules, telemetry: 'off' });
  const problems = await lintFromString({ source, config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`);
};

/** Expects that each reference in a description has a target. */
export const expectReferences = (description: unknown): void => {
  const references = [...JSON.stringify(description).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path ?? '');
  expect(references.length).toBeGreaterThan(50);
  for (const reference of new Set(references)) {
    const target = reference
      .split('/')
      .reduce<unknown>((value, key) => (value as Record<string, unknown>)?.[key], description);
    expect(target, reference).toBeDefined();
  }
};

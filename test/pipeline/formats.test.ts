import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { lastBuildSchema } from '../../src/catalog/last-build.ts';
import type { BuildResult } from '../../src/pipeline/build-result.ts';
import { composeReport, reportSchema } from '../../src/pipeline/report.ts';

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

it('the report of a build counts what all visits took, and says nothing of pages and index where there are none', () => {
  const visits = [
    { requests: 1, bytes: 20 },
    { requests: 2, bytes: 40 },
  ];
  const built = {
    outcomes: visits,
    lastBuild: { format: 2, builtAt: '2026-05-01T00:00:00.000Z', repositories: [] },
    repositoryChanges: { added: [], removed: [], failing: [], recovered: [], heldBack: [] },
    ...{ packageChanges: [], repairs: [], unreadable: [], documents: { written: 0, unchanged: 0, removed: 0 } },
  } as unknown as BuildResult;
  const ending = { exitCode: 3, dryRun: false, stoppedBy: 'SIGTERM', seconds: new Map([['crawl', 1.5]]) };
  expect(composeReport(built, ending)).toMatchObject({
    ...{ exitCode: 3, dryRun: false, stoppedBy: 'SIGTERM', seconds: { crawl: 1.5 } },
    ...{ visited: 2, requests: 3, bytes: 60, statistics: null, site: null, isUncompared: false },
  });
  // Else a program would take it that no package changed.
  expect(composeReport({ ...built, isUncompared: true }, ending)).toMatchObject({ isUncompared: true });
});

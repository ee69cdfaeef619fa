import { expect, it } from 'vitest';
import { composeBuildLine } from '../../src/catalog/build-lines.ts';
import { appendBuild } from '../../src/catalog/build-record.ts';
import type { BuildResult } from '../../src/pipeline/build-result.ts';
import { composeShown } from '../../src/pipeline/status-step.ts';
import { temporaryFolder } from '../support/folder.ts';

it('C11: what the index held on a day is what its last build that published left, whichever repositories came and went', () => {
  const state = temporaryFolder();
  for (const [at, total] of [
    ['2026-04-29T23:00:00.000Z', undefined],
    ['2026-04-30T23:00:00.000Z', 50],
    ['2026-05-01T01:00:00.000Z', 20],
    ['2026-05-01T02:00:00.000Z', 4020],
  ] as const) {
    const none = { packages: { added: 0, updated: 0, removed: 0 }, outcomes: new Map(), added: [] };
    appendBuild(state, composeBuildLine({ at, total, ended: 'published', ...none }), []);
  }
  const growthOf = (builtAt: string, statistics: { packages: number } | undefined) => {
    const build = { lastBuild: { builtAt, repositories: [] }, packageChanges: [], statistics };
    const shown = { builds: [], repositories: [] };
    return composeShown({ state, out: temporaryFolder(), entries: [] }, build as unknown as BuildResult, shown).growth;
  };
  expect(growthOf('2026-05-01T03:00:00.000Z', { packages: 4019 })).toEqual([
    { day: '2026-04-30', packages: 50 },
    { day: '2026-05-01', packages: 4019 },
  ]);
});

import { expect, it } from 'vitest';
import { composeBuildLine } from '../../src/catalog/build-lines.ts';
import { appendBuild } from '../../src/catalog/build-record.ts';
import type { PackageChange } from '../../src/contract/generation.ts';
import type { BuildResult } from '../../src/pipeline/build-result.ts';
import { composeShown } from '../../src/pipeline/status-step.ts';
import { temporaryFolder } from '../support/folder.ts';

const change = (kind: PackageChange['change']): PackageChange => ({
  ...{ package_id: 'a', repository: 'one', change: kind, version: '1', previous_version: null },
});

it('what came and went in a day is that of all its builds, the one that is not remembered yet among them', () => {
  const state = temporaryFolder();
  for (const [at, added, removed] of [
    ['2026-04-30T23:00:00.000Z', 5, 1],
    ['2026-05-01T01:00:00.000Z', 2, 3],
    ['2026-05-01T02:00:00.000Z', 4, 0],
  ] as const) {
    const counted = { packages: { added, updated: 7, removed }, outcomes: new Map(), added: [] };
    appendBuild(state, composeBuildLine({ at, ended: 'published', ...counted }), []);
  }
  const build = {
    lastBuild: { builtAt: '2026-05-01T03:00:00.000Z', repositories: [] },
    packageChanges: (['added', 'added', 'updated', 'removed'] as const).map(change),
  } as unknown as BuildResult;
  const { growth } = composeShown({ state, out: temporaryFolder() }, build, { builds: [], repositories: [] });
  expect(growth).toEqual([
    { day: '2026-04-30', added: 5, removed: 1 },
    { day: '2026-05-01', added: 8, removed: 4 },
  ]);
});

import { expect, it } from 'vitest';
import { composeBuildLine } from '../../src/catalog/build-lines.ts';
import { appendBuild } from '../../src/catalog/build-record.ts';
import { shownBuilds } from '../../src/contract/status.ts';
import type { BuildResult } from '../../src/pipeline/build-result.ts';
import { composeShown, publishStatus, statusOf } from '../../src/pipeline/status-step.ts';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import { temporaryFolder } from '../support/folder.ts';

it('C11: what the index held on a day is what its last build that published left, whichever repositories came and went', () => {
  const state = temporaryFolder();
  for (const [at, total] of [
    // Under a clock of before any build, by which the chart would be of half a century.
    ['1970-01-02T00:00:00.000Z', 7],
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
  expect(growthOf('1970-01-03T00:00:00.000Z', undefined)).toEqual([{ day: '1970-01-02', packages: 7 }]);
});

it('C4: tells of no more builds than are shown, the last of them the one that is not on record yet', () => {
  const state = temporaryFolder();
  const at = (minute: number) => new Date(Date.UTC(2026, 5, 1, 0, minute)).toISOString();
  for (let minute = 0; minute < shownBuilds + 5; minute++) {
    const none = { packages: { added: 0, updated: 0, removed: 0 }, outcomes: new Map(), added: [] };
    appendBuild(state, composeBuildLine({ at: at(minute), ended: 'published', ...none }), []);
  }
  const lastBuild = { builtAt: at(shownBuilds + 5), repositories: [] };
  const result = { lastBuild, outcomes: [], newSlugs: [], packageChanges: [] } as unknown as BuildResult;
  const { builds } = statusOf({ state, entries: [] }, result);
  expect(builds.map(({ date }) => date)).toEqual(Array.from({ length: shownBuilds }, (_, index) => at(index + 6)));
});

it('C12: a build that is to verify everything writes the status again, though nothing in it is new', () => {
  const [state, output] = [temporaryFolder(), new OutputFolder(temporaryFolder())];
  const publish = (minute: number, verify: boolean) =>
    publishStatus({ state, verify, now: () => new Date(Date.UTC(2026, 5, 1, 0, minute)) }, output, {
      status: { builds: [], repositories: [] },
      changed: false,
    });
  expect([publish(0, false), publish(1, false), publish(2, true)]).toEqual([true, false, true]);
});

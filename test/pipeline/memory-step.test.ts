import { mkdirSync, rmdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { readBuildRecord } from '../../src/catalog/build-record.ts';
import { lockState } from '../../src/catalog/lock.ts';
import type { BuildResult } from '../../src/pipeline/build-result.ts';
import { composeLine, rememberRefusal } from '../../src/pipeline/memory-step.ts';
import { temporaryFolder } from '../support/folder.ts';

it('C12: a build that was refused is remembered and told of, unless another one is at work, whose notes these are', async () => {
  const state = temporaryFolder();
  const told: unknown[] = [];
  const notifier = {
    tell: async (_: string, news: unknown) => {
      told.push(news);
      return [];
    },
  };
  const refuse = () =>
    rememberRefusal(
      { state, entries: [], now: () => new Date('2026-05-01T00:00:00Z'), notifier },
      new Error('no room'),
    );
  const unlock = lockState(state);
  await refuse();
  expect([readBuildRecord(state).builds, told]).toEqual([[], []]);
  unlock();
  // The lock cannot be taken, as on a disk that can only be read.
  const inTheWay = path.join(state, 'build.lock-journal');
  mkdirSync(inTheWay);
  await refuse();
  rmdirSync(inTheWay);
  expect([readBuildRecord(state).builds, told.splice(0)]).toEqual([
    [],
    [{ failure: { name: 'Error', reason: 'no room' } }],
  ]);
  await refuse();
  expect(readBuildRecord(state).builds).toMatchObject([{ ended: 'failed', reason: 'no room' }]);
  expect(told).toEqual([{ failure: { name: 'Error', reason: 'no room' } }]);
  // It keeps nobody out.
  lockState(state)();
});

it('C12: a build that published nothing is remembered as one, and a repository that it did not visit as unvisited', () => {
  const outcomes = [{ slug: 'one' }] as unknown as BuildResult['outcomes'];
  const repositories = [
    { slug: 'one', outcome: 'failed' },
    { slug: 'two', outcome: 'fresh' },
  ];
  const packageChanges = ['added', 'updated', 'updated', 'removed'].map((change) => ({ change }));
  const lastBuild = { builtAt: '2026-05-01T00:00:00.000Z', repositories };
  const result = { outcomes, lastBuild, newSlugs: ['two'], packageChanges } as unknown as BuildResult;
  expect(composeLine(result)).toMatchObject({
    ended: 'nothing',
    repositories: { failed: 1, fresh: 0, unvisited: 1 },
    packages: { added: 1, updated: 2, removed: 1 },
  });
  const statistics = { packages: 9 } as BuildResult['statistics'];
  expect(composeLine({ ...result, statistics })).toMatchObject({ ended: 'published', total: 9 });
});

import { expect, it } from 'vitest';
import type { BuildNews, Notifier } from '../../src/notifying/notifier.ts';
import { PartlyPublished } from '../../src/pipeline/build.ts';
import type { BuildInput } from '../../src/pipeline/build-input.ts';
import type { BuildResult } from '../../src/pipeline/build-result.ts';
import { NoRoom } from '../../src/pipeline/disk-room.ts';
import { tellOfBuild, tellOfFailure } from '../../src/pipeline/notify-step.ts';

const at = '2026-05-01T00:00:00.000Z';

it('C4: the operator is told of each repository whether it is down and was visited; and of a build without any as a failure', async () => {
  const told: BuildNews[] = [];
  const notifier: Notifier = {
    tell: async (_state, news) => {
      told.push(news);
      return [];
    },
  };
  const entries = [{ slug: 'one', aliases: ['former'] }] as unknown as BuildInput['entries'];
  const input = { state: 'state', entries, now: () => new Date(at), notifier };
  const one = { slug: 'one', outcome: 'stale', since: at, code: 'dns', reason: 'No such host.', heldBack: [] };
  const two = { ...one, slug: 'two', outcome: 'unchanged', code: null, reason: null };
  // Left alone for a while, as its origin asked for.
  const three = { ...one, slug: 'three', code: 'backing-off' };
  const outcomes = [
    { slug: 'one', code: 'dns' },
    { slug: 'three', code: 'backing-off' },
  ];
  const build = { outcomes, lastBuild: { repositories: [one, two, three] } };
  const result = (statistics: object | undefined) => ({ ...build, statistics }) as unknown as BuildResult;
  await tellOfBuild(input, result({}));
  await tellOfBuild(input, result(undefined));
  await tellOfFailure(input, 'odd');
  const { outcome: _, ...news } = one;
  expect(told).toEqual([
    {
      repositories: [
        { ...news, aliases: ['former'], down: true, isVisited: true },
        { ...news, slug: 'two', aliases: [], down: false, isVisited: false, code: null, reason: null },
        { ...news, slug: 'three', aliases: [], down: true, isVisited: false, code: 'backing-off' },
      ],
    },
    { failure: { name: 'nothing-usable', reason: expect.stringContaining('anything usable') } },
    { failure: { name: 'Error', reason: 'odd' } },
  ]);
  await tellOfBuild({ ...input, notifier: undefined }, result({}));
  expect(told).toHaveLength(3);
});

it('C12: failures are told apart by what the system calls them, and a full disk is one, whatever met it first', async () => {
  const kinds: string[] = [];
  const notifier: Notifier = {
    tell: async (_state, news) => {
      if ('failure' in news) kinds.push(news.failure.name);
      return [];
    },
  };
  const withCode = (code: string) => Object.assign(new Error('no'), { code });
  for (const failure of [
    ...[
      withCode('EACCES'),
      withCode('EROFS'),
      new TypeError('odd'),
      new PartlyPublished('odd', { cause: withCode('EACCES') }),
    ],
    ...[new NoRoom('full'), withCode('ENOSPC'), new PartlyPublished('full', { cause: withCode('EDQUOT') })],
    Object.assign(withCode('ERR_SQLITE_ERROR'), { errcode: 13 }),
  ]) {
    await tellOfFailure({ state: 'state', now: () => new Date(at), notifier }, failure);
  }
  expect(kinds).toEqual([
    ...['EACCES', 'EROFS', 'TypeError', 'PartlyPublished EACCES'],
    ...['NoRoom', 'NoRoom', 'NoRoom', 'NoRoom'],
  ]);
});

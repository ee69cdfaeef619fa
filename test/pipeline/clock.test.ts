import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { statusSchema } from '../../src/contract/envelope.ts';
import { documentPath } from '../../src/contract/paths.ts';
import type { BuildResult } from '../../src/pipeline/build-result.ts';
import { composeShown } from '../../src/pipeline/status-step.ts';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { BuildBench } from '../support/building.ts';
import { OriginServer } from '../support/origin-server.ts';

const begin = 1_780_000_000;
const day = 86_400;
const years = 5 * 365 * day;
const dayOf = (past: number): string => new Date((begin + past * day) * 1000).toISOString().slice(0, 10);

let origin: OriginServer;
let bench: BuildBench;
beforeEach(async () => {
  origin = await OriginServer.start();
  bench = new BuildBench();
  for (const slug of ['one', 'two']) origin.serve(slug, await generateRepository({ packages: makePackages(3, slug) }));
});
afterEach(() => origin.stop());

const list = (...slugs: readonly string[]) => bench.list(slugs.map((slug) => ({ slug, uri: origin.uri(slug) })));
const buildAt = async (second: number) => {
  const { status, text } = await bench.build(`SOURCE_DATE_EPOCH=${begin + second} DEBDEX_FAIL_ON_STALE=100% `);
  expect(status, text).toBe(0);
};
const isKept = (slug: string): boolean => existsSync(path.join(bench.state, 'snapshots', 'v1', slug, 'meta.json'));

it('C12: a build under a clock that is years ahead, or of 1970, makes nothing old, and what it noted does not outlive it', async () => {
  list('one', 'two');
  // As earlier versions did under a clock that does not know yet what time it is.
  await buildAt(300 - begin);
  await buildAt(0);
  list('one');
  await buildAt(day);
  await buildAt(years);
  // Left out of the manifest for a day: it may come back.
  expect(isKept('two')).toBe(true);
  origin.break('/one/Release', { kind: 'status', status: 404 });
  await buildAt(2 * day);
  expect(isKept('two')).toBe(true);
  const { builds, repositories } = statusSchema.parse(
    JSON.parse(readFileSync(path.join(bench.out, documentPath.status), 'utf8')),
  ).data;
  expect(builds).toHaveLength(5);
  const began = new Date((begin + 2 * day) * 1000).toISOString();
  expect(repositories[0]).toMatchObject({ outcome: 'stale', since: began, confirmed: began });
  const ended = {
    lastBuild: { builtAt: began, repositories: [] },
    packageChanges: [],
    statistics: { packages: 3 },
  } as unknown as BuildResult;
  const { growth } = composeShown({ ...bench, entries: [] }, ended, { builds: [], repositories: [] });
  // With the repository that was left out its packages went too.
  expect(growth).toEqual([6, 3, 3].map((held, past) => ({ day: dayOf(past), packages: held })));
  await buildAt(40 * day);
  expect(isKept('two')).toBe(true);
  await buildAt(41 * day);
  expect(isKept('two')).toBe(false);
});

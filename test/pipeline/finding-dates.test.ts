import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { outcomesPath, readLastBuild, writeLastBuild } from '../../src/catalog/last-build.ts';
import { repositoryFindingsSchema } from '../../src/contract/envelope.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { BuildBench } from '../support/building.ts';
import { OriginServer } from '../support/origin-server.ts';

const begin = 1_780_000_000;
const night = (number: number): string => new Date((begin + number * 86_400) * 1000).toISOString();

let origin: OriginServer;
let bench: BuildBench;
beforeEach(async () => {
  origin = await OriginServer.start();
  bench = new BuildBench();
  bench.list([{ slug: 'one', uri: origin.uri('one') }]);
});
afterEach(() => origin.stop());

/** Serves a repository that is wrong in these ways, with another package each time. */
const serve = async (version: string, { isHashed = true, isNamed = true } = {}) => {
  const packages = makePackages(1, 'p', version).map((one) => (isNamed ? one : { ...one, Architecture: '' }));
  const sound = makePackages(2, 'q');
  const files = await generateRepository({ packages: [...packages, ...sound], ...(isHashed ? {} : { hashes: [] }) });
  origin.serve('one', files);
};

const buildAt = async (number: number) => {
  const variables = `SOURCE_DATE_EPOCH=${begin + number * 86_400} DEBDEX_FAIL_ON_STALE=100% `;
  const { status, text } = await bench.build(variables);
  expect(status, text).toBe(0);
};

/** What is wrong, by its code, with the night since which that is so. */
const found = (slug = 'one') => {
  const text = readFileSync(path.join(bench.out, documentPath.repositoryFindings(slug)), 'utf8');
  const { failure, findings } = repositoryFindingsSchema.parse(JSON.parse(text)).data;
  const nightOf = (since: string | null) => since && (Date.parse(since) / 1000 - begin) / 86_400;
  return Object.fromEntries([...(failure ? [failure] : []), ...findings].map((one) => [one.code, nightOf(one.since)]));
};

it('C4: a finding says since when each build has found it, through failures and another slug', async () => {
  await serve('1', { isHashed: false });
  await buildAt(0);
  expect(found()).toEqual({ 'release-without-hashes': 0 });
  await serve('2', { isHashed: false, isNamed: false });
  await buildAt(1);
  expect(found()).toEqual({ 'release-without-hashes': 0, 'architecture-missing': 1 });
  bench.list([{ slug: 'uno', uri: origin.uri('one'), aliases: ['one'] }]);
  origin.break('/one/Release', { kind: 'status', status: 404 });
  await buildAt(2);
  const failing = { 'release-without-hashes': 0, 'architecture-missing': 1, 'release-missing': 2 };
  expect(found('uno')).toEqual(failing);
  expect(found('one')).toEqual(failing);
  await buildAt(3);
  expect(found('uno')).toEqual(failing);
  origin.mend('/one/Release');
  await serve('3', { isNamed: false });
  await buildAt(4);
  expect(found('uno')).toEqual({ 'architecture-missing': 1 });
  // What comes back is new.
  await serve('4', { isHashed: false });
  await buildAt(5);
  expect(found('uno')).toEqual({ 'release-without-hashes': 5 });
});

it('C12: what an earlier version found, or a clock that was ahead, is dated no later than it was seen', async () => {
  await serve('1', { isHashed: false, isNamed: false });
  await buildAt(3);
  const { repositories, ...build } = readLastBuild(bench.state) ?? { format: 2, builtAt: '', repositories: [] };
  const [one] = repositories;
  if (one === undefined) throw new Error(`nothing is in ${outcomesPath(bench.state)}`);
  expect(one.findings.map(({ code }) => code)).toEqual(['architecture-missing', 'release-without-hashes']);
  const [missing, unhashed] = one.findings.map(({ since: _, ...finding }) => finding);
  const findings = [missing, { ...unhashed, since: night(9) }].flatMap((finding) => finding ?? []);
  writeLastBuild(bench.state, { ...build, repositories: [{ ...one, findings }] } as Parameters<
    typeof writeLastBuild
  >[1]);
  await buildAt(5);
  // The build before had found the one, when it knew no dates; the other cannot be of the future.
  expect(found()).toEqual({ 'architecture-missing': 3, 'release-without-hashes': 5 });
});

it('C12: what was noted under a clock of 1970, as earlier versions did, is dated by the first build after it', async () => {
  await serve('1', { isHashed: false, isNamed: false });
  await buildAt(5);
  const since = (days: number) => Object.fromEntries(Object.entries(found()).map(([code]) => [code, days]));
  const wrong = '1970-01-01T00:05:00.000Z';
  const { repositories: then, ...rest } = readLastBuild(bench.state) ?? { repositories: [] };
  const noted = then.map((two) => ({
    ...two,
    since: wrong,
    findings: two.findings.map((f) => ({ ...f, since: wrong })),
  }));
  const writeNoted = (builtAt: string) =>
    writeLastBuild(bench.state, { ...rest, builtAt, repositories: noted } as Parameters<typeof writeLastBuild>[1]);
  writeNoted(night(6));
  await buildAt(7);
  expect(found()).toEqual(since(6));
  expect(readLastBuild(bench.state)?.repositories[0]).toMatchObject({ since: night(6) });
  writeNoted(wrong);
  await buildAt(8);
  expect(found()).toEqual(since(8));
  expect(readLastBuild(bench.state)?.repositories[0]).toMatchObject({ since: night(8) });
});

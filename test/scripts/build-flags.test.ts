import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { readBuildRecord } from '../../src/catalog/build-record.ts';
import { type LastBuild, readLastBuild } from '../../src/catalog/last-build.ts';
import { lockState } from '../../src/catalog/lock.ts';
import { generationPath } from '../../src/contract/generation.ts';
import { type BuildReport, reportSchema } from '../../src/pipeline/report.ts';
import { listHeldRemovals } from '../../src/snapshots/removals.ts';
import { openStore } from '../../src/snapshots/store.ts';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { BuildBench, benchClock } from '../support/building.ts';
import { OriginServer } from '../support/origin-server.ts';
import { createSigner, signRepository } from '../support/signer.ts';

// Each test is several builds, one after the other.
vi.setConfig({ testTimeout: 120_000 });

let origin: OriginServer;
let bench: BuildBench;
const slugs = ['one', 'two', 'three'];

beforeEach(async () => {
  origin = await OriginServer.start();
  bench = new BuildBench();
  bench.list(slugs.map((slug) => ({ slug, uri: origin.uri(slug) })));
  for (const slug of slugs) await serve(slug, 3);
});

afterEach(() => origin.stop());

const serve = async (slug: string, count: number, version = '1.0') =>
  origin.serve(slug, await generateRepository({ packages: makePackages(count, slug, version) }));

const asked = () => [...new Set(origin.requests.map(({ path: asked }) => asked.split('/')[1]))];
const read = (slug: string): LastBuild['repositories'][number] | undefined =>
  readLastBuild(bench.state)?.repositories.find((one) => one.slug === slug);

const files = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.includes('lock'))
    .sort();

describe('npm run build', () => {
  it('C6: --only visits these repositories alone, and leaves the others and their outcomes as they are', async () => {
    origin.break('/two/Release', { kind: 'status', status: 404 });
    origin.break('/two/InRelease', { kind: 'status', status: 404 });
    expect((await bench.build()).status).toBe(0);
    const before = bench.read();
    const failed = read('two');
    origin.mend();
    origin.reset();
    const { status, text } = await bench.build('DEBDEX_ONLY=one,three DEBDEX_FAIL_ON_STALE=0 ');
    expect({ status, text }).toMatchObject({ status: 3, text: expect.stringContaining('1 not visited') });
    expect(asked().sort()).toEqual(['one', 'three']);
    expect(read('two')).toEqual(failed);
    expect(bench.read()).toEqual(before);
    expect(await bench.build('DEBDEX_ONLY=two,four ')).toMatchObject({
      status: 2,
      text: expect.stringMatching('four'),
    });
  });

  it('C12: --only tells of a damaged snapshot of another repository too, which the next visit fetches again', async () => {
    await bench.build();
    const before = bench.read();
    const snapshot = await openStore(bench.state).read('two');
    rmSync(path.join(bench.state, 'snapshots', 'v1', 'two', snapshot?.packages.sha256 ?? ''));
    const report = path.join(bench.folder, 'build.json');
    const build = async (variables = '') => {
      const { status, text } = await bench.build(`DEBDEX_REPORT=${report} ${variables}`);
      return { status, text, unreadable: reportSchema.parse(JSON.parse(readFileSync(report, 'utf8'))).unreadable };
    };
    const { text, ...told } = await build('DEBDEX_ONLY=one ');
    expect(told).toEqual({ status: 0, unreadable: ['two'] });
    expect(text).toMatch(/\nDamaged .*: two\n/);
    expect(bench.read()).toEqual(before);
    const mended = await build();
    expect(mended).toMatchObject({ status: 0, unreadable: [], text: expect.not.stringContaining('Damaged') });
    expect(await openStore(bench.state).read('two')).toMatchObject({ packages: snapshot?.packages });
  });

  it('C12: --dry-run says what would change, and keeps and publishes nothing', async () => {
    await bench.build();
    const before = bench.read();
    const [state, out] = [files(bench.state), files(bench.out)];
    const stored = () => openStore(bench.state).read('one');
    const snapshot = await stored();
    await serve('one', 4, '2.0');
    const { status, text } = await bench.build('DEBDEX_DRY_RUN=1 ');
    expect({ status, text }).toMatchObject({ status: 0, text: expect.stringContaining('--dry-run') });
    expect(text).toContain('packages: 1 added, 3 updated, 0 removed');
    expect(text).toContain('updated com.example.one1 1.0 to 2.0 (one)');
    expect(bench.read()).toEqual(before);
    expect([files(bench.state), files(bench.out)]).toEqual([state, out]);
    expect(await stored()).toEqual(snapshot);
    expect((await bench.build()).text).toContain('packages: 1 added, 3 updated, 0 removed');
    const fresh = new BuildBench();
    fresh.list([{ slug: 'one', uri: origin.uri('one') }]);
    expect((await fresh.build('DEBDEX_DRY_RUN=1 ')).status).toBe(0);
    expect(existsSync(fresh.out)).toBe(false);
    // What a rehearsal holds back waits for no word, and it names none that would find nothing.
    await bench.build();
    await serve('one', 1, '2.0');
    const shrunken = await bench.build('DEBDEX_DRY_RUN=1 ');
    expect(shrunken.text).toMatch(/Held back +a build without --dry-run says how.+\n +one: index-shrunken: /);
    expect(shrunken.text).not.toContain('npm run accept');
    bench.list([{ slug: 'other', uri: origin.uri('one') }]);
    const held = await bench.build('DEBDEX_DRY_RUN=1 ');
    expect(held).toMatchObject({ status: 4, text: expect.stringContaining('build without --dry-run, which holds') });
    expect(listHeldRemovals(bench.state)).toEqual([]);
  });

  it('C6: --retry-now forgets how long a repository is to be left alone, and that of no other', async () => {
    for (const slug of ['one', 'two']) {
      origin.break(`/${slug}/Release`, { kind: 'status', status: 429, headers: { 'retry-after': '7200' } });
      origin.break(`/${slug}/InRelease`, { kind: 'status', status: 429, headers: { 'retry-after': '7200' } });
    }
    await bench.build();
    origin.mend();
    origin.reset();
    await bench.build();
    expect(asked()).toEqual(['three']);
    origin.reset();
    const { text } = await bench.build('DEBDEX_RETRY_NOW=one ');
    expect(asked().sort()).toEqual(['one', 'three']);
    expect(text).toContain('1 recovered: one');
  });

  it('E1: --portions publishes the catalog as rows too, for as long as it is given', async () => {
    const portionsOf = async (variables: string): Promise<unknown> => {
      expect((await bench.build(variables)).status).toBe(0);
      return JSON.parse(readFileSync(path.join(bench.out, generationPath.current), 'utf8')).portions;
    };
    expect(await portionsOf('DEBDEX_PORTIONS=1 ')).toBeDefined();
    await serve('one', 4);
    expect(await portionsOf('')).toBeUndefined();
  });

  it('C5: --report and outcomes.json name what became of each repository, a changed key among it', async () => {
    const [first, second] = [await createSigner(), await createSigner()];
    origin.serve('one', await signRepository(await generateRepository({ packages: makePackages(3, 'one') }), first));
    const report = path.join(bench.folder, 'reports', 'build.json');
    const build = async (): Promise<BuildReport & { text: string }> => {
      const { text } = await bench.build(`DEBDEX_REPORT=${report} `);
      return { ...reportSchema.parse(JSON.parse(readFileSync(report, 'utf8'))), text };
    };
    expect(await build()).toMatchObject({ exitCode: 0, visited: 3, repositoryChanges: { added: [], failing: [] } });
    // The clock that was given, in seconds.
    const { SOURCE_DATE_EPOCH } = benchClock;
    expect(Date.parse(readLastBuild(bench.state)?.builtAt ?? '')).toBe(Number(`${SOURCE_DATE_EPOCH}000`));
    origin.serve('one', await signRepository(await generateRepository({ packages: makePackages(4, 'one') }), second));
    const rehearsed = path.join(bench.folder, 'reports', 'rehearsed.json');
    await bench.build(`DEBDEX_DRY_RUN=1 DEBDEX_REPORT=${rehearsed} `);
    expect(JSON.parse(readFileSync(rehearsed, 'utf8'))).toMatchObject({ dryRun: true, visited: 3 });
    const changed = await build();
    expect(changed).toMatchObject({
      exitCode: 4,
      repositoryChanges: { heldBack: ['one'] },
      packageChanges: [{ package_id: 'com.example.one4', repository: 'one', change: 'added', version: '1.0' }],
    });
    expect(changed.text).toMatch(/\n +one: signature-key-changed: .+\n/);
    expect(changed.text).toMatch(/\n +1 signature-key-changed: one\n/);
    expect(read('one')).toMatchObject({
      outcome: 'fresh',
      signing: { state: 'key-changed', signers: [second.fingerprint] },
      heldBack: [{ code: 'signature-key-changed' }],
      findings: [expect.objectContaining({ code: 'signature-key-changed', count: 1 })],
    });
    // A report that cannot be written takes nothing back of what is published.
    const { status, text } = await bench.build(`DEBDEX_REPORT=${bench.folder} `);
    expect([status, text]).toEqual([4, expect.stringContaining('The report could not be written')]);
    expect(text).not.toContain('The build failed');
  });

  it('C4: notifies of a mistake in the manifest, and records it, for which a build on a schedule does not even begin', async () => {
    const told: string[] = [];
    const receiver = createServer((request, response) => {
      json(request).then((body) => {
        const { notices } = body as { notices: readonly { kind: string; reason: string }[] };
        told.push(...notices.map(({ kind, reason }) => `${kind}: ${reason}`));
        response.end();
      });
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void receiver.close());
    await once(receiver, 'listening');
    const { port } = receiver.address() as AddressInfo;
    const variables = `DEBDEX_NOTIFY=http://127.0.0.1:${port}/ `;
    const good = slugs.map((slug) => ({ slug, uri: origin.uri(slug) }));
    bench.list([{ slug: 'no slug', uri: origin.uri('one') }]);
    // The operator who begins reads what the build says.
    expect((await bench.build(variables)).status).toBe(2);
    expect(existsSync(bench.state)).toBe(false);
    bench.list(good);
    expect((await bench.build(variables)).status).toBe(0);
    bench.list([{ slug: 'no slug', uri: origin.uri('one') }]);
    expect((await bench.build(`${variables} DEBDEX_DRY_RUN=1 `)).status).toBe(2);
    // Nor is it told or recorded of a sample that would take the place of what is published.
    expect((await bench.build(`${variables} DEBDEX_SAMPLE=1 `)).text).toContain('name another --out for the sample');
    expect(told).toEqual([]);
    for (const _ of slugs) expect((await bench.build(variables)).status).toBe(2);
    expect(told).toEqual([expect.stringMatching(/^build-failed: .*manifest\.json: \[0\]\.slug: must be/)]);
    bench.list(good);
    for (const _ of slugs) expect((await bench.build(variables)).status).toBe(0);
    expect(told.slice(1)).toEqual([expect.stringMatching(/^build-recovered/)]);
    const mistaken = ['failed', expect.stringContaining('[0].slug: must be')];
    const published = ['published', undefined];
    expect(readBuildRecord(bench.state).builds.map(({ ended, reason }) => [ended, reason])).toEqual([
      ...[published, ...slugs.map(() => mistaken), ...slugs.map(() => published)],
    ]);
  });

  it('C12: leaves no report of an earlier build where one fails or cannot write its own', async () => {
    const report = path.join(bench.folder, 'build.json');
    const build = async (variables = '') => {
      const { status, text } = await bench.build(`DEBDEX_REPORT=${report} ${variables}`);
      return { status, text, isThere: existsSync(report) };
    };
    expect(await build()).toMatchObject({ status: 0, isThere: true });
    // What is written beside it first.
    mkdirSync(`${report}.next`);
    expect(await build()).toMatchObject({
      ...{ status: 0, isThere: false },
      text: expect.stringContaining('The report could not be written'),
    });
    rmdirSync(`${report}.next`);
    expect(await build()).toMatchObject({ status: 0, isThere: true });
    // That another build is at work says nothing of what stands there, which is of the last one.
    const unlock = lockState(bench.state);
    expect(await build()).toMatchObject({ status: 7, isThere: true });
    unlock();
    expect(await build('DEBDEX_ONLY=four ')).toMatchObject({ status: 2, isThere: false });
    expect(await build()).toMatchObject({ status: 0, isThere: true });
    bench.list([]);
    expect(await build()).toMatchObject({ status: 2, isThere: false });
    bench.list([{ slug: 'one', uri: origin.uri('one') }]);
    // A name that no disk takes.
    expect(await bench.build(`DEBDEX_REPORT=${report}${'x'.repeat(300)} `)).toMatchObject({
      ...{ status: 0, text: expect.stringContaining('The report of an earlier build could not be removed') },
    });
  });
});

describe('a build that is told to stop', () => {
  const waitForRequest = (slug: string) =>
    expect.poll(() => origin.requests.some(({ path: asked }) => asked.startsWith(`/${slug}/`))).toBe(true);

  const startProcess = () => {
    const child = bench.start();
    return { ended: bench.end(child), tell: () => void child.kill('SIGTERM') };
  };
  // That signals come to a process is seen of the other one: here what listens for this one is told of it.
  const startHere = () => {
    const others = new Set(process.listeners('SIGINT'));
    const tell = () => {
      for (const listener of process.listeners('SIGINT')) if (!others.has(listener)) listener('SIGINT');
    };
    return { ended: bench.build(), tell };
  };

  it.each([
    ['SIGTERM', 143, startProcess],
    ['SIGINT', 130, startHere],
  ] as const)('C12: by %s publishes what was crawled, and says so', async (signal, status, start) => {
    await bench.build();
    await serve('one', 5);
    origin.break('/two/Release', { kind: 'silent' });
    origin.reset();
    const { ended, tell } = start();
    await waitForRequest('two');
    await expect
      .poll(() => openStore(bench.state).read('one'))
      .toMatchObject({
        packages: { stanzas: 5 },
      });
    tell();
    const { text, ...end } = await ended;
    expect(end.status).toBe(status);
    expect(text).toContain(
      `Stopped by ${signal}: 2 of 3 repositories were visited, and what was crawled is published.`,
    );
    expect([...bench.read().keys()].join()).toContain('com.example.one5');
    expect(bench.findDamage()).toEqual([]);
    expect(read('two')).toMatchObject({ outcome: 'fresh', code: null });
    expect((await openStore(bench.state).readAttempts('two')).failures).toBe(0);
  });

  it('C7: by its time budget ends with what it has, and the rest is as it was', async () => {
    await bench.build();
    origin.break('/two/Release', { kind: 'silent' });
    await serve('one', 5);
    const { status, text } = await bench.build('DEBDEX_TIME_BUDGET=2s ');
    expect({ status, text }).toMatchObject({ status: 0, text: expect.stringContaining('time budget of 2 s is over') });
    expect(text).toContain('Stopped by time budget: 2 of 3');
    expect(read('two')).toMatchObject({ outcome: 'fresh' });
    expect((await bench.build('DEBDEX_TIME_BUDGET=soon ')).status).toBe(2);
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import { computeSource } from '../../src/catalog/ingest.ts';
import { lastBuildSchema } from '../../src/catalog/last-build.ts';
import { attemptsAt, backOff, isPaused } from '../../src/crawl/back-off.ts';
import { CrawlError } from '../../src/crawl/crawl-error.ts';
import { composeFindings } from '../../src/documents/findings-record.ts';
import { composeFailures, composeLastBuild } from '../../src/pipeline/outcomes.ts';
import { noAttempts } from '../../src/snapshots/snapshot.ts';
import { generateRepository } from '../support/apt-repository.ts';
import { bench, useCrawlBench } from '../support/crawl-bench.ts';
import { makeEntry } from '../support/crawling.ts';
import { createSigner, signRepository } from '../support/signer.ts';

useCrawlBench();
beforeEach(async () => {
  bench.origin.serve('repo', await generateRepository());
});

describe.each([429, 503])('status %i with Retry-After', (status) => {
  const busy = (seconds: string) => ({ kind: 'status' as const, status, headers: { 'retry-after': seconds } });

  it('C6: sends the headers of an entry with every request, and takes them for nothing that the origin said', async () => {
    bench.origin.serve('repo', await generateRepository());
    const entry = makeEntry('repo', bench.origin.uri('repo'), { headers: { 'X-Machine': 'iPhone10,1' } });
    await bench.crawlOne({}, entry);
    expect(bench.origin.requests.length).toBeGreaterThan(1);
    for (const { headers } of bench.origin.requests) expect(headers['x-machine']).toBe('iPhone10,1');
    const snapshot = await bench.store.read('repo');
    if (snapshot === undefined) throw new Error('the crawl kept nothing');
    const { headers: _, ...plain } = entry;
    expect(computeSource(entry, snapshot, { base: 'https://index.test' })).toBe(
      computeSource(plain, snapshot, { base: 'https://index.test' }),
    );
  });

  it('C6: is waited for where it is short', async () => {
    bench.origin.break('/repo/Release', (_request, nth) => (nth === 1 ? busy('1') : undefined));
    const outcome = await bench.crawlOne();
    expect(outcome).toMatchObject({ outcome: 'fresh' });
    expect(outcome.seconds).toBeGreaterThan(0.9);
  });

  it('C6: is waited for as often as a visit repeats requests, and then taken for a refusal', async () => {
    bench.origin.break('/repo/Release', busy('0'));
    const asked = bench.crawlOne({ limits: { repetitions: 2, repositoryMs: 60_000 } });
    expect(await asked).toMatchObject({ outcome: 'failed', code: 'origin-busy', requests: 4 });
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'failed', code: 'backing-off', requests: 0 });
  });

  it('C6: ends the visit where it is long, and no request is sent before that moment, also after a restart', async () => {
    await bench.crawlOne();
    bench.origin.break('/repo/Release', busy('3600'));
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'stale', code: 'origin-busy', requests: 1 });
    bench.origin.mend();
    bench.pass(3599);
    const resting = await bench.crawlOne();
    expect(resting).toMatchObject({ outcome: 'stale', code: 'backing-off', requests: 0, asked: [] });
    expect(resting.reason).toMatch(/not before 2026-06-01 13:00 UTC\. Next attempt after 2026-06-01 13:00 UTC\.$/);
    bench.pass(1);
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'unchanged' });
    expect(await bench.store.readAttempts('repo')).toMatchObject({ failures: 0, notBefore: null });
  });

  it('C6: is not waited for where the operator wants it asked now, and what follows is as after a first failure', async () => {
    bench.origin.break('/repo/Release', busy('3600'));
    for (let failure = 1; failure <= 3; failure++) {
      await bench.crawlOne({ retryNow: new Set(failure === 1 ? [] : ['repo']) });
      expect(await bench.store.readAttempts('repo')).toMatchObject({ failures: 1 });
    }
    expect(await bench.crawlOne({ retryNow: new Set(['other']) })).toMatchObject({ code: 'backing-off', requests: 0 });
    bench.origin.mend();
    expect(await bench.crawlOne({ retryNow: new Set(['repo']) })).toMatchObject({ outcome: 'fresh' });
  });

  it('C6: is a day at most, and holds where the clock was set back a little meanwhile', async () => {
    await bench.crawlOne();
    bench.origin.break('/repo/Release', busy('864000'));
    expect((await bench.crawlOne()).code).toBe('origin-busy');
    bench.origin.mend();
    bench.pass(-60);
    expect(await bench.crawlOne()).toMatchObject({ code: 'backing-off', requests: 0 });
    bench.pass(60 + 86_399);
    expect(await bench.crawlOne()).toMatchObject({ code: 'backing-off', requests: 0 });
    bench.pass(1);
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'unchanged' });
  });

  it('C6: of what a visit can do without is not believed either, and is forgotten when it is over', async () => {
    await bench.crawlOne();
    const { now, origin } = bench;
    bench.pass(30 * 86_400);
    origin.break('/repo/payment_endpoint', busy('3600'));
    await bench.crawlOne();
    expect((await bench.store.readAttempts('repo')).pauses).not.toEqual({});
    origin.mend();
    origin.reset();
    bench.now = now;
    await bench.crawlOne();
    const asked = () => origin.requests.map(({ path }) => path);
    expect(asked()).toContain('/repo/payment_endpoint');
    // Of something that is not asked about any more.
    const attempts = await bench.store.readAttempts('repo');
    await bench.store.writeAttempts('repo', { ...attempts, pauses: { depiction: '2026-05-01T00:00:00.000Z' } });
    await bench.crawlOne();
    origin.reset();
    await bench.crawlOne();
    expect(asked()).toEqual(['/repo/Release']);
  });

  it('C6: is not believed where it was noted under a clock that was ahead', async () => {
    await bench.crawlOne();
    const { now } = bench;
    bench.pass(30 * 86_400);
    bench.origin.break('/repo/Release', busy('60'));
    expect((await bench.crawlOne()).code).toBe('origin-busy');
    bench.origin.mend();
    bench.now = now;
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'unchanged', code: null });
    expect(await bench.store.readAttempts('repo')).toMatchObject({ failures: 0, notBefore: null });
  });

  it('C6, C7: silences the repository that was told so, in this run and the next, and no other at its host', async () => {
    const entries = ['repo', 'second', 'third'].map((slug) => makeEntry(slug, bench.origin.uri(slug)));
    for (const slug of ['second', 'third']) bench.origin.serve(slug, await generateRepository());
    bench.origin.break('/repo/InRelease', busy('60'));
    const codes = async () => (await bench.crawl(entries, { concurrency: 1 })).map(({ code }) => code);
    expect(await codes()).toEqual(['origin-busy', null, null]);
    bench.origin.reset();
    expect(await codes()).toEqual(['backing-off', null, null]);
    expect(bench.origin.requests.map(({ path }) => path)).toEqual(['/second/Release', '/third/Release']);
    bench.origin.mend();
    bench.pass(61);
    expect(await codes()).toEqual([null, null, null]);
  });
});

describe('what does not belong to the release', () => {
  it('C6: is asked for by its validators, a Release.gpg beside an InRelease too', async () => {
    const signer = await createSigner();
    const files = await signRepository(await generateRepository(), signer, ['InRelease', 'Release.gpg']);
    bench.origin.serve('repo', files);
    const ofSignature = ({ asked }: { asked: readonly string[] }) =>
      asked.filter((line) => line.startsWith('/Release.gpg'));
    expect(ofSignature(await bench.crawlOne())).toEqual(['/Release.gpg 200']);
    for (let day = 0; day < 2; day++) {
      bench.pass(86_400);
      expect(ofSignature(await bench.crawlOne())).toEqual(['/Release.gpg 304']);
      expect(await bench.store.read('repo')).toMatchObject({ hasReleaseGpg: true, signing: { state: 'signed' } });
    }
    bench.pass(86_400);
    files.delete('/Release.gpg');
    bench.origin.serve('repo', files);
    expect(ofSignature(await bench.crawlOne())).toEqual(['/Release.gpg 404']);
    expect(await bench.store.read('repo')).toMatchObject({ hasReleaseGpg: false, releaseGpgValidators: null });
    bench.pass(86_400);
    expect(ofSignature(await bench.crawlOne())).toEqual(['/Release.gpg 404']);
  });
});

describe('repetitions', () => {
  it('C6: happen where they can help', async () => {
    for (const fault of [
      { kind: 'status', status: 500 },
      { kind: 'status', status: 503 },
      { kind: 'reset' },
      { kind: 'cut', after: 5 },
    ] as const) {
      await bench.store.remove('repo');
      bench.origin.break('/repo/Release', (_request, nth) => (nth < 3 ? fault : undefined));
      const outcome = await bench.crawlOne();
      expect(outcome.outcome).toBe('fresh');
      expect(outcome.asked.filter((line) => line.startsWith('/Release '))).toHaveLength(3);
    }
  });

  it('C6: do not happen where they cannot', async () => {
    for (const fault of [
      { kind: 'status', status: 404 },
      { kind: 'status', status: 429 },
      { kind: 'body', body: '<html>' },
      { kind: 'redirect', location: 'file:///' },
      { kind: 'giant-headers', bytes: 100_000 },
    ] as const) {
      await bench.store.remove('repo');
      bench.origin.break('/repo/Release', fault);
      expect((await bench.crawlOne()).asked).toHaveLength(2);
    }
  });

  it('C6: are few for one repository, however many of its files fail', async () => {
    for (const file of ['InRelease', 'Release']) bench.origin.break(`/repo/${file}`, { kind: 'status', status: 500 });
    expect(await bench.crawlOne()).toMatchObject({ code: 'server-error', requests: 2 + 4 });
  });
});

describe('back-off', () => {
  it('C6: grows with each failure, to a limit, and is written down', () => {
    const now = bench.now;
    let attempts = noAttempts;
    const minutes: number[] = [];
    for (let failure = 0; failure < 12; failure++) {
      attempts = backOff.failed(attempts, new CrawlError('connection', 'x'), now, () => 0);
      const until = attempts.notBefore === null ? now.getTime() : Date.parse(attempts.notBefore);
      minutes.push((until - now.getTime()) / 60_000);
    }
    expect(minutes).toEqual([0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360]);
  });

  it('C6: a pause is believed for as long as one may be, with an hour of drift, and no longer', () => {
    const { now } = bench;
    const hold = 6 * 3_600_000;
    const after = (ms: number) => new Date(now.getTime() + ms).toISOString();
    for (const [ms, isBelieved] of [
      [-1, false],
      [0, false],
      [1, true],
      [hold + 3_600_000, true],
      [hold + 3_600_001, false],
    ] as const) {
      expect(isPaused(after(ms), now, hold), `${ms}`).toBe(isBelieved);
    }
  });

  it('C6: does not follow from a file that is wrong or missing', () => {
    const failed = ['index-mismatch', 'release-missing', 'index-shrunken'] as const;
    for (const code of failed) {
      const before = { ...noAttempts, failures: 9 };
      expect(backOff.failed(before, new CrawlError(code, 'x'), bench.now)).toMatchObject({ notBefore: null });
    }
  });

  it('C6: does not follow from a fault of ours, which counts for none of the origin', () => {
    const before = { ...noAttempts, failures: 1 };
    for (const code of ['store-failed', 'internal'] as const) {
      const after = backOff.failed(before, new CrawlError(code, 'x'), bench.now);
      expect(after).toMatchObject({ code, failures: 1, notBefore: null });
    }
  });

  it('C6: a host that is down is left alone for longer and longer', async () => {
    const { origin } = bench;
    origin.break('/repo/InRelease', { kind: 'reset' });
    expect((await bench.crawlOne()).code).toBe('connection');
    expect((await bench.crawlOne()).code).toBe('connection');
    expect(await bench.crawlOne()).toMatchObject({ code: 'backing-off', requests: 0 });
    bench.pass(60);
    expect((await bench.crawlOne()).code).toBe('connection');
    bench.pass(59);
    expect((await bench.crawlOne()).code).toBe('backing-off');
  });

  it('C6: keeps of a host that is down what its owner is to do, by the failure before', async () => {
    bench.origin.break('/repo/InRelease', { kind: 'reset' });
    await bench.crawlOne();
    await bench.crawlOne();
    const sources = {
      entries: [makeEntry('repo', bench.origin.uri('repo'))],
      waiting: [],
      found: [],
      now: bench.now,
    };
    let build = composeLastBuild({ ...sources, visited: [await bench.crawlOne()], previous: undefined });
    // As a build of other repositories keeps it.
    build = composeLastBuild({ ...sources, visited: [], previous: lastBuildSchema.parse(build) });
    expect(build.repositories).toMatchObject([{ code: 'backing-off', earlier: 'connection' }]);
    expect(composeFindings('repo', undefined, composeFailures(build).get('repo')).failure).toMatchObject({
      code: 'backing-off',
      weight: 'broken',
      for_operator: expect.stringMatching(
        /^Not asked, because it failed before: The origin could not be reached: .* Next/,
      ),
      for_owner: 'Check that the server runs and that no firewall blocks crawlers. The index asks again by itself.',
    });
  });

  it('C6: is about one address: the next one in the manifest is asked at once, and rests by its own failures', async () => {
    const { origin } = bench;
    origin.serve('moved', await generateRepository());
    origin.break('/repo/InRelease', { kind: 'status', status: 503, headers: { 'retry-after': '3600' } });
    const at = (slug: string) => bench.crawlOne({}, makeEntry('repo', origin.uri(slug)));
    expect((await at('repo')).code).toBe('origin-busy');
    expect(await at('moved')).toMatchObject({ outcome: 'fresh', code: null });
    expect((await at('repo')).code).toBe('origin-busy');
    expect(await at('repo')).toMatchObject({ code: 'backing-off', requests: 0 });
    const failures = { uri: 'https://a.example', failures: 9, notBefore: bench.now.toISOString(), askedByOrigin: true };
    expect(attemptsAt('https://b.example', { ...noAttempts, ...failures })).toEqual({
      ...noAttempts,
      uri: 'https://b.example',
    });
  });
});

it('C4, C5: what was looked at under a clock that was ahead is looked at again, and was not confirmed in the future', async () => {
  const { now, origin } = bench;
  bench.pass(30 * 86_400);
  await bench.crawlOne();
  bench.now = now;
  origin.reset();
  expect((await bench.crawlOne()).outcome).toBe('unchanged');
  const asked = () => origin.requests.map(({ path }) => path);
  expect(asked()).toContain('/repo/payment_endpoint');
  // And not at every visit from then on.
  origin.reset();
  bench.pass(60);
  expect((await bench.crawlOne()).outcome).toBe('unchanged');
  expect(asked()).not.toContain('/repo/payment_endpoint');
  const last = bench.now.toISOString();
  bench.pass(60);
  origin.break('/repo/Release', { kind: 'status', status: 500 });
  origin.break('/repo/InRelease', { kind: 'status', status: 500 });
  expect(await bench.crawlOne()).toMatchObject({ outcome: 'stale', confirmedAt: last });
});

import { describe, expect, it } from 'vitest';
import { findingText } from '../../src/contract/finding-texts.ts';
import { showExample } from '../../src/contract/findings.ts';
import { mendableCode, mendEach } from '../../src/site/mending.ts';
import { generateRepository, makePackages, type RepositoryPlan } from '../support/apt-repository.ts';
import { bench, useCrawlBench } from '../support/crawl-bench.ts';
import { statusFault } from '../support/origin-server.ts';
import { createSigner } from '../support/signer.ts';

useCrawlBench();

const day = 86_400;

const serve = async (plan: RepositoryPlan = {}) => bench.origin.serve('repo', await generateRepository(plan));

/** Crawls, and tells the outcome, the codes of what was found and what was asked for. */
const visit = async () => {
  const { outcome, findings, asked } = await bench.crawlOne({ limits: { repetitions: 0 } });
  return { outcome, codes: findings.map(({ code }) => code), asked };
};

describe('findings, while the content stays the same', () => {
  it.each([
    ['lists the index', {}],
    ['lists none', { hashes: [] }],
  ] as const)('C8: are gone once what was amiss is mended, where Release %s', async (_, plan) => {
    await serve({ ...plan, compressions: ['xz', 'gz'] });
    bench.origin.break('/repo/Packages.xz', { kind: 'body', body: 'no index' });
    const first = await visit();
    expect(first.outcome).toBe('fresh');
    const amiss = first.codes.filter((code) => code.startsWith('index-'));
    expect(amiss).toHaveLength(1);
    bench.pass(60);
    expect((await visit()).codes).toEqual(first.codes);
    bench.pass(day);
    expect((await visit()).codes).toEqual(first.codes);
    bench.origin.mend();
    bench.pass(day);
    const last = await visit();
    expect(last).toMatchObject({ outcome: 'unchanged', codes: first.codes.filter((code) => !amiss.includes(code)) });
    bench.pass(60);
    expect(await visit()).toMatchObject({ codes: last.codes });
  });

  it('C8: tell within a day that every index is gone, and at once that it is back', async () => {
    await serve();
    await visit();
    bench.origin.remove('/repo/Packages.bz2');
    for (const path of ['xz', 'gz', 'zst', 'lzma']) bench.origin.remove(`/repo/Packages.${path}`);
    const plain = await generateRepository();
    bench.origin.remove('/repo/Packages');
    bench.pass(60);
    expect(await visit()).toMatchObject({ outcome: 'unchanged', codes: [], asked: ['/Release 304'] });
    bench.pass(day);
    expect(await visit()).toMatchObject({ outcome: 'unchanged', codes: ['index-gone'] });
    expect((await bench.store.read('repo'))?.packages.path).toBe('/Packages.bz2');
    bench.pass(60);
    expect(await visit()).toMatchObject({ outcome: 'unchanged', codes: ['index-gone'] });
    bench.origin.serve('repo', plain);
    bench.pass(60);
    expect(await visit()).toMatchObject({ outcome: 'unchanged', codes: [] });
    bench.pass(60);
    expect(await visit()).toMatchObject({ codes: [], asked: ['/Release 304'] });
  });

  it('C8: tell at the next visit that an index is there again for which the origin gave no answer', async () => {
    await serve();
    await visit();
    bench.origin.break('/repo/Packages.bz2', { kind: 'reset' });
    bench.pass(day);
    expect(await visit()).toMatchObject({ outcome: 'unchanged', codes: ['extras-unanswered'] });
    bench.origin.mend();
    bench.pass(60);
    expect(await visit()).toMatchObject({ outcome: 'unchanged', codes: [] });
  });

  it.each([
    [404, /publish .*\(status 404\)/],
    [401, /permit .*\(401, 403\)/],
    [403, /permit .*\(401, 403\)/],
    [500, /log of the web server .*\(5xx\)/],
  ])('C8: tell the owner of an index that is no longer served what its status %i asks for', async (status, advice) => {
    await serve({ compressions: ['plain'] });
    await visit();
    bench.origin.break('/repo/Packages', statusFault(status));
    bench.origin.break('/repo/Release.gpg', statusFault(status));
    bench.pass(day);
    const { findings } = await bench.crawlOne({ limits: { repetitions: 0 } });
    const told = new Map(findings.map(({ code, example }) => [code, example]));
    const evidence = told.get('index-gone') ?? '';
    expect(evidence).toContain(`status ${status} for`);
    // What is there and is not served is served no better once it is written again.
    const code = mendableCode({ code: 'index-gone', evidence });
    const [mending] = mendEach([code], { suite: './', origin_release_path: '/Release' }, false);
    expect(mending?.commands.length).toBe(status === 404 ? 2 : 0);
    expect(findingText('index-gone').owner).toMatch(advice);
    expect(told.has('extras-unanswered')).toBe(status === 500);
    expect(findingText('extras-unanswered').owner).toMatch(/5xx.* log/);
  });

  it('C8: tell of a redirect as long as there is one', async () => {
    await serve();
    bench.origin.serve('other', await generateRepository());
    const redirect = () => bench.origin.break('/repo/Release', { kind: 'redirect', location: '/other/Release' });
    redirect();
    expect((await visit()).codes).toEqual(['redirected']);
    expect(await visit()).toMatchObject({ outcome: 'unchanged', codes: ['redirected'] });
    bench.origin.mend();
    expect(await visit()).toMatchObject({ outcome: 'unchanged', codes: [] });
    redirect();
    expect(await visit()).toMatchObject({ outcome: 'unchanged', codes: ['redirected'] });
  });

  it('C8: tell of each place that files are redirected to, whichever of them is asked for first', async () => {
    const { origin } = bench;
    await serve();
    origin.serve('other', await generateRepository());
    const [asked, index] = [origin.uri('repo'), '/Packages.bz2'];
    const other = origin.uri('other').replace('127.0.0.1', 'localhost');
    const lead = (file: string, place: string) =>
      origin.break(`/repo${file}`, { kind: 'redirect', location: `${place}${file}` });
    const examples = async () => (await bench.crawlOne()).findings.map((one) => `${one.code} ${showExample(one)}`);
    lead('/Release', origin.uri('other'));
    lead(index, origin.uri('other'));
    const own = `${asked}/Release to ${origin.uri('other')}/Release`;
    // All of it is elsewhere, which one of them says.
    expect(await examples()).toEqual([`redirected ${own}`]);
    lead(index, other);
    bench.pass(day);
    expect(await examples()).toEqual([`redirected ${own} and ${asked}${index} to ${other}${index}`]);
  });

  it('C8: tell of no redirect of files that are not there, which would outlast that of what is published', async () => {
    await serve();
    bench.origin.serve('other', await generateRepository());
    const all = ['InRelease', 'Release', 'Release.gpg', 'Packages.bz2', 'payment_endpoint'];
    for (const file of all) bench.origin.break(`/repo/${file}`, { kind: 'redirect', location: `/other/${file}` });
    const { findings } = await bench.crawlOne();
    expect(findings).toMatchObject([
      { code: 'redirected', count: 2, example: expect.stringContaining('/repo/Release ') },
    ]);
    bench.origin.mend();
    await serve({ packages: makePackages(9) });
    bench.pass(60);
    expect(await visit()).toMatchObject({ outcome: 'fresh', codes: [], asked: ['/Release 200', '/Packages.bz2 200'] });
    // Where nothing is found, it says where it was looked for.
    bench.origin.break('/repo/Release', { kind: 'redirect', location: '/gone/Release' });
    bench.pass(60);
    expect(await visit()).toMatchObject({ outcome: 'stale', codes: ['redirected'] });
  });

  it('C8: say what holds where the visit failed, and where nobody was asked', async () => {
    const plan = { release: { 'Valid-Until': 'Tue, 02 Jun 2026 10:00:00 UTC' } };
    await serve(plan);
    bench.origin.serve('other', await generateRepository(plan));
    bench.origin.break('/repo/Release', { kind: 'redirect', location: '/other/Release' });
    expect((await visit()).codes).toEqual(['redirected']);
    bench.origin.mend();
    bench.origin.break('/repo/Release', { kind: 'status', status: 500 });
    bench.origin.break('/repo/InRelease', { kind: 'status', status: 404 });
    bench.pass(day);
    expect(await visit()).toMatchObject({ outcome: 'stale', codes: ['release-expired'] });
    bench.origin.break('/repo/Release', { kind: 'status', status: 429, headers: { 'retry-after': '3600' } });
    expect(await visit()).toMatchObject({ outcome: 'stale', codes: ['release-expired'] });
    expect(await visit()).toMatchObject({ outcome: 'stale', codes: ['release-expired'], asked: [] });
  });
});

describe('a payment endpoint', () => {
  it.each(['https://user@pay.example/', 'https://user:secret@pay.example/', 'http://pay.example/', 'pay.example'])(
    'C10: that nobody should be sent to is not published, and a finding (%s)',
    async (paymentEndpoint) => {
      bench.origin.serve('repo', await generateRepository({ paymentEndpoint }));
      expect((await visit()).codes).toContain('payment-endpoint-unreadable');
      expect(await bench.store.read('repo')).toMatchObject({ paymentEndpoint: null });
    },
  );
});

describe('what an unchanged Release does not speak for', () => {
  it('C6: is asked for once a day, conditionally, and taken when it comes late', async () => {
    await serve();
    await visit();
    const signer = await createSigner();
    const files = await generateRepository({ paymentEndpoint: 'https://pay.example/v1\n' });
    const signature = await signer.sign(files.get('/Release') ?? new Uint8Array());
    bench.origin.serve('repo', files.set('/Release.gpg', Buffer.from(signature)));
    bench.pass(day - 1);
    expect((await visit()).asked).toEqual(['/Release 304']);
    bench.pass(1);
    const asked = ['/Release 304', '/InRelease 404', '/Release.gpg 200', '/payment_endpoint 200', '/Packages.bz2 304'];
    expect(await visit()).toMatchObject({ outcome: 'unchanged', asked });
    const snapshot = await bench.store.read('repo');
    expect(snapshot).toMatchObject({ hasReleaseGpg: true, paymentEndpoint: 'https://pay.example/v1' });
    expect(snapshot?.signing.state).toBe('signed');
    bench.pass(60);
    expect((await visit()).asked).toEqual(['/Release 304']);
    bench.pass(day);
    expect((await visit()).asked).toEqual(asked.map((line) => line.replace('200', '304')));
    expect(await bench.store.read('repo')).toMatchObject({ paymentEndpoint: 'https://pay.example/v1' });
    bench.origin.remove('/repo/payment_endpoint');
    bench.pass(day);
    await visit();
    expect(await bench.store.read('repo')).toMatchObject({ paymentEndpoint: null, hasReleaseGpg: true });
  });

  it('C6: is an InRelease that comes late, too', async () => {
    const files = await generateRepository();
    bench.origin.serve('repo', files);
    await visit();
    const signer = await createSigner();
    const text = await signer.clearSign(files.get('/Release') ?? new Uint8Array());
    bench.origin.serve('repo', files.set('/InRelease', Buffer.from(text)));
    bench.pass(day);
    expect(await visit()).toMatchObject({ outcome: 'fresh' });
    expect(await bench.store.read('repo')).toMatchObject({ hasInRelease: true, signing: { state: 'signed' } });
  });

  it('C6: is left alone as long as the origin asked, and the rest of the visit leaves the others alone', async () => {
    await serve();
    await visit();
    bench.origin.break('/repo/Release.gpg', { kind: 'status', status: 429, headers: { 'retry-after': '7200' } });
    bench.pass(day);
    const busy = await visit();
    expect(busy).toMatchObject({ outcome: 'unchanged', codes: ['extras-unanswered'] });
    expect(busy.asked).toEqual(['/Release 304', '/InRelease 404', '/Release.gpg 429']);
    bench.pass(7199);
    expect(await visit()).toMatchObject({ asked: ['/Release 304'], codes: ['extras-unanswered'] });
    bench.origin.mend();
    bench.pass(1);
    const after = await visit();
    expect(after.asked).toContain('/Release.gpg 404');
    expect(after.asked).toContain('/payment_endpoint 404');
    expect(after.codes).toEqual([]);
  });

  it('C6: stays as it was where the origin does not answer', async () => {
    await serve({ paymentEndpoint: 'https://pay.example/v1' });
    await visit();
    bench.origin.break('/repo/payment_endpoint', { kind: 'status', status: 500 });
    bench.origin.break('/repo/Packages.bz2', { kind: 'reset' });
    bench.pass(day);
    const outcome = await visit();
    expect(outcome).toMatchObject({ outcome: 'unchanged', codes: ['extras-unanswered'] });
    expect(await bench.store.read('repo')).toMatchObject({ paymentEndpoint: 'https://pay.example/v1' });
  });

  it.each(['InRelease', 'Release.gpg', 'payment_endpoint', 'Packages.bz2'])(
    'C8: is named if the origin does not answer: %s',
    async (name) => {
      await serve({ paymentEndpoint: 'https://pay.example/v1' });
      const text = findingText('extras-unanswered');
      for (const fault of [{ kind: 'reset' } as const, statusFault(429)]) {
        bench.origin.mend();
        await visit();
        bench.origin.break(`/repo/${name}`, fault);
        bench.pass(day);
        const { findings } = await bench.crawlOne({ limits: { repetitions: 0 } });
        const [{ code, example = '' } = {}] = findings;
        expect([code, example.match(/InRelease|Release\.gpg|payment_endpoint|Packages/g)]).toEqual([
          'extras-unanswered',
          [name.replace('.bz2', '')],
        ]);
        bench.pass(day);
      }
      if (name === 'InRelease')
        for (const said of [text.title, text.operator, text.owner]) expect(said).toContain(name);
    },
  );

  it('C5: a signature that cannot be fetched again is no signature lost', async () => {
    const signer = await createSigner();
    const files = await generateRepository({ packages: makePackages(2) });
    const signature = await signer.sign(files.get('/Release') ?? new Uint8Array());
    bench.origin.serve('repo', files.set('/Release.gpg', Buffer.from(signature)));
    await visit();
    bench.origin.break('/repo/Release.gpg', { kind: 'status', status: 500 });
    bench.pass(day);
    await visit();
    expect((await bench.store.read('repo'))?.signing.state).toBe('signed');
    bench.origin.mend();
    bench.origin.remove('/repo/Release.gpg');
    bench.pass(day);
    expect((await visit()).codes).toEqual(['signature-lost']);
  });
});

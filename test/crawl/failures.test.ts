import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { composeIndex, compress, generateRepository, makePackages } from '../support/apt-repository.ts';
import { CrawlBench, makeEntry } from '../support/crawling.ts';
import type { Fault } from '../support/origin-server.ts';
import { createSigner, signRepository } from '../support/signer.ts';

let bench: CrawlBench;

beforeEach(async () => {
  bench = await CrawlBench.start();
});

afterEach(() => bench.stop());

const page = '<!DOCTYPE html><html><body>Please pay</body></html>';
const text = composeIndex(makePackages(3));
const statusFault = (status: number, headers: Record<string, string> = {}): Fault => ({
  kind: 'status',
  status,
  headers,
});

describe('an index that is none', () => {
  const body = (content: Uint8Array | string): Fault => ({ kind: 'body', body: content });
  const broken: [string, Fault, string][] = [
    ['a web page', body(page), 'index-html'],
    ['a compressed web page', body(gzipSync(page)), 'index-html'],
    ['nothing', body(''), 'index-empty'],
    ['compressed nothing', body(gzipSync('')), 'index-empty'],
    ['white space', body(gzipSync('\n \n')), 'index-empty'],
    ['plain text', body(text), 'index-wrong-compression'],
    ['another compression', body(Buffer.from('BZh91AY&SY')), 'index-wrong-compression'],
    ['a truncated stream', body(gzipSync(text).subarray(0, 60)), 'index-truncated'],
    ['a corrupt stream', body(Buffer.from(gzipSync(text)).fill(0xff, 40, 60)), 'index-corrupt'],
    ['garbage after the stream', body(Buffer.concat([gzipSync(text), Buffer.from('<b>')])), 'index-trailing-garbage'],
    ['some other text', body(gzipSync('{"error": "no such file"}')), 'index-unreadable'],
    ['a bomb', body(gzipSync(Buffer.alloc(40_000_000))), 'index-bomb'],
    ['a cut connection', { kind: 'cut', after: 20 }, 'index-truncated'],
    ['a redirect loop', { kind: 'redirect', location: '/repo/Packages.gz' }, 'redirects'],
    ['a refusal', statusFault(403), 'index-forbidden'],
    ['a file that is not there', statusFault(404), 'index-missing'],
    ['a file that is gone', statusFault(410), 'index-missing'],
    ['304 to an unconditional request', statusFault(304), 'index-missing'],
    ['an error of the server', statusFault(500), 'server-error'],
    [
      'another transfer encoding',
      { kind: 'body', body: gzipSync(text), headers: { 'content-encoding': 'br' } },
      'index-encoded',
    ],
  ];

  it.each(broken)('C8: %s has a name', async (_what, fault, code) => {
    bench.origin.serve('repo', await generateRepository({ compressions: ['gz'], hashes: [] }));
    bench.origin.break('/repo/Packages.gz', fault);
    const outcome = await bench.crawlOne();
    expect(outcome).toMatchObject({ outcome: 'failed', code });
    expect(outcome.reason).toMatch(/Packages.gz/);
    expect(await bench.store.read('repo')).toBeUndefined();
  });

  it.each(broken)('C8: %s sends the crawl on to the other compressions', async (_what, fault, code) => {
    bench.origin.serve('repo', await generateRepository({ compressions: ['gz', 'plain'], hashes: [] }));
    bench.origin.break('/repo/Packages.gz', fault);
    const outcome = await bench.crawlOne();
    expect(outcome.outcome).toBe('fresh');
    expect((await bench.store.read('repo'))?.packages.compression).toBe('plain');
    const codes = outcome.findings.map((finding) => finding.code);
    // Where Release lists no file, what is refused cannot be told from what is not there.
    if (code !== 'index-missing' && code !== 'index-forbidden') expect(codes).toContain(code);
  });

  it('C8: of the files that are not there, those are named that Release lists', async () => {
    const files = await generateRepository({ compressions: ['xz', 'gz', 'plain'], listed: ['xz', 'plain'] });
    bench.origin.serve('repo', files);
    for (const name of ['Packages.xz', 'Packages']) bench.origin.break(`/repo/${name}`, statusFault(404));
    const { outcome, findings, asked } = await bench.crawlOne();
    expect(asked).toContain('/Packages.bz2 404');
    expect(outcome).toBe('fresh');
    expect(findings).toMatchObject([{ code: 'index-missing', count: 2, example: 'status 404 for /Packages.xz' }]);
  });

  // None of them changes what the one before left: one crawl is enough to have good data.
  it('C4: each of them leaves the last good data in place', async () => {
    bench.origin.serve('repo', await generateRepository({ compressions: ['gz'], hashes: [] }));
    await bench.crawlOne();
    const before = await bench.store.read('repo');
    bench.origin.put('/repo/Packages.gz', gzipSync(composeIndex(makePackages(4))));
    for (const [what, fault] of broken) {
      bench.pass(60);
      bench.origin.break('/repo/Packages.gz', fault);
      const { outcome, asked } = await bench.crawlOne();
      expect(asked.join(), what).toContain('/Packages.gz');
      // 304 to a conditional request is an answer like any other.
      expect(outcome, what).toBe('status' in fault && fault.status === 304 ? 'unchanged' : 'stale');
      expect(await bench.store.read('repo'), what).toMatchObject({ ...before, checkedAt: expect.any(String) });
    }
  });

  it('C2: no more is received than allowed, nor than Release lists', async () => {
    bench.origin.serve('repo', await generateRepository({ compressions: ['gz'], hashes: [] }));
    bench.origin.break('/repo/Packages.gz', { kind: 'endless', chunk: Buffer.from('\x1f\x8b', 'latin1') });
    const limits = { indexBytes: 100_000 };
    expect(await bench.crawlOne({ limits })).toMatchObject({ outcome: 'failed', code: 'index-too-large' });
    const files = await generateRepository({ compressions: ['gz'] });
    bench.origin.serve('repo', files);
    const outcome = await bench.crawlOne();
    expect(outcome).toMatchObject({ outcome: 'failed', code: 'index-mismatch' });
    expect(outcome.bytes).toBeLessThan(100_000);
  });

  it('V4: a plain index without a length counts where a hash confirms it', async () => {
    for (const hashes of [[], ['sha256']] as const) {
      bench.origin.serve('repo', await generateRepository({ compressions: ['plain'], hashes }));
      bench.origin.break('/repo/Packages', { kind: 'unframed' });
      expect((await bench.crawlOne()).code).toBe(hashes.length > 0 ? null : 'index-length-unknown');
      bench.origin.break('/repo/Packages', { kind: 'unframed', after: 100 });
      await bench.store.remove('repo');
      expect((await bench.crawlOne()).code).toBe(hashes.length > 0 ? 'index-mismatch' : 'index-length-unknown');
    }
  });
});

describe('an index that Release does not confirm', () => {
  it.each(['md5', 'sha1', 'sha256', 'sha512'] as const)(
    'C3: is refused by its %s, and the old data stays',
    async (algorithm) => {
      bench.origin.serve('repo', await generateRepository({ compressions: ['gz'], hashes: [algorithm] }));
      expect((await bench.crawlOne()).outcome).toBe('fresh');
      const before = await bench.store.read('repo');
      const files = await generateRepository({ packages: makePackages(4), compressions: ['gz'], hashes: [algorithm] });
      const wrong = Buffer.from(files.get('/Release') ?? '')
        .toString()
        .replace(/ [0-9a-f]{8}/, ' 00000000');
      bench.origin.serve('repo', files.set('/Release', Buffer.from(wrong)));
      const outcome = await bench.crawlOne();
      expect(outcome).toMatchObject({ outcome: 'stale', code: 'index-mismatch' });
      expect(outcome.reason).toContain(algorithm);
      expect(await bench.store.read('repo')).toEqual(before);
      // Release was asked for once more, in case both were just changing.
      expect(outcome.asked).toEqual(['/Release 200', '/Packages.gz 200', '/Release 304']);
    },
  );

  it('C3: is refused by its size', async () => {
    const files = await generateRepository({ compressions: ['gz'] });
    const wrong = Buffer.from(files.get('/Release') ?? '')
      .toString()
      .replace(/ (\d+) Packages/, ' 99999 Packages');
    bench.origin.serve('repo', files.set('/Release', Buffer.from(wrong)));
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'failed', code: 'index-mismatch' });
  });

  it('C3: is replaced by another that it does confirm, never by one that it does not', async () => {
    const files = await generateRepository({ compressions: ['xz', 'gz'] });
    bench.origin.serve('repo', files.set('/Packages.xz', await compress(composeIndex(makePackages(9)), 'xz')));
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', findings: [{ code: 'index-mismatch' }] });
    await bench.store.remove('repo');
    bench.origin.serve('repo', new Map([...files, ['/Packages.bz2', await compress(text, 'bz2')]]));
    bench.origin.remove('/repo/Packages.gz');
    const outcome = await bench.crawlOne();
    expect(outcome).toMatchObject({ outcome: 'failed', code: 'index-mismatch' });
    expect(outcome.asked).not.toContain('/Packages.bz2 200');
  });

  it('C3: is refused where it is an unlisted compression of another text than the listed one', async () => {
    const files = await generateRepository({ compressions: ['plain'] });
    files.set('/Packages.xz', await compress(composeIndex(makePackages(9)), 'xz'));
    files.delete('/Packages');
    bench.origin.serve('repo', files);
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'failed', code: 'index-mismatch' });
  });
});

describe('a shrunken index', () => {
  it('C4: does not replace the last good data where more than half is gone', async () => {
    bench.origin.serve('repo', await generateRepository({ packages: makePackages(10) }));
    await bench.crawlOne();
    for (const count of [4, 0]) {
      bench.origin.serve('repo', await generateRepository({ packages: makePackages(count) }));
      expect(await bench.crawlOne()).toMatchObject({ outcome: 'stale', code: 'index-shrunken' });
      expect((await bench.store.read('repo'))?.packages.stanzas).toBe(10);
    }
    bench.origin.serve('repo', await generateRepository({ packages: makePackages(5) }));
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh' });
  });
});

describe('an index whose stanzas are of no use', () => {
  const serveText = async (packages: string) =>
    bench.origin.serve('repo', await generateRepository({ packages, compressions: ['gz'] }));

  it('C4: does not replace the last good data, however many lines begin with Package', async () => {
    const whole = composeIndex(makePackages(40));
    await serveText(whole);
    await bench.crawlOne();
    const useless = [
      whole.replaceAll('Version:', 'Vers:'),
      whole.replaceAll(/^Filename:.*\n/gm, ''),
      // The same one, forty times.
      composeIndex(makePackages(1)).concat('\n').repeat(40),
    ];
    for (const text of useless) {
      await serveText(text);
      expect(await bench.crawlOne()).toMatchObject({ outcome: 'stale', code: 'index-shrunken' });
    }
    expect((await bench.store.read('repo'))?.packages.stanzas).toBe(40);
  });

  it('C4: is compared by one measure with what another version counted otherwise', async () => {
    const [good = {}] = makePackages(1);
    const useless = composeIndex(makePackages(40)).replaceAll('Version:', 'Vers:');
    await serveText(`${composeIndex([good])}\n${useless}`);
    await bench.crawlOne();
    const snapshot = await bench.store.read('repo');
    if (!snapshot) throw new Error('it was crawled');
    await bench.store.write({ ...snapshot, packages: { ...snapshot.packages, stanzas: 41 } }, []);
    await serveText(composeIndex([good]));
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh' });
    expect((await bench.store.read('repo'))?.packages.stanzas).toBe(1);
  });
});

describe('a Release that is none', () => {
  const cases: [string, Fault, string][] = [
    ['absent', statusFault(404), 'release-missing'],
    ['forbidden', statusFault(403), 'release-forbidden'],
    ['behind a paywall', statusFault(402), 'release-forbidden'],
    ['an error of the server', statusFault(500), 'server-error'],
    ['a web page', { kind: 'body', body: page }, 'release-html'],
    ['empty', { kind: 'body', body: '' }, 'release-empty'],
    ['some other text', { kind: 'body', body: '{"error": 404}' }, 'release-unreadable'],
    ['too long', { kind: 'endless' }, 'too-large'],
    ['cut short', { kind: 'cut', after: 10 }, 'truncated'],
    ['cut short without a length', { kind: 'unframed', after: 60 }, 'release-length-unknown'],
    ['a redirect loop', { kind: 'redirect', location: '/repo/Release' }, 'redirects'],
    ['a redirect to a private address', { kind: 'redirect', location: 'http://10.0.0.1/Release' }, 'address-refused'],
    ['silent', { kind: 'silent' }, 'timeout'],
    ['slow', { kind: 'slow', intervalMs: 100 }, 'too-slow'],
    ['a reset', { kind: 'reset' }, 'connection'],
    ['under giant headers', { kind: 'giant-headers', bytes: 100_000 }, 'headers-too-large'],
    ['no HTTP', { kind: 'no-http', text: 'hello\r\n' }, 'protocol'],
  ];

  it('C8: each of them has a name, and the last good data stays', async () => {
    const limits = { releaseBytes: 100_000, repetitions: 1 };
    bench.origin.serve('repo', await generateRepository());
    for (const [what, fault, code] of cases) {
      // So that an origin that could not be reached is asked again.
      bench.pass(86_400);
      bench.origin.break('/repo/Release', fault);
      const first = await bench.crawlOne({ limits });
      expect(first, what).toMatchObject({ outcome: 'failed', code, findings: [] });
      expect(first.reason, what).toMatch(/\.$/);
    }
    bench.origin.mend();
    bench.pass(86_400);
    expect((await bench.crawlOne()).outcome).toBe('fresh');
    const before = await bench.store.read('repo');
    for (const [what, fault, code] of cases) {
      bench.pass(86_400);
      bench.origin.break('/repo/Release', fault);
      expect(await bench.crawlOne({ limits }), what).toMatchObject({ outcome: 'stale', code });
      expect(await bench.store.read('repo'), what).toEqual(before);
    }
  });

  it('C8: 403 for what is not there, as object stores answer, is no fault', async () => {
    const files = await generateRepository({ compressions: ['gz'], hashes: [] });
    bench.origin.serve('repo', files);
    for (const path of ['InRelease', 'Packages.zst', 'Packages.xz', 'Packages.lzma', 'Packages.bz2', 'Release.gpg']) {
      bench.origin.break(`/repo/${path}`, statusFault(403));
    }
    const first = await bench.crawlOne();
    expect(first.asked.slice(0, 2)).toEqual(['/InRelease 403', '/Release 200']);
    expect(first).toMatchObject({ outcome: 'fresh', findings: [{ code: 'release-without-hashes' }] });
    expect((await bench.crawlOne()).asked).toEqual(['/Release 304', '/Packages.gz 304']);
    for (const status of [401, 402, 451]) {
      await bench.store.remove('repo');
      bench.origin.break('/repo/InRelease', statusFault(status));
      const { findings } = await bench.crawlOne();
      expect(findings.map(({ code }) => code)).toEqual(['release-forbidden', 'release-without-hashes']);
    }
  });

  it('C3: without a length is taken where a hash in it confirms the index, and it ends with a line', async () => {
    const files = await generateRepository();
    bench.origin.serve('repo', files);
    bench.origin.break('/repo/Release', { kind: 'unframed' });
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh' });
    await bench.store.remove('repo');
    const length = files.get('/Release')?.length ?? 0;
    bench.origin.break('/repo/Release', { kind: 'unframed', after: length - 1 });
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'failed', code: 'release-length-unknown' });
  });

  it('C3, C5: without a length and without hashes is taken where its signature holds, and not where it is cut', async () => {
    const signer = await createSigner();
    const signed = await signRepository(await generateRepository({ hashes: [] }), signer, ['Release.gpg']);
    bench.origin.serve('repo', signed);
    const length = signed.get('/Release')?.length ?? 0;
    for (const key of [undefined, signer.publicKey]) {
      const entry = makeEntry('repo', bench.origin.uri('repo'), key === undefined ? {} : { key });
      bench.origin.break('/repo/Release', { kind: 'unframed', after: length - 4 });
      expect(await bench.crawlOne({}, entry)).toMatchObject({ outcome: 'failed' });
      bench.origin.break('/repo/Release', { kind: 'unframed' });
      const outcome = await bench.crawlOne({}, entry);
      // By a key of the manifest the signature must reach the index too.
      expect(outcome).toMatchObject(key === undefined ? { outcome: 'fresh' } : { code: 'index-unverified' });
      await bench.store.remove('repo');
    }
  });

  it('C8: a web page for InRelease leads on to Release', async () => {
    bench.origin.serve('repo', await generateRepository());
    bench.origin.break('/repo/InRelease', { kind: 'body', body: page });
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', findings: [{ code: 'release-html' }] });
  });

  it('V3: an InRelease with anything around its message leads on to Release', async () => {
    bench.origin.serve('repo', await generateRepository());
    const message = '-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nOrigin: x\n-----BEGIN PGP SIGNATURE-----\n';
    bench.origin.put('/repo/InRelease', `Origin: evil\n${message}\n-----END PGP SIGNATURE-----\n`);
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', findings: [{ code: 'release-unreadable' }] });
    expect((await bench.store.read('repo'))?.release.path).toBe('/Release');
  });

  it('C8: an origin that answers every path with a web page fails as such', async () => {
    for (const path of ['InRelease', 'Release']) bench.origin.break(`/repo/${path}`, { kind: 'body', body: page });
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'failed', code: 'release-html' });
  });
});

describe('payment endpoint and signature', () => {
  it.each([
    ['https://pay.example/', 'https://pay.example/'],
    [' https://pay.example/x \n', 'https://pay.example/x'],
    ['http://pay.example/', null],
    ['https://pay.example/ https://other.example/', null],
    ['not a url', null],
    [page, null],
    ['', null],
    ['x'.repeat(5000), null],
  ])('%j gives %j', async (content, endpoint) => {
    bench.origin.serve('repo', await generateRepository({ paymentEndpoint: content }));
    expect((await bench.crawlOne()).outcome).toBe('fresh');
    expect((await bench.store.read('repo'))?.paymentEndpoint).toBe(endpoint);
  });

  it.each([
    ['-----BEGIN PGP SIGNATURE-----\n', true],
    [Buffer.of(0xc2, 1, 2), true],
    [page, false],
    ['', false],
  ])('a Release.gpg of %j counts: %j', async (content, counts) => {
    bench.origin.serve('repo', (await generateRepository()).set('/Release.gpg', Buffer.from(content)));
    await bench.crawlOne();
    const snapshot = await bench.store.read('repo');
    expect(snapshot?.hasReleaseGpg).toBe(counts);
    if (!snapshot?.signature) return;
    expect(Buffer.from(await bench.store.readFile('repo', snapshot.signature))).toEqual(Buffer.from(content));
  });

  it('their trouble does not fail the crawl', async () => {
    bench.origin.serve('repo', await generateRepository());
    bench.origin.break('/repo/Release.gpg', statusFault(429));
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', findings: [{ code: 'extras-unanswered' }] });
  });
});

describe('many repositories', () => {
  it('C7: those that fail change nothing for the others, and keep to their own budget', async () => {
    const faults: Fault[] = [
      { kind: 'silent' },
      { kind: 'reset' },
      { kind: 'slow', intervalMs: 200 },
      { kind: 'endless' },
      { kind: 'redirect', location: '/loop' },
      { kind: 'giant-headers', bytes: 100_000 },
      { kind: 'body', body: page },
      statusFault(500),
    ];
    const entries = [];
    for (let index = 0; index < 24; index++) {
      const slug = `r${String(index).padStart(2, '0')}`;
      bench.origin.serve(slug, await generateRepository({ packages: makePackages(1 + index, slug), hashes: [] }));
      const fault = faults[index / 3];
      if (fault) bench.origin.break(`/${slug}/Packages.bz2`, fault);
      if (fault) bench.origin.break(`/${slug}/Packages`, fault);
      entries.push(makeEntry(slug, bench.origin.uri(slug)));
    }
    const seen: string[] = [];
    const outcomes = await bench.crawl(entries, {
      limits: { repositoryMs: 6000, indexBytes: 1_000_000, repetitions: 1 },
      // The others are in time on a busy machine too.
      network: { headersMs: 2000, graceMs: 2000, totalMs: 6000 },
      onOutcome: ({ slug }, done, total) => seen.push(`${slug} ${done}/${total}`),
    });
    expect(outcomes.map(({ slug }) => slug)).toEqual(entries.map(({ slug }) => slug));
    expect(seen).toHaveLength(24);
    expect(seen.at(-1)).toMatch(/ 24\/24$/);
    expect(bench.origin.greatestOpen).toBeLessThanOrEqual(3);
    for (const [index, outcome] of outcomes.entries()) {
      expect(outcome.outcome, outcome.slug).toBe(faults[index / 3] ? 'failed' : 'fresh');
    }
  });

  it('C7: one that takes longer than its budget ends', async () => {
    bench.origin.serve('repo', await generateRepository());
    bench.origin.break('/repo/Packages.bz2', { kind: 'slow', intervalMs: 50 });
    const outcome = await bench.crawlOne({ limits: { repositoryMs: 300 }, network: { graceMs: 60_000 } });
    expect(outcome).toMatchObject({ outcome: 'failed', code: 'budget-exceeded' });
  });

  it('an aborted crawl rejects, and blames no repository', async () => {
    bench.origin.serve('repo', await generateRepository());
    bench.origin.break('/repo/Release', { kind: 'silent' });
    const controller = new AbortController();
    const crawl = bench.crawl([makeEntry('repo', bench.origin.uri('repo'))], { signal: controller.signal });
    setTimeout(() => controller.abort(new Error('enough')), 50);
    await expect(crawl).rejects.toThrow('enough');
    expect(await bench.store.readAttempts('repo')).toMatchObject({ failures: 0 });
  });
});

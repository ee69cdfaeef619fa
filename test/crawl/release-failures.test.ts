import { rm } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { generateRepository } from '../support/apt-repository.ts';
import { bench, useCrawlBench } from '../support/crawl-bench.ts';
import { makeEntry } from '../support/crawling.ts';
import { type Fault, statusFault, webPage } from '../support/origin-server.ts';
import { createSigner, signRepository } from '../support/signer.ts';

useCrawlBench();

describe('a Release that is none', () => {
  const cases: [string, Fault, string][] = [
    ['absent', statusFault(404), 'release-missing'],
    ['forbidden', statusFault(403), 'release-forbidden'],
    ['behind a paywall', statusFault(402), 'release-forbidden'],
    ['an error of the server', statusFault(500), 'server-error'],
    ['a web page', { kind: 'body', body: webPage }, 'release-html'],
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

  it('C8: is told as one where the snapshot was lost and 304 answers a request without a condition', async () => {
    bench.origin.serve('repo', await generateRepository());
    await bench.crawlOne();
    bench.origin.break('/repo/Release', statusFault(304));
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'unchanged', asked: ['/Release 304'] });
    await rm(`${bench.directory}/v1/repo`, { recursive: true });
    const detail = 'status 304 for /Release, which was asked for without a condition';
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'failed', code: 'release-missing', detail });
    bench.origin.mend();
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh' });
  });

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

  it('C7: is told of in a few lines, however long the address is that it led to', async () => {
    const there = `/${'a'.repeat(12_000)}`;
    bench.origin.break('/repo/Release', { kind: 'redirect', location: there });
    bench.origin.break(there, statusFault(503, { 'retry-after': '7200' }));
    const { code, reason, detail } = await bench.crawlOne();
    expect(code).toBe('origin-busy');
    expect(detail).toMatch(/^status 503 for .*a…$/);
    expect(reason?.length).toBeLessThan(1200);
    const { reason: kept } = await bench.store.readAttempts('repo');
    expect(kept).toBe(reason);
  });

  it('C8: that a redirect with control characters causes is told without them', async () => {
    bench.origin.break('/repo/Release', { kind: 'redirect', location: 'http://[\u009b31m' });
    const { detail, reason } = await bench.crawlOne();
    expect(detail).toMatch(/ redirects to "http:\/\/\[\ufffd31m"$/);
    expect(reason).not.toMatch(/\p{Cc}/u);
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
    bench.origin.break('/repo/InRelease', { kind: 'body', body: webPage });
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
    for (const path of ['InRelease', 'Release']) bench.origin.break(`/repo/${path}`, { kind: 'body', body: webPage });
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'failed', code: 'release-html' });
  });
});

import { rm, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { type FailureCode, findingTexts } from '../../src/contract/finding-texts.ts';
import type { CrawlOutcome } from '../../src/crawl/crawl.ts';
import { createFetcher } from '../../src/net/fetcher.ts';
import { composeIndex, generateRepository, makePackages } from '../support/apt-repository.ts';
import { CertificateAuthority, createCertificate } from '../support/certificates.ts';
import { bench, useCrawlBench } from '../support/crawl-bench.ts';
import { makeEntry } from '../support/crawling.ts';
import { type Fault, OriginServer, statusFault, webPage } from '../support/origin-server.ts';
import { createSigner, signRepository } from '../support/signer.ts';

const [signer, other] = [await createSigner(), await createSigner()];
const origins: OriginServer[] = [];

useCrawlBench();
afterEach(async () => {
  for (const origin of origins.splice(0)) await origin.stop();
});

type Outcome = Promise<CrawlOutcome | undefined>;
const text = composeIndex(makePackages(3));
const day = 86_400_000;

const limits = { repetitions: 0, releaseBytes: 100_000, indexBytes: 100_000 };
const pinned = (key: string) => makeEntry('repo', bench.origin.uri('repo'), { key });
const crawl = (entry = makeEntry('repo', bench.origin.uri('repo'))): Outcome => bench.crawlOne({ limits }, entry);

/** Crawls a repository of one index, which no hash confirms, with one file broken. */
const broken = (path: string, fault: Fault) => async (): Outcome => {
  bench.origin.serve('repo', await generateRepository({ compressions: ['gz'], hashes: [] }));
  bench.origin.break(`/repo${path}`, fault);
  return crawl();
};
const release = (fault: Fault) => broken('/Release', fault);
const index = (fault: Fault) => broken('/Packages.gz', fault);
const body = (content: Uint8Array | string, headers = {}): Fault => ({ kind: 'body', body: content, headers });
const redirect = (location: string): Fault => ({ kind: 'redirect', location });

/** Crawls an origin with a certificate of its own, by a client that trusts `authority`. */
const behind =
  (makeCertificate: (issuer: CertificateAuthority) => ReturnType<typeof createCertificate>, fault?: Fault) =>
  async (): Outcome => {
    const authority = new CertificateAuthority();
    const origin = await OriginServer.start('127.0.0.1', makeCertificate(authority));
    origins.push(origin);
    if (fault) for (const file of ['InRelease', 'Release']) origin.break(`/repo/${file}`, fault);
    const entry = makeEntry('repo', origin.uri('repo'));
    const [outcome] = await bench.crawl([entry], { limits, ca: authority.cert, network: { headersMs: 5000 } });
    return outcome;
  };

/** Crawls a good repository and then what `change` makes of it. */
const after = (change: () => Promise<unknown>) => async (): Outcome => {
  const files = await generateRepository({
    packages: makePackages(9),
    release: { Date: 'Mon, 01 Jun 2026 09:00:00 UTC' },
  });
  bench.origin.serve('repo', files);
  await bench.crawlOne({ limits });
  await change();
  return crawl();
};

/** Crawls a signed repository by an entry that names `key`. */
const signedAnd =
  (key: () => string, change: (files: Map<string, Uint8Array>) => Promise<Map<string, Uint8Array>>) =>
  async (): Outcome => {
    bench.origin.serve('repo', await change(await generateRepository()));
    return crawl(pinned(key()));
  };

const resolvingTo = (code: string) => async (): Outcome => {
  const fetcher = createFetcher({
    allowPrivateNetworks: false,
    resolve: (hostname) => Promise.reject(Object.assign(new Error(hostname), { code })),
  });
  const [outcome] = await bench.crawl([makeEntry('repo', 'http://gone.example/')], { fetcher, limits });
  await fetcher.close();
  return outcome;
};

/** What brings about each failure, by a crawl of what an origin really serves; the compiler asks for one of each. */
const failures: Record<Exclude<FailureCode, 'aborted'>, () => Outcome> = {
  'address-refused': release(redirect('http://10.0.0.1/')),
  'port-refused': release(redirect('http://127.0.0.1:22/')),
  'scheme-refused': release(redirect('ftp://127.0.0.1/')),
  redirects: release(redirect('/repo/Release')),
  'redirect-insecure': behind((issuer) => createCertificate({ issuer }), redirect('http://127.0.0.1/')),
  'redirect-unreadable': release(redirect('http://[')),
  'no-network': resolvingTo('ENETUNREACH'),
  dns: resolvingTo('ENOTFOUND'),
  connection: release({ kind: 'reset' }),
  'certificate-expired': behind((issuer) =>
    createCertificate({ issuer, from: new Date(Date.now() - 9 * day), until: new Date(Date.now() - day) }),
  ),
  'certificate-untrusted': behind(() => createCertificate()),
  'certificate-name': behind((issuer) => createCertificate({ issuer, names: ['a.example'] })),
  tls: () => crawl(makeEntry('repo', bench.origin.uri('repo').replace('http:', 'https:'))),
  timeout: release({ kind: 'silent' }),
  'too-slow': release({ kind: 'slow', intervalMs: 100 }),
  'too-large': release({ kind: 'endless' }),
  'headers-too-large': release({ kind: 'giant-headers', bytes: 100_000 }),
  truncated: release({ kind: 'cut', after: 10 }),
  protocol: async () => {
    for (const text of [
      'HTTP/1.1 100 Continue\r\n\r\n',
      'HTTP/1.1 101 No\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
    ])
      expect(await release({ kind: 'no-http', text })()).toMatchObject({ code: 'protocol' });
    return release({ kind: 'no-http', text: 'SSH-2.0\r\n' })();
  },
  'origin-busy': release(statusFault(429, { 'retry-after': '600' })),
  'server-error': release(statusFault(500)),
  'budget-exceeded': async () => {
    bench.origin.break('/repo/InRelease', { kind: 'silent' });
    return bench.crawlOne({ limits: { ...limits, repositoryMs: 50 } });
  },
  'backing-off': async () => {
    await release(statusFault(429, { 'retry-after': '600' }))();
    return crawl();
  },
  'release-missing': release(statusFault(404)),
  'release-forbidden': release(statusFault(403)),
  'release-html': release(body(webPage)),
  'release-empty': release(body('')),
  'release-unreadable': release(body('{}')),
  'release-length-unknown': release({ kind: 'unframed' }),
  'release-older': after(async () =>
    bench.origin.serve('repo', await generateRepository({ release: { Date: 'Mon, 01 Jun 2026 08:00:00 UTC' } })),
  ),
  'signature-missing': signedAnd(
    () => signer.publicKey,
    async (files) => files,
  ),
  'signature-unanswered': async () => {
    bench.origin.break('/repo/Release.gpg', statusFault(500));
    return signedAnd(
      () => signer.publicKey,
      async (files) => files,
    )();
  },
  'signature-lost': async () => {
    bench.origin.serve('repo', await signRepository(await generateRepository(), signer));
    await crawl(pinned(signer.publicKey));
    bench.origin.serve('repo', await generateRepository({ packages: makePackages(4) }));
    return crawl(pinned(signer.publicKey));
  },
  'signature-bad': signedAnd(
    () => signer.publicKey,
    async (files) => files.set('/Release.gpg', Buffer.from(await signer.sign('something else'))),
  ),
  'signature-weak': async () => {
    const rsa = await createSigner({ rsa: true });
    return signedAnd(
      () => rsa.publicKey,
      async (files) =>
        files.set('/Release.gpg', Buffer.from(await rsa.signWeakly(files.get('/Release') ?? '', 'sha1'))),
    )();
  },
  'signature-binary': signedAnd(
    () => signer.publicKey,
    async (files) => files.set('/Release.gpg', await signer.signBinary(files.get('/Release') ?? '')),
  ),
  'signature-key-changed': signedAnd(
    () => signer.publicKey,
    (files) => signRepository(files, other),
  ),
  'signature-key-expired': async () => {
    const short = await createSigner({ validSeconds: 151 * 86_400 + 3600 });
    return signedAnd(
      () => short.publicKey,
      (files) => signRepository(files, short),
    )();
  },
  'signature-key-revoked': signedAnd(
    () => signer.revoked,
    (files) => signRepository(files, signer),
  ),
  'signature-expired': signedAnd(
    () => signer.publicKey,
    (files) => signRepository(files, signer, ['InRelease'], { validSeconds: 3600 }),
  ),
  'index-missing': index(statusFault(404)),
  'index-forbidden': index(statusFault(403)),
  'index-html': index(body(webPage)),
  'index-empty': index(body('')),
  'index-wrong-compression': index(body(text)),
  'index-truncated': index(body(gzipSync(text).subarray(0, 60))),
  'index-corrupt': index(body(Buffer.from(gzipSync(text)).fill(0xff, 40, 60))),
  'index-bomb': index(body(gzipSync(Buffer.alloc(20_000_000)))),
  'index-trailing-garbage': index(body(Buffer.concat([gzipSync(text), Buffer.from('<b>')]))),
  'index-too-large': index({ kind: 'endless', chunk: Buffer.from('\x1f\x8b', 'latin1') }),
  'index-unreadable': index(body(gzipSync('{}'))),
  'index-length-unknown': async () => {
    bench.origin.serve('repo', await generateRepository({ compressions: ['plain'], hashes: [] }));
    bench.origin.break('/repo/Packages', { kind: 'unframed' });
    return crawl();
  },
  'index-encoded': index(body(gzipSync(text), { 'content-encoding': 'br' })),
  'index-mismatch': async () => {
    const files = await generateRepository({ compressions: ['gz'] });
    bench.origin.serve('repo', files.set('/Packages.gz', gzipSync('x')));
    return crawl();
  },
  'index-unverified': async () => {
    bench.origin.serve('repo', await signRepository(await generateRepository({ hashes: ['md5'] }), signer));
    return crawl(pinned(signer.publicKey));
  },
  'index-shrunken': after(async () => bench.origin.serve('repo', await generateRepository())),
  // Where the folder of the store should be, there is a file.
  'store-failed': async () => {
    await rm(bench.directory, { recursive: true });
    await writeFile(bench.directory, 'in the way');
    return release(statusFault(404))().then(() => release({ kind: 'unframed', after: 0 })());
  },
  internal: async () => {
    bench.origin.serve('repo', await generateRepository());
    const failing = { fetch: () => Promise.reject(new TypeError('no such thing')), close: async () => {} };
    return bench.crawlOne({ limits, fetcher: failing });
  },
};

describe('every failure that has a code', () => {
  it.each(Object.entries(failures))('C8: %s is the outcome of a crawl', async (code, bringAbout) => {
    const outcome = await bringAbout();
    expect(outcome?.code).toBe(code);
    const { operator, owner } = findingTexts[code as FailureCode];
    const [before, behindIt] = operator.split('{}');
    expect(outcome?.reason).toMatch(/^[A-Z].*\.$/s);
    expect(outcome?.reason?.startsWith(before ?? '') && outcome.reason.endsWith(behindIt ?? '')).toBe(true);
    expect(outcome?.detail, 'there is evidence').not.toBe('');
    if (/^(?:too-slow|too-large|headers-too-large|truncated|protocol)$/.test(code)) {
      expect(outcome?.detail, 'which names the file').toContain('/Release');
    }
    expect(outcome?.reason, 'which is published').not.toContain(bench.directory);
    expect(owner).toMatch(/\.$/);
  });

  it('C8: aborted is none: a crawl that is stopped has no outcomes, and a budget that ends has a code of its own', async () => {
    bench.origin.break('/repo/InRelease', { kind: 'silent' });
    const entry = makeEntry('repo', bench.origin.uri('repo'));
    const stopped = bench.crawl([entry], { signal: AbortSignal.timeout(100), limits });
    await expect(stopped).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(await bench.store.readAttempts('repo')).toMatchObject({ failures: 0 });
  });
});

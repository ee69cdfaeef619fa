import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { operatorSentence } from '../../src/contract/finding-texts.ts';
import { createFetcher } from '../../src/net/fetcher.ts';
import { generateRepository } from '../support/apt-repository.ts';
import { type Certificate, CertificateAuthority, createCertificate } from '../support/certificates.ts';
import { bench, useCrawlBench } from '../support/crawl-bench.ts';
import { makeEntry } from '../support/crawling.ts';
import { OriginServer } from '../support/origin-server.ts';

const day = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * day);

let authority: CertificateAuthority;
const origins: OriginServer[] = [];

beforeAll(() => {
  authority = new CertificateAuthority();
});

useCrawlBench();
beforeEach(async () => {
  bench.origin.serve('repo', await generateRepository());
});

afterEach(async () => {
  for (const origin of origins.splice(0)) await origin.stop();
});

/** An origin with a whole repository below `/repo`; without a certificate it speaks http. */
const start = async (address: string, certificate?: Certificate, port?: number): Promise<OriginServer> => {
  const origin = await OriginServer.start(address, certificate, port);
  origins.push(origin);
  origin.serve('repo', await generateRepository());
  return origin;
};

const startSecure = (certificate = createCertificate({ issuer: authority })) => start('127.0.0.1', certificate);

const paths = ['InRelease', 'Release', 'Packages', 'Packages.bz2', 'Release.gpg', 'payment_endpoint'];

const redirectAll = (from: OriginServer, to: OriginServer): void => {
  for (const path of paths.map((file) => `repo/${file}`)) {
    from.break(`/${path}`, { kind: 'redirect', location: to.uri(path), status: 301 });
  }
};

const crawl = async (uri: string) => {
  const [outcome] = await bench.crawl([makeEntry('repo', uri)], {
    ca: authority.cert,
    network: { headersMs: 5000 },
    limits: { repetitions: 0 },
  });
  return outcome;
};

describe('an origin that speaks TLS', () => {
  it('is crawled where its certificate is in order', async () => {
    const origin = await startSecure();
    expect(origin.uri()).toMatch(/^https:/);
    expect(await crawl(origin.uri('repo'))).toMatchObject({ outcome: 'fresh', findings: [] });
    expect(await crawl(origin.uri('repo'))).toMatchObject({ outcome: 'unchanged', requests: 1 });
  });

  // A redirect may keep the port of the first address, so two servers at two addresses of loopback share one.
  it('C1: a redirect from https to http is not followed, and no connection is made for it', async () => {
    const secure = await startSecure();
    const plain = await start('127.0.0.2', undefined, secure.port);
    redirectAll(secure, plain);
    const outcome = await crawl(secure.uri('repo'));
    expect(outcome).toMatchObject({ outcome: 'failed', code: 'redirect-insecure' });
    expect(outcome?.reason).toContain('from https to http');
    expect(plain.greatestOpen).toBe(0);
  });

  it('C1: nor is one that leads from http to https and back to http', async () => {
    const secure = await startSecure();
    const first = await start('127.0.0.2', undefined, secure.port);
    const last = await start('127.0.0.3', undefined, secure.port);
    redirectAll(first, secure);
    redirectAll(secure, last);
    expect(await crawl(first.uri('repo'))).toMatchObject({ outcome: 'failed', code: 'redirect-insecure' });
    expect(secure.requests).toHaveLength(2);
    expect(last.greatestOpen).toBe(0);
  });

  it('C1: one from http to https is followed, and the certificate checked as ever', async () => {
    const secure = await startSecure();
    const plain = await start('127.0.0.2', undefined, secure.port);
    redirectAll(plain, secure);
    expect(await crawl(plain.uri('repo'))).toMatchObject({ outcome: 'fresh', findings: [{ code: 'redirected' }] });
    expect(secure.requests.map(({ path }) => path)).toContain('/repo/Packages.bz2');
    const doubtful = await start('127.0.0.3', createCertificate({ names: ['127.0.0.3'] }), secure.port);
    redirectAll(plain, doubtful);
    expect(await crawl(plain.uri('repo'))).toMatchObject({ outcome: 'stale', code: 'certificate-untrusted' });
    expect(doubtful.requests).toEqual([]);
  });

  it('C6: the headers of a repository do not follow from http to https of the same host: they are for one origin', async () => {
    const secure = await start('127.0.0.1', createCertificate({ names: ['repo.example'], issuer: authority }));
    const plain = await start('127.0.0.2', undefined, secure.port);
    plain.break('/repo/Release', { kind: 'redirect', location: `https://repo.example:${secure.port}/repo/Release` });
    const addresses = ['127.0.0.2', '127.0.0.1'];
    const fetcher = createFetcher({
      allowPrivateNetworks: ['127.0.0.0/8'],
      ca: authority.cert,
      resolve: async () => [{ address: addresses.shift() ?? '', family: 4 }],
    });
    const url = new URL(`http://repo.example:${secure.port}/repo/Release`);
    await (await fetcher.fetch(url, { maxBytes: 10_000, headers: { 'x-machine': 'iPhone10,1' } })).discard();
    await fetcher.close();
    await expect.poll(() => [plain.requests.length, secure.requests.length]).toEqual([1, 1]);
    expect(plain.requests[0]?.headers).toHaveProperty('x-machine');
    expect(secure.requests[0]?.headers).not.toHaveProperty('x-machine');
  });

  const refused: [string, string, () => Certificate, RegExp][] = [
    [
      'has expired',
      'certificate-expired',
      () => createCertificate({ issuer: authority, from: inDays(-30), until: inDays(-1) }),
      /expired/,
    ],
    [
      'is not valid yet',
      'certificate-expired',
      () => createCertificate({ issuer: authority, from: inDays(1), until: inDays(30) }),
      /not yet valid/,
    ],
    ['signs itself', 'certificate-untrusted', () => createCertificate(), /self-signed/],
    [
      'is of an unknown authority',
      'certificate-untrusted',
      () => createCertificate({ issuer: new CertificateAuthority('Stranger') }),
      /unable to verify/,
    ],
    [
      'is for another host',
      'certificate-name',
      () => createCertificate({ issuer: authority, names: ['repo.example.org'] }),
      /not in the cert's list|does not match/,
    ],
  ];

  it.each(refused)(
    'C1, C8: a certificate that %s has a name, and no request is sent',
    async (_what, code, make, why) => {
      const origin = await startSecure(make());
      const outcome = await crawl(origin.uri('repo'));
      expect(outcome).toMatchObject({ outcome: 'failed', code });
      expect(outcome?.detail).toMatch(why);
      expect(outcome?.detail).toContain(new URL(origin.uri()).host);
      expect(outcome?.reason).toBe(operatorSentence(code as 'tls', outcome?.detail ?? ''));
      expect(outcome?.reason).not.toContain('Node.js');
      expect(origin.requests).toEqual([]);
    },
  );

  it('C4: a certificate that expires leaves the last good data in place', async () => {
    const origin = await startSecure();
    await crawl(origin.uri('repo'));
    const before = await bench.store.read('repo');
    const [uri, { port }] = [origin.uri('repo'), origin];
    await origin.stop();
    origins.length = 0;
    const over = createCertificate({ issuer: authority, from: inDays(-30), until: inDays(-1) });
    await start('127.0.0.1', over, port);
    expect(await crawl(uri)).toMatchObject({ outcome: 'stale', code: 'certificate-expired' });
    expect(await bench.store.read('repo')).toEqual(before);
  });

  it('C8: one that speaks no TLS at all has a name', async () => {
    const outcome = await crawl(bench.origin.uri('repo').replace('http:', 'https:'));
    expect(outcome).toMatchObject({ outcome: 'failed', code: 'tls' });
  });
});

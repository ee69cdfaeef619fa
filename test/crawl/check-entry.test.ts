import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkEntries } from '../../src/crawl/check-entry.ts';
import { createFetcher } from '../../src/net/fetcher.ts';
import { NetworkError } from '../../src/net/network-error.ts';
import { generateRepository } from '../support/apt-repository.ts';
import { CertificateAuthority, createCertificate } from '../support/certificates.ts';
import { makeEntry } from '../support/crawling.ts';
import { OriginServer } from '../support/origin-server.ts';
import { createSigner, signRepository } from '../support/signer.ts';

const files = ['InRelease', 'Release', 'Release.gpg'];

describe('a check of an entry', () => {
  let origin: OriginServer;
  let secure: OriginServer;
  const authority = new CertificateAuthority();
  const now = () => new Date();

  beforeAll(async () => {
    origin = await OriginServer.start();
    secure = await OriginServer.start('127.0.0.1', createCertificate({ issuer: authority }));
  });
  afterAll(() => Promise.all([origin.stop(), secure.stop()]));

  const check = async (...entries: Parameters<typeof checkEntries>[0]) => {
    const fetcher = createFetcher({
      allowPrivateNetworks: ['127.0.0.0/8'],
      ca: authority.cert,
      resolve: (hostname) => Promise.reject(Object.assign(new Error(`${hostname}: none`), { code: 'ENOTFOUND' })),
    });
    try {
      return await checkEntries(entries, { fetcher, now, concurrency: 4 });
    } finally {
      await fetcher.close();
    }
  };
  const redirect = (from: OriginServer, prefix: string, to: string, status: number) => {
    for (const file of files) {
      from.break(`/${prefix}/${file}`, { kind: 'redirect', location: `${to}/${file}`, status });
    }
  };

  it('C6: asks three small files at the most, and says whether and by whom the Release is signed', async () => {
    const signer = await createSigner();
    const other = await createSigner();
    const plain = await generateRepository();
    const signed = await signRepository(plain, signer);
    origin.serve('plain', plain);
    origin.serve('signed', signed);
    origin.serve('detached', new Map([...signed].filter(([path]) => path !== '/InRelease')));
    origin.reset();
    const found = await check(
      makeEntry('plain', origin.uri('plain')),
      makeEntry('signed', origin.uri('signed')),
      makeEntry('detached', origin.uri('detached')),
      makeEntry('pinned', `${origin.uri('signed')}//`, { key: signer.publicKey }),
      makeEntry('other', origin.uri('detached'), { key: other.publicKey }),
    );
    const by = { signers: [signer.fingerprint], fault: null };
    expect(found).toEqual([
      { slug: 'plain', state: 'answers', signed: null, move: null },
      { slug: 'signed', state: 'answers', signed: by, move: null },
      { slug: 'detached', state: 'answers', signed: by, move: null },
      { slug: 'pinned', state: 'answers', signed: by, move: null },
      { slug: 'other', state: 'answers', signed: { ...by, fault: 'other-key' }, move: null },
    ]);
    expect(origin.requests).toHaveLength(3 + 1 + 3 + 1 + 3);
    expect(origin.greatestOpen).toBeLessThanOrEqual(2);
  });

  it('C6: follows a permanent redirect to a new address, and takes no other for one', async () => {
    for (const server of [origin, secure]) server.serve('new', await generateRepository());
    redirect(secure, 'moved', '/new', 308);
    redirect(secure, 'away', '/new', 302);
    redirect(secure, 'through', '/moved', 301);
    redirect(secure, 'mixed', '/moved', 307);
    redirect(secure, 'downgraded', origin.uri('new'), 301);
    redirect(origin, 'plain', '/new', 301);
    // A redirect may lead to the usual ports and to its own.
    const neighbour = await OriginServer.start('127.0.0.3', undefined, secure.port);
    redirect(neighbour, 'plain', secure.uri('new'), 301);
    const found = await check(
      ...['moved', 'away', 'through', 'mixed', 'downgraded'].map((slug) => makeEntry(slug, secure.uri(slug))),
      makeEntry('plain', origin.uri('plain')),
      makeEntry('neighbour', neighbour.uri('plain')),
    );
    await neighbour.stop();
    expect(found.map((one) => (one.state === 'answers' ? one.move : one.code))).toEqual([
      { uri: secure.uri('new'), isSecure: true },
      null,
      { uri: secure.uri('new'), isSecure: true },
      null,
      'redirect-insecure',
      { uri: origin.uri('new'), isSecure: false },
      { uri: secure.uri('new'), isSecure: false },
    ]);
  });

  it('C6: a redirect that names the file in a query tells of no address', async () => {
    origin.serve('new', await generateRepository());
    for (const file of files) {
      const location = `/give?file=/queried/${file}`;
      origin.break(`/queried/${file}`, { kind: 'redirect', location, status: 301 });
    }
    origin.put('/give', 'Origin: x\n');
    expect(await check(makeEntry('queried', origin.uri('queried')))).toMatchObject([{ state: 'answers', move: null }]);
  });

  it('C8: a name whose servers do not answer just now is not gone', async () => {
    const failure = new NetworkError('dns', 'no answer', { transient: true });
    const fetcher = { fetch: () => Promise.reject(failure) };
    const entries = [makeEntry('away', 'https://away.example/repo')];
    expect(await checkEntries(entries, { fetcher, now, concurrency: 1 })).toMatchObject([
      { state: 'unreachable', code: 'dns' },
    ]);
  });

  it('C8: tells what is gone from what may be there tomorrow', async () => {
    origin.break('/busy/InRelease', { kind: 'status', status: 503 });
    origin.break('/busy/Release', { kind: 'status', status: 503 });
    for (const name of ['InRelease', 'Release']) origin.break(`/closed/${name}`, { kind: 'status', status: 410 });
    for (const file of files)
      origin.break(`/parked/${file}`, { kind: 'body', body: '\ufeff\n<!doctype html><p>For sale' });
    origin.break('/reset/InRelease', { kind: 'reset' });
    const found = await check(
      makeEntry('nobody', 'https://nobody.example/repo'),
      makeEntry('none', origin.uri('none')),
      makeEntry('closed', origin.uri('closed')),
      makeEntry('parked', origin.uri('parked')),
      makeEntry('busy', origin.uri('busy')),
      makeEntry('reset', origin.uri('reset')),
    );
    expect(found.map((one) => [one.state, 'code' in one && one.code])).toEqual([
      ['gone', 'dns'],
      ['gone', 'status'],
      ['gone', 'status'],
      ['gone', 'html'],
      ['unreachable', 'status'],
      ['unreachable', 'connection'],
    ]);
  });
});

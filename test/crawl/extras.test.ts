import { describe, expect, it } from 'vitest';
import { limits } from '../../src/contract/limits.ts';
import { generateRepository } from '../support/apt-repository.ts';
import { bench, useCrawlBench } from '../support/crawl-bench.ts';
import { statusFault, webPage } from '../support/origin-server.ts';

useCrawlBench();

const block = '-----BEGIN PGP SIGNATURE-----\n\nabcd\n-----END PGP SIGNATURE-----\n';

describe('payment endpoint and signature', () => {
  it.each([
    ['https://pay.example/', 'https://pay.example/'],
    [' https://pay.example/x \n', 'https://pay.example/x'],
    ['http://pay.example/', null],
    ['https://user@pay.example/', null],
    ['https://pay.example/ https://other.example/', null],
    ['not a url', null],
    [webPage, null],
    ['', null],
    ['x'.repeat(5000), null],
  ])('%j gives %j', async (content, endpoint) => {
    bench.origin.serve('repo', await generateRepository({ paymentEndpoint: content }));
    expect((await bench.crawlOne()).outcome).toBe('fresh');
    expect((await bench.store.read('repo'))?.paymentEndpoint).toBe(endpoint);
  });

  it.each([
    ['-----BEGIN PGP SIGNATURE-----\n', true],
    [block + block, true],
    [`${block}\n${block}`, false],
    [`${block}\n`, false],
    [`${block}and more\n`, false],
    [Buffer.of(0xc2, 1, 2), true],
    [webPage, false],
    ['', false],
  ])('a Release.gpg of %j counts: %j', async (content, counts) => {
    bench.origin.serve('repo', (await generateRepository()).set('/Release.gpg', Buffer.from(content)));
    await bench.crawlOne();
    const snapshot = await bench.store.read('repo');
    expect(snapshot?.hasReleaseGpg).toBe(counts);
    if (!snapshot?.signature) return;
    expect(Buffer.from(await bench.store.readFile('repo', snapshot.signature))).toEqual(Buffer.from(content));
  });

  it('C7: a Release.gpg that is too long is none, names its limit, and is not asked for at each visit', async () => {
    const files = await generateRepository();
    bench.origin.serve('repo', files.set('/Release.gpg', Buffer.alloc(limits.signatureBytes + 1)));
    const [found] = (await bench.crawlOne()).findings;
    expect(found).toMatchObject({
      code: 'signature-unreadable',
      example: expect.stringContaining('limit signatureBytes'),
    });
    expect((await bench.store.read('repo'))?.signing.state).toBe('unsigned');
    bench.pass(3600);
    expect((await bench.crawlOne()).asked).not.toContain('/repo/Release.gpg');
  });

  it('are asked for at once where the clock was ahead the last time', async () => {
    const month = 30 * 86_400;
    bench.origin.serve('repo', await generateRepository({ paymentEndpoint: 'https://one.example/' }));
    bench.pass(month);
    await bench.crawlOne();
    bench.pass(-month);
    bench.origin.serve('repo', await generateRepository({ paymentEndpoint: 'https://two.example/' }));
    await bench.crawlOne();
    expect((await bench.store.read('repo'))?.paymentEndpoint).toBe('https://two.example/');
  });

  it('their trouble does not fail the crawl', async () => {
    bench.origin.serve('repo', await generateRepository());
    bench.origin.break('/repo/Release.gpg', statusFault(429));
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh', findings: [{ code: 'extras-unanswered' }] });
  });
});

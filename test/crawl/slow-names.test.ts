import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { backOff } from '../../src/crawl/back-off.ts';
import { CrawlError } from '../../src/crawl/crawl-error.ts';
import { createFetcher } from '../../src/net/fetcher.ts';
import { createResolver } from '../../src/net/resolver.ts';
import { noAttempts } from '../../src/snapshots/snapshot.ts';
import { generateRepository } from '../support/apt-repository.ts';
import { bench, useCrawlBench } from '../support/crawl-bench.ts';
import { makeEntry } from '../support/crawling.ts';
import { NameServer } from '../support/name-server.ts';

let server: NameServer;

useCrawlBench();
beforeEach(async () => {
  bench.origin.serve('repo', await generateRepository());
  server = await NameServer.start((name) => (name.startsWith('slow') ? 'silence' : ['127.0.0.1']));
});

afterEach(async () => {
  await server.stop();
});

const entryOf = (slug: string) => makeEntry(slug, `http://${slug}.example:${bench.origin.port}/repo`);

describe('name servers that do not answer', () => {
  it('C7: cost their own repositories their time, and no other one anything', async () => {
    const slow = Array.from({ length: 8 }, (_, number) => entryOf(`slow${number}`));
    const good = Array.from({ length: 30 }, (_, number) => entryOf(`good${number}`));
    const resolve = createResolver({ servers: [server.address] });
    // A resolver that never gives up, so that the eight are waited for still however slow this machine is.
    const insist: typeof resolve = (name, signal) =>
      resolve(name, signal).catch(async (error) => {
        if (!signal.aborted) await once(signal, 'abort');
        throw error;
      });
    const fetcher = createFetcher({
      allowPrivateNetworks: ['127.0.0.0/8'],
      resolve: insist,
      limits: { lookupMs: 200_000, connectMs: 60_000, headersMs: 60_000, graceMs: 60_000, totalMs: 200_000 },
    });
    const slugs: string[] = [];
    const clock = AbortSignal.timeout(60_000);
    const enough = new AbortController();
    const crawl = bench.crawl([...slow, ...good], {
      fetcher,
      signal: enough.signal,
      limits: { repositoryMs: 200_000 },
      onOutcome: ({ slug, outcome }) => {
        slugs.push(`${slug} ${outcome}`);
        // The eight are waited for still.
        if (slugs.length === good.length) enough.abort();
      },
    });
    await expect(crawl).rejects.toThrow();
    // Nor does what is waited for still outlive the word to stop.
    expect(clock.aborted).toBe(false);
    await fetcher.close();
    expect(slugs.sort()).toEqual(good.map(({ slug }) => `${slug} fresh`).sort());
    for (const { slug } of good) expect((await bench.store.readAttempts(slug)).failures).toBe(0);
  });

  it('C7: are a failure of the repository with a word for it', async () => {
    const fetcher = createFetcher({
      allowPrivateNetworks: ['127.0.0.0/8'],
      resolve: createResolver({ servers: [server.address] }),
      limits: { lookupMs: 100 },
    });
    expect(await bench.crawl([entryOf('slow')], { fetcher })).toMatchObject([{ code: 'dns', requests: 1 }]);
    await fetcher.close();
  });

  it('C7: do not keep a process whose work is done', async () => {
    const script = `
      import { createFetcher } from './src/net/fetcher.ts';
      import { createResolver } from './src/net/resolver.ts';
      const fetcher = createFetcher({ allowPrivateNetworks: true, resolve: createResolver({ servers: ['${server.address}'] }) });
      const asked = Array.from({ length: 20 }, (_, n) => fetcher.fetch(new URL('http://slow' + n + '.example/'), { maxBytes: 1 }).catch(() => {}));
      process.stdin.once('data', async () => { await fetcher.close(); process.stdin.destroy(); process.stdout.write('closed\\n'); });
      process.stdout.write('asking\\n');
    `;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: path.join(import.meta.dirname, '..', '..'),
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    while (server.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    child.stdin.write('done\n');
    await once(child.stdout, 'data');
    const closed = performance.now();
    const [status] = await once(child, 'exit');
    expect(status).toBe(0);
    // A query that nobody cancels is repeated for longer than this.
    expect(performance.now() - closed).toBeLessThan(4000);
  });
});

describe('a failure of ours', () => {
  it.each(['no-network', 'store-failed', 'internal'] as const)(
    'C6, C7: %s is not counted against an origin',
    (code) => {
      const before = { ...noAttempts, failures: 3, notBefore: '2026-06-01T11:00:00.000Z' };
      const after = backOff.failed(before, new CrawlError(code, 'x'), bench.now);
      expect(after).toMatchObject({
        failures: 3,
        notBefore: before.notBefore,
        code,
        failedAt: bench.now.toISOString(),
      });
    },
  );

  it('C6, C7: name servers of ours that all fail send nobody into a pause', async () => {
    const broken = await NameServer.start(() => ({ error: 2 }));
    const resolve = createResolver({ servers: [broken.address] });
    const fetcher = createFetcher({ allowPrivateNetworks: ['127.0.0.0/8'], resolve, limits: { lookupMs: 50 } });
    const entry = entryOf('good');
    for (let run = 0; run < 3; run++) {
      const [outcome] = await bench.crawl([entry], { fetcher, limits: { repetitions: 0 } });
      expect(outcome?.code).toBe('no-network');
    }
    await fetcher.close();
    await broken.stop();
    expect(await bench.crawl([entry], { fetcher: createGood() })).toMatchObject([{ outcome: 'fresh' }]);
  });
});

const createGood = () =>
  createFetcher({
    allowPrivateNetworks: ['127.0.0.0/8'],
    resolve: createResolver({ servers: [server.address] }),
  });

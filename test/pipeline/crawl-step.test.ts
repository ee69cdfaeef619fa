import { Writable } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { createFetcher, type Fetcher } from '../../src/net/fetcher.ts';
import { NetworkError } from '../../src/net/network-error.ts';
import type { BuildInput, PreparedInput } from '../../src/pipeline/build-input.ts';
import { crawl, prepareCrawl } from '../../src/pipeline/crawl-step.ts';
import { Progress } from '../../src/pipeline/progress.ts';
import { whileClaimed } from '../../src/publication/owner.ts';
import { RemovalsHeld } from '../../src/snapshots/removals.ts';
import { openStore } from '../../src/snapshots/store.ts';
import { generateRepository } from '../support/apt-repository.ts';
import { buildCatalog, packages } from '../support/catalog.ts';
import { makeEntry } from '../support/crawling.ts';
import { temporaryFolder } from '../support/folder.ts';
import { OriginServer } from '../support/origin-server.ts';

/** Stands for a stream that is no terminal; what is written to it is kept. */
const openStream = () => {
  const written: string[] = [];
  const stream = new Writable({ write: (piece, _, done) => done(void written.push(String(piece))) });
  return { written, stream: stream as NodeJS.WriteStream };
};

/** What a crawl of three repositories says in between, where that is the failure of each by its host. */
const crawlWith = async (failureOf: (host: string) => NetworkError) => {
  const { written, stream } = openStream();
  const input = {
    entries: ['a', 'b', 'c'].map((slug) => makeEntry(slug, `https://${slug}.example/`)),
    store: openStore(temporaryFolder()),
    fetcher: { fetch: ({ hostname }: URL) => Promise.reject(failureOf(hostname)), close: async () => {} },
    now: () => new Date(),
    service: {},
    progress: new Progress(stream),
  };
  const outcomes = await crawl(input as unknown as PreparedInput);
  return { codes: outcomes.map(({ code }) => code), written };
};

it('tells at once, and once, that there is no network, since the last of many is given up much later', async () => {
  const offline = new NetworkError('no-network', 'no name server of the system answers', { transient: false });
  expect(await crawlWith(() => offline)).toEqual({
    codes: ['no-network', 'no-network', 'no-network'],
    written: [
      'The network cannot be reached: no name server of the system answers. The other repositories are tried all the same.\n',
    ],
  });
});

it('says of no network that it cannot be reached where one host alone cannot, as one with IPv6 only', async () => {
  const unreachable = new NetworkError('no-network', 'connect ENETUNREACH 2001:db8::1:443', { transient: false });
  const refused = new NetworkError('dns', 'queryA ENOTFOUND', { transient: false });
  expect(await crawlWith((host) => (host === 'a.example' ? unreachable : refused))).toEqual({
    codes: ['no-network', 'dns', 'dns'],
    written: [],
  });
});

it('says of no network that it cannot be reached once one repository was', async () => {
  const origin = await OriginServer.start();
  const real = createFetcher({ allowPrivateNetworks: ['127.0.0.0/8'] });
  onTestFinished(async () => {
    await real.close();
    await origin.stop();
  });
  origin.serve('sound', await generateRepository());
  const { written, stream } = openStream();
  const offline = new NetworkError('no-network', 'connect ENETUNREACH', { transient: false });
  const fetch: Fetcher['fetch'] = (url, ...more) =>
    url.href.startsWith(origin.uri('sound')) ? real.fetch(url, ...more) : Promise.reject(offline);
  const others = ['a', 'b', 'c', 'd'].map((slug) => makeEntry(slug, `https://${slug}.example/`));
  const outcomes = await crawl({
    entries: [makeEntry('sound', origin.uri('sound')), ...others],
    store: openStore(temporaryFolder()),
    fetcher: { fetch, close: async () => {} },
    now: () => new Date(),
    service: {},
    concurrency: 1,
    progress: new Progress(stream),
  } as unknown as PreparedInput);
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(['fresh', 'failed', 'failed', 'failed', 'failed']);
  expect(written).toEqual([]);
});

it('C4: a manifest takes the place of the whole sample without a word, and that of another manifest on a word alone', async () => {
  for (const source of ['sample', 'manifest'] as const) {
    const [state, out] = [temporaryFolder(), temporaryFolder()];
    await whileClaimed(out, state, source, async () => {});
    const repositories = ['a', 'b', 'c'].map((slug) => ({ slug, packages: packages({ Package: `com.${slug}` }) }));
    await buildCatalog(state, repositories);
    const entries = [makeEntry('own', 'https://own.example/')];
    const prepared = prepareCrawl({ state, out, entries } as unknown as BuildInput);
    if (source === 'sample') expect((await prepared).entries).toHaveLength(1);
    else await expect(prepared).rejects.toThrow(RemovalsHeld);
  }
});

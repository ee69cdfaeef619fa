import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { NetworkError } from '../../src/net/network-error.ts';
import type { PreparedInput } from '../../src/pipeline/build-input.ts';
import { crawl } from '../../src/pipeline/crawl-step.ts';
import { Progress } from '../../src/pipeline/progress.ts';
import { openStore } from '../../src/snapshots/store.ts';
import { makeEntry } from '../support/crawling.ts';
import { temporaryFolder } from '../support/folder.ts';

/** What a crawl of three repositories says in between, where that is the failure of each by its host. */
const crawlWith = async (failureOf: (host: string) => NetworkError) => {
  const written: string[] = [];
  const stream = new Writable({ write: (piece, _, done) => done(void written.push(String(piece))) });
  const input = {
    entries: ['a', 'b', 'c'].map((slug) => makeEntry(slug, `https://${slug}.example/`)),
    store: openStore(temporaryFolder()),
    fetcher: { fetch: ({ hostname }: URL) => Promise.reject(failureOf(hostname)), close: async () => {} },
    now: () => new Date(),
    service: {},
    progress: new Progress(stream as NodeJS.WriteStream),
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

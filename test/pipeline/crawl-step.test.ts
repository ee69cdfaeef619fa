import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { NetworkError } from '../../src/net/network-error.ts';
import type { PreparedInput } from '../../src/pipeline/build-input.ts';
import { crawl } from '../../src/pipeline/crawl-step.ts';
import { Progress } from '../../src/pipeline/progress.ts';
import { openStore } from '../../src/snapshots/store.ts';
import { makeEntry } from '../support/crawling.ts';
import { temporaryFolder } from '../support/folder.ts';

it('tells at once, and once, that there is no network, since the last of many is given up much later', async () => {
  const written: string[] = [];
  const stream = new Writable({ write: (piece, _, done) => done(void written.push(String(piece))) });
  const offline = new NetworkError('no-network', 'no name server of the system answers', { transient: false });
  const input = {
    entries: ['a', 'b', 'c'].map((slug) => makeEntry(slug, `https://${slug}.example/`)),
    store: openStore(temporaryFolder()),
    fetcher: { fetch: () => Promise.reject(offline), close: async () => {} },
    now: () => new Date(),
    service: {},
    progress: new Progress(stream as NodeJS.WriteStream),
  };
  const outcomes = await crawl(input as unknown as PreparedInput);
  expect(outcomes.map(({ code }) => code)).toEqual(['no-network', 'no-network', 'no-network']);
  expect(written).toEqual([
    'The network cannot be reached: no name server of the system answers. The other repositories are tried all the same.\n',
  ]);
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ManifestEntry } from '../../src/contract/manifest.ts';
import { type CrawlOptions, type CrawlOutcome, crawlAll } from '../../src/crawl/crawl.ts';
import { createFetcher } from '../../src/net/fetcher.ts';
import type { FetchLimits } from '../../src/net/turn.ts';
import { SnapshotStore } from '../../src/snapshots/store.ts';
import { OriginServer } from './origin-server.ts';

/** A manifest entry for a test; flat by default. */
export const makeEntry = (slug: string, uri: string, fields: Partial<ManifestEntry> = {}): ManifestEntry => ({
  slug,
  uri,
  suite: './',
  ranking: 3,
  bootstrap: false,
  aliases: [],
  ...fields,
});

// On a busy machine a correct answer may take seconds, and no test is about that.
const patient: Partial<FetchLimits> = { headersMs: 30_000, graceMs: 30_000, totalMs: 60_000 };
/** Limits for an origin whose faults only show after a time limit. */
const quickNetwork: Partial<FetchLimits> = { headersMs: 400, graceMs: 300, totalMs: 3000 };

/** An origin, a store in a folder of its own, and a clock that the test moves. */
export class CrawlBench {
  readonly origin: OriginServer;
  readonly directory: string;
  readonly store: SnapshotStore;
  now = new Date('2026-06-01T12:00:00.000Z');

  private constructor(origin: OriginServer, directory: string) {
    this.origin = origin;
    this.directory = directory;
    this.store = new SnapshotStore(directory, join(directory, 'history'));
  }

  static async start(): Promise<CrawlBench> {
    return new CrawlBench(await OriginServer.start(), await mkdtemp(join(tmpdir(), 'debdex-crawl-')));
  }

  async stop(): Promise<void> {
    await this.origin.stop();
    await rm(this.directory, { recursive: true, force: true });
  }

  /** Moves the clock on. */
  pass(seconds: number): void {
    this.now = new Date(this.now.getTime() + seconds * 1000);
  }

  /** Crawls with a new fetcher. Its limits are short if the origin makes its clients wait. */
  async crawl(
    entries: readonly ManifestEntry[],
    options: Partial<CrawlOptions> & { network?: Partial<FetchLimits>; ca?: string } = {},
  ): Promise<CrawlOutcome[]> {
    const { network, ca, limits, ...rest } = options;
    const fetcher = createFetcher({
      allowPrivateNetworks: ['127.0.0.0/8'],
      ...(ca === undefined ? {} : { ca }),
      limits: { ...(this.origin.makesWait ? quickNetwork : patient), ...network },
    });
    try {
      return await crawlAll(entries, {
        store: this.store,
        fetcher,
        now: () => this.now,
        limits: { retryPauseMs: 5, ...limits },
        ...rest,
      });
    } finally {
      await fetcher.close();
    }
  }

  /** Crawls the flat repository below `/repo`. Returns its outcome and the requested paths. */
  async crawlOne(
    options: Parameters<CrawlBench['crawl']>[1] = {},
    entry = makeEntry('repo', this.origin.uri('repo')),
  ): Promise<CrawlOutcome & { asked: string[] }> {
    this.origin.reset();
    const [outcome] = await this.crawl([entry], options);
    if (outcome === undefined) throw new Error('one entry has one outcome');
    const prefix = new URL(entry.uri).pathname;
    const asked = this.origin.requests.map(({ path, status }) => `${path.slice(prefix.length)} ${status}`);
    return { ...outcome, asked };
  }
}

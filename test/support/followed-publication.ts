import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, onTestFinished } from 'vitest';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { Follower, type FollowerEvent, type FollowerOptions } from '../../src/following/follower.ts';
import { PublicationSource } from '../../src/following/source.ts';
import { TakenCatalog } from '../../src/following/taken-catalog.ts';
import { type Taken, TakenFolder } from '../../src/following/taken-folder.ts';
import { createFetcher, type Fetcher } from '../../src/net/fetcher.ts';
import { BuiltPublication, FileOrigin } from './built-publication.ts';
import { packages, type SourceRepository } from './catalog.ts';
import { temporaryFolder } from './folder.ts';

type FetcherLimits = NonNullable<NonNullable<Parameters<typeof createFetcher>[0]>['limits']>;

/** A repository with this many packages. Another `text` is another state of it. */
export const repository = (text: string, count = 3): SourceRepository => ({
  slug: 'one',
  packages: packages(
    ...Array.from({ length: count }, (_, index) => ({ Package: `com.example.p${index}`, Description: text })),
  ),
});

export let publication: BuiltPublication;
export let origin: FileOrigin;
let fetcher: Fetcher;

/** Makes each test of a file follow a publication of its own, served on loopback. */
export const useFollowedPublication = (): void => {
  beforeEach(async () => {
    publication = new BuiltPublication();
    origin = await new FileOrigin(publication.folder).open();
    fetcher = createFetcher({ allowPrivateNetworks: true });
  });
  afterEach(async () => {
    await fetcher.close();
    await origin.close().catch(() => {});
  });
};

/** Gives followers a fetcher with other limits while `work` is running. */
export const withLimits = async (limits: FetcherLimits, work: () => Promise<void>): Promise<void> => {
  const usual = fetcher;
  fetcher = createFetcher({ allowPrivateNetworks: true, limits });
  try {
    await work();
  } finally {
    await fetcher.close();
    fetcher = usual;
  }
};

/** A follower in this process, which looks for news when the test tells it to. */
export const follow = async (
  state = temporaryFolder(),
  options: Partial<FollowerOptions> & { publicKey?: string } = {},
) => {
  const folder = new TakenFolder(state);
  let release: (() => void) | undefined = folder.lock();
  const unlock = () => {
    release?.();
    release = undefined;
  };
  onTestFinished(unlock);
  // A test may change the fetcher meanwhile (`withLimits`), and it is closed elsewhere.
  const asking: Fetcher = { fetch: (...request) => fetcher.fetch(...request), close: async () => {} };
  const events: FollowerEvent[] = [];
  // A replica tells why what it took cannot be used, and takes it anew.
  let taken: Taken | undefined = await folder.read(options.publicKey).catch(() => undefined);
  let confirmed = 0;
  const follower = new Follower({
    source: new PublicationSource(origin.address, asking, options.publicKey),
    folder,
    taken,
    interval: 1000,
    now: () => new Date(),
    onTaken: async (next) => {
      taken = next;
    },
    onConfirmed: () => confirmed++,
    tell: (event) => events.push(event),
    random: () => 0.5,
    ...options,
  });
  return {
    folder,
    events,
    unlock,
    poll: () => follower.poll(),
    get number() {
      return taken?.generation.number;
    },
    get confirmed() {
      return confirmed;
    },
    get reasons() {
      return events.map((event) => ('reason' in event ? event.reason : event.event));
    },
    /** The document, as the replica would answer with it. */
    read: (file: string): Buffer | undefined => {
      const { note } = taken as Taken;
      const large = note.large.find((one) => one.path === file);
      if (large !== undefined) return readFileSync(folder.document(large.file.sha256));
      const database = CatalogFile.openReadOnly(folder.catalog(note.catalog.sha256, 'sqlite'));
      try {
        return new TakenCatalog(database).read(file);
      } finally {
        database.close();
      }
    },
  };
};

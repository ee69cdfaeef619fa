import type { CatalogDatabase } from '../catalog/database.ts';
import type { Failure } from '../contract/findings.ts';
import type { ManifestEntry } from '../contract/manifest.ts';
import type { Examples } from '../contract/openapi.ts';
import type { Addressing } from '../contract/public-addresses.ts';
import type { DownloadTotal, LandingRecord } from '../contract/records.ts';
import type { SafetyEntry } from '../contract/safety.ts';
import type { Service } from '../contract/service-file.ts';
import type { SeenSince } from '../documents/documents.ts';
import type { Fetcher } from '../net/fetcher.ts';
import type { Notifier } from '../notifying/notifier.ts';
import type { Owner } from '../publication/owner.ts';
import type { Signer } from '../publication/signature.ts';
import type { SnapshotStore } from '../snapshots/store.ts';
import type { Progress } from './progress.ts';

/** What the examples of the API's description are made from. */
export interface ExampleSource {
  /** The catalog, including its search index. */
  readonly database: CatalogDatabase;
  /** Public address without trailing slash. */
  readonly base: string;
  readonly landing: LandingRecord;
  /** Why the last crawl of a repository took nothing, by slug. */
  readonly failures: ReadonlyMap<string, Failure>;
  readonly seenSince: SeenSince;
}

/** What a build needs. */
export interface BuildInput extends Addressing {
  readonly entries: readonly ManifestEntry[];
  readonly fetcher: Fetcher;
  /** Where the entries come from. */
  readonly source: Owner['source'];
  /** Folders of state and output. */
  readonly state: string;
  readonly out: string;
  readonly service: Service;
  /** The safety list, which is published. */
  readonly unsafe?: readonly SafetyEntry[] | undefined;
  readonly version: string;
  readonly now: () => Date;
  readonly progress: Progress;
  /** Collects what the service will answer, for its description. It is passed in, because it asks the service. */
  readonly collectExamples: (source: ExampleSource) => Promise<Examples | undefined>;
  /** Whether to build the pages as well. */
  readonly site: boolean;
  /** How often packages were downloaded by the end of the previous day, if that is counted and can be read. */
  readonly readDownloads?: (now: Date) => Promise<readonly DownloadTotal[] | undefined>;
  /** The repositories to visit; by default all. */
  readonly only?: ReadonlySet<string> | undefined;
  /** Repositories that are visited although they are to be left alone for a while. */
  readonly retryNow?: ReadonlySet<string> | undefined;
  /** How many repositories are visited at the same time. */
  readonly concurrency?: number;
  /** Ends the crawl early. What was crawled by then is published. */
  readonly stop?: AbortSignal;
  /** Whether to store and publish nothing. */
  readonly dryRun?: boolean;
  /** Whether to keep compressed copies beside published files. */
  readonly precompress?: boolean | undefined;
  /** Whether to also publish the catalog as rows, for hosts that cannot open its file. */
  readonly portions?: boolean | undefined;
  /** Signs generations, if there is a key. */
  readonly signer?: Signer | undefined;
  /** Notifies the operator of changes, if configured. */
  readonly notifier?: Notifier | undefined;
  /** Whether to read everything that was published and kept, and to write again what is not as it was written. */
  readonly verify?: boolean;
}

/** The input of a build, with the former slugs of its repositories resolved. */
export interface PreparedInput extends BuildInput {
  readonly store: SnapshotStore;
}

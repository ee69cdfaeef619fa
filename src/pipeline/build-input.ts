import type { CatalogDatabase } from '../catalog/database.ts';
import type { Finding } from '../contract/findings.ts';
import type { ManifestEntry } from '../contract/manifest.ts';
import type { Examples } from '../contract/openapi.ts';
import type { Addressing } from '../contract/public-addresses.ts';
import type { DownloadTotal, LandingRecord } from '../contract/records.ts';
import type { SafetyEntry } from '../contract/safety.ts';
import type { Service } from '../contract/service-file.ts';
import type { Fetcher } from '../net/fetcher.ts';
import type { Notifier } from '../notifying/notifier.ts';
import type { Owner } from '../publication/owner.ts';
import type { Signer } from '../publication/signature.ts';
import type { SnapshotStore } from '../snapshots/store.ts';
import type { Progress } from './progress.ts';

/** What the examples of the API's description are made of. */
export interface ExampleSource {
  /** The catalog, its search index among it. */
  readonly database: CatalogDatabase;
  /** Public address without trailing slash. */
  readonly base: string;
  readonly landing: LandingRecord;
  /** Why the last crawl of a repository took nothing, by slug. */
  readonly failures: ReadonlyMap<string, Finding>;
}

/** What a build needs. */
export interface BuildInput extends Addressing {
  readonly entries: readonly ManifestEntry[];
  readonly fetcher: Fetcher;
  /** What the entries come from. */
  readonly source: Owner['source'];
  /** Folders of state and output. */
  readonly state: string;
  readonly out: string;
  readonly service: Service;
  /** The safety list, as it is published. */
  readonly unsafe?: readonly SafetyEntry[] | undefined;
  readonly version: string;
  readonly now: () => Date;
  readonly progress: Progress;
  /** What the service is going to answer, to be shown in its description; it is handed in, since it asks the service. */
  readonly collectExamples: (source: ExampleSource) => Promise<Examples | undefined>;
  /** Whether to build the pages too. */
  readonly site: boolean;
  /** How often packages were downloaded by the end of the day before, where that is counted and can be read. */
  readonly readDownloads?: (now: Date) => Promise<readonly DownloadTotal[] | undefined>;
  /** The repositories to visit; all of them unless told otherwise. */
  readonly only?: ReadonlySet<string> | undefined;
  /** Repositories that are visited though they are to be left alone for a while. */
  readonly retryNow?: readonly string[];
  /** Repositories at once. */
  readonly concurrency?: number;
  /** Ends the crawl early; what was crawled by then is published. */
  readonly stop?: AbortSignal;
  /** Whether to keep and publish nothing. */
  readonly dryRun?: boolean;
  /** Whether to keep compressed copies beside what is published. */
  readonly precompress?: boolean | undefined;
  /** Whether to publish the catalog as rows too, for hosts that cannot open its file. */
  readonly portions?: boolean | undefined;
  /** Signs what tells of the generation, where there is a key. */
  readonly signer?: Signer | undefined;
  /** Tells the operator what changed, where somebody is to be told. */
  readonly notifier?: Notifier | undefined;
  /** Whether to read all that was published and kept, and write again what is not as it was written. */
  readonly verify?: boolean;
}

/** A build that knows which repositories it is of, whatever they were called before. */
export interface PreparedInput extends BuildInput {
  readonly store: SnapshotStore;
}

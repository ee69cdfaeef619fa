import type { Hono } from 'hono';
import type { LatestPriority } from '../src/catalog/latest.ts';
import type { RecordList } from '../src/catalog/record-list.ts';
import type { DependencyQuestion } from '../src/contract/dependency-records.ts';
import type { OlderPackage, OlderRepository } from '../src/contract/older-addresses/records.ts';
import type { PackageFilter, PackageOrder } from '../src/contract/parameters.ts';
import type { Download, DownloadCount, ReplicaRecord } from '../src/contract/records.ts';
import type { SafetyList } from '../src/safety/safety-list.ts';
import type { ResultPage } from '../src/search/package-search.ts';
import type { RequestNote } from './environment.ts';
import type { UnhealthyEvent } from './health/unhealthy-log.ts';
import type { Encoding } from './http/accept-header.ts';

// Whatever createApp needs that is not a web standard comes in through these interfaces, so that the app runs on any
// host that can provide them.

/** A published file, in one coding. */
export interface StoredDocument {
  /** Strong entity tag of these bytes, with its quotes. It differs between codings. */
  readonly etag: string;
  /** The coding of the bytes: the one asked for, or `identity` if that would not make the file smaller. */
  readonly encoding: Encoding;
  /** Size in bytes as sent; undefined if the host does not know it before the file was sent. */
  readonly size: number | undefined;
  /** The bytes, if there are few enough to hold them in memory. */
  readonly body: Uint8Array | undefined;
  /** The bytes as a stream; undefined if the file was replaced meanwhile, so that it has to be read again. */
  open(): Promise<ReadableStream<Uint8Array> | undefined>;
}

/** What the build published: documents and pages. */
export interface Documents {
  /**
   * The file at a path below the output folder, such as `v2/jailbreak/package/x.json`; undefined where there is none.
   * Throws Unavailable where the folder itself cannot be read.
   */
  read(path: string, encoding: Encoding): Promise<StoredDocument | undefined>;
}

/** The index of everything that was crawled. Methods reject if the index cannot be read. */
export interface SearchIndex {
  searchPackages(
    q: string,
    limit: number,
    page: number,
    filter?: PackageFilter,
    order?: PackageOrder,
  ): Promise<ResultPage>;
  searchRepositories(q: string, limit: number, page: number): Promise<ResultPage>;
  /** One page of the records of a repository, in the order of its list; undefined where there is no such repository. */
  repositoryPackages(slug: string, limit: number, page: number): Promise<ResultPage | undefined>;
  /** The latest record of each known identifier, in the order asked. */
  latest(ids: readonly string[], priority: LatestPriority): Promise<RecordList>;
  /** Those of these versions that are indexed. */
  known(versions: readonly PackageVersion[]): Promise<PackageVersion[]>;
  /** Whether any version of this package is indexed. */
  knows(id: string): Promise<boolean>;
  /** What installing a package brings, as pieces of JSON text; undefined if no version of it is indexed. */
  dependencies(question: DependencyQuestion): Promise<readonly string[] | undefined>;
  probe(): Promise<boolean>;
}

/** The same index in the form of addresses from before /v2. */
export interface OlderIndex {
  /** One page of the packages that match a text; for an empty text, of those in the best ranked repositories. */
  packages(text: string, limit: number, page: number): Promise<OlderPackage[]>;
  /** The latest record of each known identifier, in the order asked. */
  latest(ids: readonly string[]): Promise<OlderPackage[]>;
  /** One page of the repositories with these rankings, or with any, that match a text; an empty text matches all. */
  repositories(
    text: string,
    rankings: ReadonlySet<number> | undefined,
    limit: number,
    page: number,
  ): Promise<OlderRepository[]>;
}

/** A version of a package. */
export type PackageVersion = Pick<Download, 'package_id' | 'package_version'>;

/** Daily download counters for each package and version. */
export interface DownloadCounters {
  /**
   * Counts these downloads for the network of a client, each once a day. Resolves to how many counted, once they are
   * stored. Throws Unavailable if nothing can be stored, and an HttpError if much of this network waits to be.
   */
  add(downloads: readonly PackageVersion[], network: string): Promise<number>;
  /** The download count of a package. Throws Unavailable if nothing can be read. */
  read(id: string): Promise<DownloadCount>;
  /** Whether something could be stored. Throws Unavailable, with the reason, if nothing can. */
  probe(): Promise<boolean>;
}

/** Limits how often a client may ask for computed answers. */
export interface RateLimiter {
  /** Takes one request of this client. Returns 0 if it may proceed, otherwise the seconds to wait. */
  take(client: string): number;
}

/** Decides whose question to the index is answered next when many ask at the same time. */
export interface Turns {
  /** Answers a question of this client when it is its turn. */
  ask<T>(client: string, question: () => Promise<T>): Promise<T>;
}

export interface Dependencies {
  readonly documents: Documents;
  readonly search: SearchIndex;
  /** Left out if addresses from before /v2 are not answered. */
  readonly older?: OlderIndex | undefined;
  readonly safety: SafetyList;
  readonly downloads: DownloadCounters;
  readonly limiter: RateLimiter;
  /** Left out if the index does not keep this process busy. */
  readonly turns?: Turns;
  /** Whether the credential store works. May throw an Error that says why it does not. */
  readonly probeCredentials: () => Promise<boolean>;
  readonly now: () => Date;
  /** The public address of the service, without trailing slash and without `/v2`. */
  readonly publicAddress: () => string;
  /** Compresses a computed answer; left out if the host does that itself. */
  readonly compress?: (
    body: Uint8Array<ArrayBuffer>,
    encoding: Exclude<Encoding, 'identity'>,
  ) => Promise<Uint8Array<ArrayBuffer>>;
  /** Receives failures that are our fault, with the request that met them. The client never sees them. */
  readonly report: (error: unknown, note?: RequestNote) => void;
  /** Called with the reason when a leaf of the health record turns false, at most once a minute for each leaf. */
  readonly tellUnhealthy?: (event: UnhealthyEvent) => void;
  /** The credential protocol, which is answered below /v2. */
  readonly gateway?: Hono;
  /** Only on a replica of a publication, which has the pages: the generation that it answers from. */
  readonly replica?: () => ReplicaRecord;
}

/** Thrown by a dependency that cannot answer at the moment. The client gets 503. */
export class Unavailable extends Error {
  override name = 'Unavailable';
}

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

// Everything that createApp needs and that is not a web standard comes in through these interfaces, so that the app
// runs wherever they can be had.

/** A published file, in one coding. */
export interface StoredDocument {
  /** Strong entity tag of these bytes, with its quotes; it differs between codings. */
  readonly etag: string;
  /** The coding it is in: the one asked for, or `identity` where that would not make it smaller. */
  readonly encoding: Encoding;
  /** Size in bytes as sent; undefined where the host does not know it before it has sent them. */
  readonly size: number | undefined;
  /** The bytes, where they are few enough to be held in memory. */
  readonly body: Uint8Array | undefined;
  /** The bytes as a stream; undefined where the file was replaced since, and is to be read anew. */
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

/** The index of what was crawled. */
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
  /** Of these, the ones that it knows. */
  known(versions: readonly PackageVersion[]): Promise<PackageVersion[]>;
  /** Whether it knows any version of this package. */
  knows(id: string): Promise<boolean>;
  /** What installing a package brings, as pieces of JSON text; undefined where it knows no version of it. */
  dependencies(question: DependencyQuestion): Promise<readonly string[] | undefined>;
  probe(): Promise<boolean>;
}

/** The same index in the form of addresses from before /v2. */
export interface OlderIndex {
  /** One page of what a text finds; with an empty one, of those of the best rankings. */
  packages(text: string, limit: number, page: number): Promise<OlderPackage[]>;
  /** The latest record of each known identifier, in the order asked. */
  latest(ids: readonly string[]): Promise<OlderPackage[]>;
  /** One page of what a text finds; with an empty one, of those of these rankings, or of all. */
  repositories(
    text: string,
    rankings: ReadonlySet<number> | undefined,
    limit: number,
    page: number,
  ): Promise<OlderRepository[]>;
}

/** A version of a package. */
export type PackageVersion = Pick<Download, 'package_id' | 'package_version'>;

/** Daily counters of downloads per package identifier and version. */
export interface DownloadCounters {
  /**
   * Counts these for a client's network, each once a day, and returns how many were counted once they are kept. Throws
   * Unavailable where nothing can be kept.
   */
  add(downloads: readonly PackageVersion[], network: string): Promise<number>;
  /** What was counted for a package. Throws Unavailable where nothing can be read. */
  read(id: string): Promise<DownloadCount>;
  probe(): Promise<boolean>;
}

/** Decides how often a client may ask for what is computed. */
export interface RateLimiter {
  /** Takes one request of this client: 0 where it may go ahead, otherwise the seconds until it may ask again. */
  take(client: string): number;
}

/** Decides whose question to the index is answered next, where many ask at once. */
export interface Turns {
  /** Answers a question of this client when it is its turn. */
  ask<T>(client: string, question: () => Promise<T>): Promise<T>;
}

export interface Dependencies {
  readonly documents: Documents;
  readonly search: SearchIndex;
  /** Left out where addresses from before /v2 are not answered. */
  readonly older?: OlderIndex | undefined;
  readonly safety: SafetyList;
  readonly downloads: DownloadCounters;
  readonly limiter: RateLimiter;
  /** Left out where the index does not keep this process busy. */
  readonly turns?: Turns;
  /** Whether the credential store answers. */
  readonly probeCredentials: () => Promise<boolean>;
  readonly now: () => Date;
  /** The public address of the service, without trailing slash and without `/v2`. */
  readonly publicAddress: () => string;
  /** Compresses a computed answer; left out where the host does that itself. */
  readonly compress?: (
    body: Uint8Array<ArrayBuffer>,
    encoding: Exclude<Encoding, 'identity'>,
  ) => Promise<Uint8Array<ArrayBuffer>>;
  /** Where failures that are ours go, with the request that met them; the client never sees them. */
  readonly report: (error: unknown, note?: RequestNote) => void;
  /** Told why a leaf of the health record turned false, at most once a minute for each. */
  readonly tellUnhealthy?: (event: UnhealthyEvent) => void;
  /** The credential protocol, answering below /v2. */
  readonly gateway?: Hono;
  /** From what it answers, where that is a replica of a publication, which has the pages. */
  readonly replica?: () => ReplicaRecord;
}

/** Thrown by a dependency that cannot answer for now; the client is told 503. */
export class Unavailable extends Error {
  override name = 'Unavailable';
}

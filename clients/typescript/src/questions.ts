import type { AskOptions, RequestOptions } from './requests.ts';
import type { PackageRecord } from './types.ts';

export interface ClientOptions extends RequestOptions {
  /** The public address of a service, such as `https://index.example`, without `/v2`. */
  readonly base: string;
  /**
   * Whether the host only has files, as GitHub Pages and object storage do, and no rules that map addresses to them. If
   * so, files are requested by their names, and searches and everything else that has to be computed throw FilesAlone.
   */
  readonly files?: boolean;
}

/** Filters and order of a search of packages, and how many records to request at a time. */
export interface SearchOptions extends AskOptions {
  readonly limit?: number;
  readonly architecture?: string;
  /** A version of iOS. */
  readonly firmware?: string;
  readonly section?: string;
  /** The slug of a repository. */
  readonly repository?: string;
  readonly price?: PackageRecord['price'];
  /** A kind of section, as the site groups them, such as `tweaks`. */
  readonly kind?: string;
  readonly state?: 'current' | 'pre-release' | 'stale';
  /** If left out, the best matches come first. */
  readonly sort?: 'newest' | 'downloads' | 'name';
}

/** The device on which a package is to be installed. */
export interface DependencyOptions extends AskOptions {
  readonly architecture: string;
  /** The slugs of the repositories that are already added. */
  readonly repositories?: readonly string[];
  /** A version of iOS; if left out, any. */
  readonly firmware?: string;
}

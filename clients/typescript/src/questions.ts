import type { AskOptions, RequestOptions } from './requests.ts';
import type { PackageRecord } from './types.ts';

export interface ClientOptions extends RequestOptions {
  /** The public address of a service, such as `https://index.example`: without `/v2`. */
  readonly base: string;
  /**
   * Whether what is there are files alone, as on GitHub Pages or in object storage, and no rules that lead to them. What
   * files answer is then asked for by their names; a search and all else that has to be computed throws FilesAlone.
   */
  readonly files?: boolean;
}

/** What a search of packages may be narrowed and ordered by, and how many records are asked for at a time. */
export interface SearchOptions extends AskOptions {
  readonly limit?: number;
  readonly architecture?: string;
  /** A version of iOS. */
  readonly firmware?: string;
  readonly section?: string;
  /** The slug of a repository. */
  readonly repository?: string;
  readonly price?: PackageRecord['price'];
  /** A kind of section as the site groups them, such as `tweaks`. */
  readonly kind?: string;
  readonly state?: 'current' | 'pre-release' | 'stale';
  /** The best matches come first without it. */
  readonly sort?: 'newest' | 'downloads' | 'name';
}

/** The device that a package is to be installed on. */
export interface DependencyOptions extends AskOptions {
  readonly architecture: string;
  /** The slugs of the repositories that are had. */
  readonly repositories?: readonly string[];
  /** A version of iOS; without it any will do. */
  readonly firmware?: string;
}

import { isUnreadable, type ShownBuild } from '../catalog/last-build.ts';
import type { CatalogRepository } from '../catalog/site-reading.ts';
import type { DatedFinding } from '../contract/findings.ts';
import type { Trouble } from '../results/row.ts';

/** What the last build said of one repository. */
export type Outcome = ShownBuild['repositories'][number];

/**
 * A doubt about a package or repository: `failing` since its repository last confirmed it, or `old` since it last
 * changed.
 */
export interface Doubt {
  /**
   * `lately`: it fails, but was in order a few hours ago, which may pass. `held`: it answers, and its new content waits
   * for the operator's decision.
   */
  readonly kind: 'failing' | 'lately' | 'held' | 'old';
  /** ISO 8601. */
  readonly since: string;
}

/** A repository and all that the site says about it. */
export interface Repository extends Omit<CatalogRepository, 'number'> {
  /** Its name, or its slug if it has none. */
  readonly name: string;
  /** The same in lists of several: with its slug, where another has this name (told-apart.ts). */
  readonly toldName: string;
  readonly outcome: Outcome | undefined;
  readonly findings: readonly DatedFinding[];
  /** Why its packages may not install: nothing comes from it any more, or it has not changed for years. */
  readonly doubt: Doubt | undefined;
}

/** Whether its last visit took nothing, for any reason. What is shown of it, if anything, is older. */
export const isTroubled = <Known extends { readonly outcome: string }>(
  outcome: Known | undefined,
): outcome is Known & { readonly outcome: 'stale' | 'failed' } =>
  outcome?.outcome === 'stale' || outcome?.outcome === 'failed';

/** Whether the last build could not read a repository, so that earlier data is shown. */
export const isStale = ({ outcome }: Pick<Repository, 'outcome'>): boolean =>
  outcome !== undefined && isUnreadable(outcome);

/** What the rows of its packages say of a repository; undefined if the last build took what it serves. */
export const troubleOf = ({ doubt }: Pick<Repository, 'doubt'>): Trouble | undefined =>
  doubt === undefined || doubt.kind === 'old' ? undefined : doubt.kind === 'held' ? 'held' : 'failing';

import { isUnreadable, type ShownBuild } from '../catalog/last-build.ts';
import type { CatalogRepository } from '../catalog/site-reading.ts';

/** What the last build said of one repository. */
export type Outcome = ShownBuild['repositories'][number];

/** A doubt about what a page offers: `failing` since its repository last confirmed it, or `old` since it last changed. */
export interface Doubt {
  /**
   * `lately`: it fails, but was in order hours ago; origins have their bad days. `held`: it answers, and what it has now
   * waits for the operator's word.
   */
  readonly kind: 'failing' | 'lately' | 'held' | 'old';
  /** ISO 8601. */
  readonly since: string;
}

/** A repository and all that the site says about it. */
export interface Repository extends Omit<CatalogRepository, 'number'> {
  /** Its name, or its slug where it has none. */
  readonly name: string;
  readonly outcome: Outcome | undefined;
  /** Why what it has may not install: nothing comes from it any more, or it has not changed for years. */
  readonly doubt: Doubt | undefined;
}

/** Whether its last visit took nothing, for whatever reason: what is shown of it is from before, if there is anything. */
export const isTroubled = <Known extends { readonly outcome: string }>(
  outcome: Known | undefined,
): outcome is Known & { readonly outcome: 'stale' | 'failed' } =>
  outcome?.outcome === 'stale' || outcome?.outcome === 'failed';

/** Whether a repository is as it was before the last build, which could not read it. */
export const isStale = ({ outcome }: Pick<Repository, 'outcome'>): boolean =>
  outcome !== undefined && isUnreadable(outcome);

import { isUnreadable, type ShownBuild } from '../catalog/last-build.ts';
import type { CatalogRepository } from '../catalog/site-reading.ts';
import type { DatedFinding } from '../contract/findings.ts';
import type { Trouble } from '../results/row.ts';

/** What the last build said of one repository. */
export type Outcome = ShownBuild['repositories'][number];

/**
 * A doubt about a package or repository: the safety list calls it `unsafe`, it is `failing` since its repository last
 * confirmed it, or `old` since it last changed.
 */
export type Doubt = DatedDoubt | ExpiredDoubt | UnsafeDoubt;

interface DatedDoubt {
  /**
   * `lately`: it fails, but was in order a few hours ago, which may pass. `held`: it answers, and its new content waits
   * for the operator's decision.
   */
  readonly kind: 'failing' | 'lately' | 'held' | 'old';
  /** ISO 8601. */
  readonly since: string;
}

/** Its Release is past its Valid-Until, so APT takes nothing from it until its owner publishes a new one. */
interface ExpiredDoubt {
  readonly kind: 'expired';
}

/** Named by the safety list. Nothing that adds or opens it is shown then. */
export interface UnsafeDoubt {
  readonly kind: 'unsafe';
  /** The words of the safety list. */
  readonly reason: string;
  /** The host of its entry there, and its path if it has one. */
  readonly listed: string;
}

/** A repository and all that the site says about it. */
export interface Repository extends Omit<CatalogRepository, 'number'> {
  /** Its name, or its slug if it has none. */
  readonly name: string;
  /** The same in lists of several: with its slug, where another has this name (told-apart.ts). */
  readonly toldName: string;
  readonly outcome: Outcome | undefined;
  readonly findings: readonly DatedFinding[];
  /** Why not to add it, or why its packages may not install: nothing comes from it any more, or it is years old. */
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

/** Whether the safety list names it, or where it redirects to. */
export const isUnsafe = <Known extends { readonly doubt: Doubt | undefined }>(
  one: Known,
): one is Known & { readonly doubt: UnsafeDoubt } => one.doubt?.kind === 'unsafe';

/** A repository's name, or what else it is called; with a warning if it is unsafe, for where it stands alone. */
export const warnedName = (one: Pick<Repository, 'name' | 'doubt'>, called = one.name): string =>
  isUnsafe(one) ? `${called} (unsafe to add)` : called;

/** What the rows of its packages say of a repository; undefined if it is safe and the last build took what it serves. */
export const troubleOf = ({ doubt }: Pick<Repository, 'doubt'>): Trouble | undefined => {
  if (doubt === undefined || doubt.kind === 'old' || doubt.kind === 'expired') return undefined;
  return doubt.kind === 'lately' ? 'failing' : doubt.kind;
};

import type { LastBuild } from '../catalog/last-build.ts';
import type { PackageChange } from '../contract/generation.ts';
import type { LandingRecord } from '../contract/records.ts';
import type { CrawlOutcome } from '../crawl/crawl.ts';
import type { EmissionCount } from '../publication/emission.ts';
import type { PublishedSize } from '../publication/size.ts';
import type { PublishedGeneration } from './generation-step.ts';
import type { RepositoryChanges } from './outcomes.ts';
import type { SiteSummary } from './site-step.ts';

/** What a build did. `describeBuild` presents it to people. */
export interface BuildResult {
  /** The outcomes of the visited repositories. */
  readonly outcomes: readonly CrawlOutcome[];
  /** The outcomes of every repository of the manifest. */
  readonly lastBuild: LastBuild;
  /** The repositories that no earlier build knew. */
  readonly newSlugs: readonly string[];
  readonly repositoryChanges: RepositoryChanges;
  readonly packageChanges: readonly PackageChange[];
  /** Whether the catalog before was lost, so that nobody knows what changed of packages. */
  readonly isUncompared?: boolean;
  /** Damage and losses that were found and repaired, as sentences. */
  readonly repairs: readonly string[];
  /**
   * The repositories that were not visited and whose snapshot could not be read. The next visit downloads them again.
   */
  readonly unreadable: readonly string[];
  readonly statistics: LandingRecord['statistics'] | undefined;
  readonly stanzas: number;
  readonly documents: EmissionCount;
  /** The result for the pages; undefined if they were left out. */
  readonly site: SiteSummary | undefined;
  /** The generation in force; undefined if nothing is published. */
  readonly generation?: PublishedGeneration | undefined;
  /** How much is published; undefined if nothing is. */
  readonly size?: PublishedSize | undefined;
}

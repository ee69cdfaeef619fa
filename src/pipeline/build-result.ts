import type { LastBuild } from '../catalog/last-build.ts';
import type { PackageChange } from '../contract/generation.ts';
import type { LandingRecord } from '../contract/records.ts';
import type { CrawlOutcome } from '../crawl/crawl.ts';
import type { EmissionCount } from '../publication/emission.ts';
import type { PublishedSize } from '../publication/size.ts';
import type { PublishedGeneration } from './generation-step.ts';
import type { RepositoryChanges } from './outcomes.ts';
import type { SiteSummary } from './site-step.ts';

/** What a build did; see `describeBuild` for how it is told. */
export interface BuildResult {
  /** Of the repositories that were visited. */
  readonly outcomes: readonly CrawlOutcome[];
  /** Of every repository of the manifest. */
  readonly lastBuild: LastBuild;
  /** The repositories that no build before knew. */
  readonly newSlugs: readonly string[];
  readonly repositoryChanges: RepositoryChanges;
  readonly packageChanges: readonly PackageChange[];
  /** What was found damaged or lost and made good, as sentences. */
  readonly repairs: readonly string[];
  /** The repositories that were not visited and whose snapshot could not be read, which the next visit fetches again. */
  readonly unreadable: readonly string[];
  readonly statistics: LandingRecord['statistics'] | undefined;
  readonly stanzas: number;
  readonly documents: EmissionCount;
  /** What became of the pages; undefined where they were left out. */
  readonly site: SiteSummary | undefined;
  /** What the operator could not be told, as sentences. */
  readonly untold?: readonly string[] | undefined;
  /** The generation in force; undefined where nothing is published. */
  readonly generation?: PublishedGeneration | undefined;
  /** How much is published; undefined where nothing is. */
  readonly size?: PublishedSize | undefined;
}

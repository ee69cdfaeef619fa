import type { DivergenceEvent, Divergences } from '../catalog/divergence-reading.ts';
import { formatPlural } from './format.ts';
import { warnedName } from './repository.ts';
import type { SiteCatalog } from './site-catalog.ts';
import type { Named } from './told-apart.ts';

/** Builds with different bytes in two repositories, or whose bytes one repository changed. */
export interface ShownDivergence extends Omit<DivergenceEvent, 'repositories'> {
  readonly repositories: readonly Named[];
}

/** The content of their page. */
export interface DivergenceView {
  readonly pairs: readonly ShownDivergence[];
  /** How many pairs there are beyond those. */
  readonly morePairs: number;
  readonly changed: readonly ShownDivergence[];
  /** How many earlier ones are known. */
  readonly moreChanged: number;
}

const shownPairs = 200;
const shownChanges = 50;

// Told apart among all: the title of an entry in a feed is read alone, and must not depend on the entries beside it.
const nameAll = (catalog: Pick<SiteCatalog, 'repository'>, events: readonly DivergenceEvent[]): ShownDivergence[] =>
  events.map((event) => ({
    ...event,
    repositories: event.repositories.map((slug) => {
      const repository = catalog.repository(slug);
      return { slug, name: repository === undefined ? slug : warnedName(repository, repository.toldName) };
    }),
  }));

/** Whether an event is of the build's time. What is dated after it was seen under a clock that was ahead. */
const isPast = (lastBuild: SiteCatalog['lastBuild']): ((event: DivergenceEvent) => boolean) => {
  const until = lastBuild?.builtAt;
  return ({ at }) => until === undefined || at <= until;
};

/** What the page shows: the first of the pairs, and the latest changes, with those after the build last. */
export const computeDivergenceView = (
  catalog: Pick<SiteCatalog, 'readDivergences' | 'repository' | 'lastBuild'>,
): DivergenceView => {
  const { pairs, events }: Divergences = catalog.readDivergences();
  const ofOne = events.filter(({ repositories }) => repositories.length === 1);
  const isBefore = isPast(catalog.lastBuild);
  const changed = [...ofOne.filter(isBefore), ...ofOne.filter((event) => !isBefore(event))];
  return {
    pairs: nameAll(catalog, pairs.slice(0, shownPairs)),
    morePairs: Math.max(0, pairs.length - shownPairs),
    changed: nameAll(catalog, changed.slice(0, shownChanges)),
    moreChanged: Math.max(0, changed.length - shownChanges),
  };
};

/**
 * The latest divergences up to the build, the newest first, as entries of a feed: later ones would hide all others until
 * their day.
 */
export const recentDivergences = (
  catalog: Pick<SiteCatalog, 'readDivergences' | 'repository' | 'lastBuild'>,
  length: number,
): ShownDivergence[] =>
  nameAll(catalog, catalog.readDivergences().events.filter(isPast(catalog.lastBuild)).slice(0, length));

/** A title that says what happened. */
export const divergenceTitle = ({ repositories, count }: ShownDivergence): string => {
  const [one, other] = repositories;
  const versions = formatPlural(count, 'version');
  return other === undefined
    ? `${one?.name}: ${versions} changed ${count === 1 ? 'its' : 'their'} bytes`
    : `${one?.name} and ${other.name} have other bytes for ${versions}`;
};

/** The named builds, and how many more there are. */
export const divergenceText = ({ builds, count }: ShownDivergence): string => {
  const named = builds.map(({ name, version, architecture }) => `${name} ${version} (${architecture})`).join(', ');
  return count > builds.length ? `${named}, and ${count - builds.length} more` : named;
};

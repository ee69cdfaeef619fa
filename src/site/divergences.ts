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

/** What the page shows: the first of the pairs, and the latest changes. */
export const computeDivergenceView = (catalog: Pick<SiteCatalog, 'readDivergences' | 'repository'>): DivergenceView => {
  const { pairs, events }: Divergences = catalog.readDivergences();
  const changed = events.filter(({ repositories }) => repositories.length === 1);
  return {
    pairs: nameAll(catalog, pairs.slice(0, shownPairs)),
    morePairs: Math.max(0, pairs.length - shownPairs),
    changed: nameAll(catalog, changed.slice(0, shownChanges)),
    moreChanged: Math.max(0, changed.length - shownChanges),
  };
};

/** The latest divergences, the newest first, as entries of a feed. */
export const recentDivergences = (catalog: SiteCatalog, length: number): ShownDivergence[] =>
  nameAll(catalog, catalog.readDivergences().events.slice(0, length));

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

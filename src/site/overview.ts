import { buildOf } from '../compatibility/builds.ts';
import { stateOf } from '../contract/package-states.ts';
import { type SectionKind, sectionKinds } from '../contract/sections.ts';
import { type PackageCard, packageCard } from './package-card.ts';
import type { News, PackageSummary } from './package-summary.ts';
import { isUnsafe, troubleOf } from './repository.ts';
import { byName } from './repository-view.ts';
import type { SiteCatalog } from './site-catalog.ts';

/** Figures of the whole index. */
export interface Figures {
  readonly repositories: number;
  readonly packages: number;
  readonly versions: number;
  /** When the origins were last asked or, if no build is on record, when one last changed. ISO 8601. */
  readonly checkedAt: string | undefined;
  /** When one last changed. Not what was seen under a clock that was ahead. */
  readonly changedAt: string | undefined;
}

/** The figures of the index in a catalog. */
export const computeFigures = (catalog: SiteCatalog): Figures => {
  const until = catalog.lastBuild?.builtAt;
  const changedAt = catalog.repositories
    .map((repository) => repository.changedAt)
    .filter((at) => until === undefined || at <= until)
    .sort()
    .at(-1);
  return {
    repositories: catalog.repositories.length,
    packages: catalog.packages.size,
    versions: catalog.versionCount,
    checkedAt: catalog.lastBuild?.builtAt ?? changedAt,
    changedAt,
  };
};

/** A version of a package that is news. */
export interface NewsEntry extends News {
  readonly summary: PackageSummary;
  /** The repository that has it. */
  readonly slug: string;
}

const newestFirst = (a: NewsEntry, b: NewsEntry): number => {
  if (a.at !== b.at) return a.at > b.at ? -1 : 1;
  return a.summary.repository.record.quality - b.summary.repository.record.quality || byName(a.summary, b.summary);
};

// If a package is news in several repositories: in the one that got it last or, among equals, the best. Where its page
// offers a safe one, nothing in an unsafe one is news of it.
const latestNews = (
  { news, repository }: PackageSummary,
  isMeant: (one: News) => boolean,
): [string, News] | undefined =>
  [...news]
    .filter(([, one]) => isMeant(one) && (one.isUnsafe !== true || isUnsafe(repository)))
    .reduce<[string, News] | undefined>((known, one) => (known && known[1].at >= one[1].at ? known : one), undefined);

/**
 * The latest additions and updates, the newest first: in one repository if its `slug` is given, else in all. Packages
 * that came with the first crawl of their repository are no news. `perRepository` limits how many one repository may
 * have, so that one with hundreds of additions does not hide the others. What is dated after `until`, the time of the
 * build, was seen under a clock that was ahead, and would hide all other news until that day.
 */
export const recentNews = (
  packages: Iterable<PackageSummary>,
  length: number,
  {
    slug,
    perRepository = Number.POSITIVE_INFINITY,
    until,
  }: { slug?: string | undefined; perRepository?: number; until?: string | undefined } = {},
): NewsEntry[] => {
  const all: NewsEntry[] = [];
  const isMeant = ({ at }: News) => until === undefined || at <= until;
  for (const summary of packages) {
    const own = slug === undefined ? undefined : summary.news.get(slug);
    const [where, news] = slug === undefined ? (latestNews(summary, isMeant) ?? []) : [slug, own];
    if (where !== undefined && news && isMeant(news)) all.push({ summary, slug: where, ...news });
  }
  const taken = new Map<string, number>();
  const recent: NewsEntry[] = [];
  for (const entry of all.sort(newestFirst)) {
    const count = taken.get(entry.slug) ?? 0;
    if (count >= perRepository) continue;
    taken.set(entry.slug, count + 1);
    recent.push(entry);
    if (recent.length === length) break;
  }
  return recent;
};

/** The same for a list of a few rows. If it is not full, repositories may have more than their share. */
export const mixedNews = (
  packages: readonly PackageSummary[],
  length: number,
  perRepository: number,
  until?: string,
): NewsEntry[] => {
  const shared = recentNews(packages, length, { perRepository, until });
  const taken = new Set(shared.map(({ summary }) => summary));
  const others = recentNews(packages, 2 * length, { until }).filter(({ summary }) => !taken.has(summary));
  return [...shared, ...others].slice(0, length).sort(newestFirst);
};

// Kinds of packages that come as dependencies, and that nobody looks for.
const broughtAlong: ReadonlySet<SectionKind> = new Set(['libraries', 'development']);

// Whoever knows nothing here yet does not begin with a debug build, or where something may be gone.
const isCurrent = ({ version, repository }: PackageSummary): boolean =>
  stateOf(version, troubleOf(repository) !== undefined) === 'current';

const worth = ({ repositories, summary, icon, architectures }: PackageSummary): number =>
  2 * repositories.length +
  (summary === '' ? 0 : 2) +
  (icon === undefined ? 0 : 1) +
  (architectures.some((one) => buildOf(one) === 'rootless') ? 3 : 0);

/** Packages of each repository in turn: the best ranked repository and the worthiest package first. */
const takeInTurn = (packages: readonly PackageSummary[], length: number): PackageSummary[] => {
  const lists = [...Map.groupBy(packages, ({ repository }) => repository)]
    .sort(([a, first], [b, second]) => a.record.quality - b.record.quality || second.length - first.length)
    .map(([, list]) => list.sort((a, b) => worth(b) - worth(a) || byName(a, b)));
  const chosen: PackageSummary[] = [];
  for (let round = 0; chosen.length < length && lists.some((list) => list.length > round); round++) {
    for (const list of lists) {
      const next = list[round];
      if (next !== undefined && chosen.length < length) chosen.push(next);
    }
  }
  return chosen;
};

/**
 * Packages to begin with as long as there is no news: from each repository in turn, the best ranked first, those that
 * are in most repositories, have a description and an icon, and are built for current phones (rootless). Pre-releases,
 * and what is in a repository that is unsafe, does not answer or is held back, come last.
 */
export const packagesToBeginWith = ({ packages }: Pick<SiteCatalog, 'packages'>, length: number): PackageSummary[] => {
  const meant = [...packages.values()].filter(({ kind }) => !broughtAlong.has(kind));
  const { current = [], others = [] } = Object.groupBy(meant, (one) => (isCurrent(one) ? 'current' : 'others'));
  const first = takeInTurn(current, length);
  return [...first, ...takeInTurn(others, length - first.length)];
};

/** The card of a piece of news, as in the repository that has it. */
export const newsCard = (
  catalog: Pick<SiteCatalog, 'repository'>,
  { summary, slug }: Pick<NewsEntry, 'summary' | 'slug'>,
): PackageCard => {
  const repository = catalog.repository(slug);
  return {
    ...packageCard(summary, slug),
    place: repository?.toldName ?? slug,
    trouble: repository && troubleOf(repository),
  };
};

/** Additions or updates of a day: cards, and how many more there were than a person reads. */
interface NewsList {
  readonly cards: readonly PackageCard[];
  readonly more: number;
}

/** The news of one day. */
export interface NewsDay {
  /** `YYYY-MM-DD` in UTC. */
  readonly day: string;
  /** Packages that are new in a repository, and new versions of packages that it had. */
  readonly added: NewsList;
  readonly updated: NewsList;
}

const newsShown = 150;
const newsOfRepository = 20;

/**
 * The latest news by day, the newest first: at most `newsShown` cards, and for each repository and day at most
 * `newsOfRepository`. Of the last day that is shown, all others are counted.
 */
export const newsByDay = (catalog: SiteCatalog): NewsDay[] => {
  const days: (NewsDay & Record<'added' | 'updated', OpenList>)[] = [];
  let shown = 0;
  const until = catalog.lastBuild?.builtAt;
  for (const { summary, slug, at, isUpdate } of recentNews(catalog.packages.values(), Number.POSITIVE_INFINITY, {
    until,
  })) {
    const day = at.slice(0, 'YYYY-MM-DD'.length);
    let open = days.at(-1);
    if (open?.day !== day) {
      if (shown >= newsShown) break;
      open = { day, added: openList(), updated: openList() };
      days.push(open);
    }
    const list = isUpdate ? open.updated : open.added;
    const taken = list.taken.get(slug) ?? 0;
    list.taken.set(slug, taken + 1);
    if (taken >= newsOfRepository || shown >= newsShown) list.more++;
    else {
      shown++;
      list.cards.push(newsCard(catalog, { summary, slug }));
    }
  }
  return days;
};

interface OpenList {
  cards: PackageCard[];
  more: number;
  /** How many entries each repository has so far. */
  readonly taken: Map<string, number>;
}
const openList = (): OpenList => ({ cards: [], more: 0, taken: new Map() });

/** Packages of each section kind, ordered by name. Empty kinds are left out. */
export const packagesByKind = (catalog: SiteCatalog): Map<SectionKind, PackageSummary[]> => {
  const lists = new Map<SectionKind, PackageSummary[]>(sectionKinds.map((kind) => [kind, []]));
  for (const summary of catalog.packages.values()) lists.get(summary.kind)?.push(summary);
  for (const [kind, list] of lists) {
    if (list.length === 0) lists.delete(kind);
    else list.sort(byName);
  }
  return lists;
};

/** The kinds with the most packages. Other kinds than those known come last, because nobody looks there first. */
export const largestKinds = <Packages extends { readonly length: number }>(
  byKind: ReadonlyMap<SectionKind, Packages>,
  most: number,
): [kind: SectionKind, packages: Packages][] =>
  [...byKind]
    .sort(([a, { length: ofA }], [b, { length: ofB }]) => Number(a === 'other') - Number(b === 'other') || ofB - ofA)
    .slice(0, most);

const titles: Partial<Record<SectionKind, string>> = {
  'control-center': 'Control Center',
  addons: 'Add-ons',
  // Packages that add a repository to the package manager. The page that is called Repositories lists these themselves.
  repositories: 'Source lists',
};

/** A section kind in words. */
export const sectionTitle = (kind: SectionKind): string =>
  titles[kind] ?? `${kind[0]?.toUpperCase() ?? ''}${kind.slice(1)}`;

const rankingNames = ['', 'Essential', 'Trusted', 'Community', 'Personal', 'Unproven'] as const;

/** A ranking (1 to 5) in a word. */
export const rankingName = (quality: number): string => rankingNames[quality] ?? `Ranking ${quality}`;

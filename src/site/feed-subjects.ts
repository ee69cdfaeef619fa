import type { SectionKind } from '../contract/sections.ts';
import { page } from './addresses.ts';
import type { Author } from './authors.ts';
import type { Site } from './context.ts';
import { type Feed, type FeedEntry, feedLength } from './feeds.ts';
import { type NewsEntry, recentNews, sectionTitle } from './overview.ts';
import type { PackageSummary } from './package-summary.ts';
import { isUnsafe, type Repository, warnedName } from './repository.ts';
import type { SiteCatalog } from './site-catalog.ts';

/** What the feeds are made from. */
type Source = Pick<Site, 'catalog' | 'base' | 'inRepository' | 'byKind' | 'service'>;

// Limits how many entries one repository has, so that one with hundreds of additions does not hide the others.
const perRepository = feedLength / 5;

// The day from which there could have been news of packages in these repositories.
const since = (repositories: Iterable<Repository | undefined>): string =>
  ['1970-01-01T00:00:00.000Z', ...Array.from(repositories, (one) => one?.addedAt ?? '')].sort().at(-1) ?? '';

const reposOf = (catalog: SiteCatalog, packages: readonly PackageSummary[]): Set<Repository | undefined> =>
  new Set(packages.flatMap(({ repositories }) => repositories.map((slug) => catalog.repository(slug))));

const placeOf = (catalog: SiteCatalog, slug: string): string => {
  const repository = catalog.repository(slug);
  return repository === undefined ? slug : warnedName(repository, repository.toldName);
};

const placed = (catalog: SiteCatalog, entries: readonly NewsEntry[]): FeedEntry[] =>
  entries.map((entry) => ({ ...entry, place: placeOf(catalog, entry.slug) }));

/** The feed of everything. */
export const feedOfAll = ({ catalog, base, service }: Source) => ({
  base,
  title: `${service.name}: new and updated packages`,
  home: page.landing,
  atom: page.atom(),
  json: page.jsonFeed(),
  since: since(catalog.repositories),
  entries: placed(
    catalog,
    recentNews(catalog.packages.values(), feedLength, { perRepository, until: catalog.lastBuild?.builtAt }),
  ),
});

/** The feed of one repository. */
export const feedOfRepository = ({ catalog, base, inRepository, service }: Source, repository: Repository) => {
  const { slug } = repository;
  return {
    base,
    title: `${warnedName(repository)} on ${service.name}`,
    home: page.repository(slug),
    atom: page.atom(slug),
    json: page.jsonFeed(slug),
    since: repository.addedAt,
    entries: placed(
      catalog,
      recentNews(inRepository.get(slug) ?? [], feedLength, { slug, until: catalog.lastBuild?.builtAt }),
    ),
  };
};

/** The feed of one kind of section. */
export const feedOfSection = ({ catalog, base, byKind, service }: Source, kind: SectionKind): Feed => {
  const packages = byKind.get(kind) ?? [];
  return {
    base,
    title: `${sectionTitle(kind)} on ${service.name}`,
    home: page.section(kind),
    atom: page.sectionAtom(kind),
    since: since(reposOf(catalog, packages)),
    entries: placed(catalog, recentNews(packages, feedLength, { perRepository, until: catalog.lastBuild?.builtAt })),
  };
};

/** The feed of one author. */
export const feedOfAuthor = (
  { catalog, base, service }: Source,
  { key, name, packages }: Author<PackageSummary>,
): Feed => ({
  base,
  title: `${name} on ${service.name}`,
  home: page.author(key),
  atom: page.authorAtom(key),
  since: since(reposOf(catalog, packages)),
  entries: placed(catalog, recentNews(packages, feedLength, { until: catalog.lastBuild?.builtAt })),
});

/**
 * The feed of one package: each version that was news and that a repository still has. As in all feeds, versions dated
 * later than the build are left out, and where its page offers a safe one, those of unsafe repositories.
 */
export const feedOfPackage = ({ catalog, base, service }: Source, summary: PackageSummary): Feed => {
  const { id } = summary;
  const until = catalog.lastBuild?.builtAt;
  const isOffered = (one: Pick<Repository, 'doubt'>) => !isUnsafe(one) || isUnsafe(summary.repository);
  const first = new Map<string, FeedEntry>();
  for (const { record, repository, firstSeen, isNews, isUpdate } of catalog.readVersions(id)) {
    const known = first.get(record.version);
    if (
      !isNews ||
      !isOffered(repository) ||
      (until !== undefined && firstSeen > until) ||
      (known !== undefined && known.at <= firstSeen)
    )
      continue;
    const { slug } = repository;
    first.set(record.version, {
      summary,
      slug,
      place: placeOf(catalog, slug),
      version: record.version,
      at: firstSeen,
      isUpdate,
    });
  }
  const entries = [...first.values()].sort((a, b) =>
    a.at > b.at || (a.at === b.at && a.version > b.version) ? -1 : 1,
  );
  return {
    base,
    title: `${summary.name} on ${service.name}`,
    home: page.package(id),
    atom: page.packageAtom(id),
    since: since(reposOf(catalog, [summary])),
    entries: entries.slice(0, feedLength),
  };
};

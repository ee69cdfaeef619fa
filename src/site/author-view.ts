import type { SectionKind } from '../contract/sections.ts';
import { type Author, authorFolder, authorKey, peopleOf } from './authors.ts';
import type { PackageSummary } from './package-summary.ts';
import { byName, type ListPage, listPages } from './repository-view.ts';
import type { SiteCatalog } from './site-catalog.ts';

/** What every page of an author shows besides its list. */
export interface AuthorHead {
  readonly key: string;
  readonly name: string;
  readonly packages: number;
  /** The section of most of them. */
  readonly kind: SectionKind;
  /** For several people: those who have a page of their own. */
  readonly people: readonly { readonly key: string; readonly name: string }[];
  /** Repositories with something by them, the one with the most first. */
  readonly repositories: readonly { readonly slug: string; readonly name: string; readonly count: number }[];
}

const repositoriesOf = (catalog: SiteCatalog, packages: readonly PackageSummary[]): AuthorHead['repositories'] => {
  const counts = new Map<string, number>();
  for (const { repositories } of packages) {
    for (const slug of repositories) counts.set(slug, (counts.get(slug) ?? 0) + 1);
  }
  return [...counts]
    .sort(([a, some], [b, others]) => others - some || (a < b ? -1 : 1))
    .map(([slug, count]) => ({ slug, name: catalog.repository(slug)?.toldName ?? slug, count }));
};

/** The section of most of these packages. */
const mostlyOf = (packages: readonly PackageSummary[]): SectionKind => {
  const counts = new Map<SectionKind, number>();
  for (const { kind } of packages) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const [most] = [...counts].sort(([a, some], [b, others]) => others - some || (a < b ? -1 : 1));
  return most?.[0] ?? 'other';
};

/** Those of these people, by key, who have a page. */
const withPages = (catalog: SiteCatalog, people: readonly string[]): AuthorHead['people'] =>
  people.flatMap((key) => {
    const alone = catalog.authors.get(key);
    return alone === undefined ? [] : [{ key, name: alone.name }];
  });

/** If a package names several people who have no page together: those of them with a page of their own. */
export const peopleAlone = (catalog: SiteCatalog, { author }: Pick<PackageSummary, 'author'>): AuthorHead['people'] =>
  catalog.authorOf({ author }) === undefined ? withPages(catalog, peopleOf(authorKey(author))) : [];

const headOf = (catalog: SiteCatalog, { key, name, packages, people }: Author<PackageSummary>): AuthorHead => ({
  key,
  name,
  packages: packages.length,
  kind: mostlyOf(packages),
  people: withPages(catalog, people),
  repositories: repositoriesOf(catalog, packages),
});

/** The pages of one author, each with a part of the list. */
export const computeAuthorPages = (
  catalog: SiteCatalog,
  author: Author<PackageSummary>,
): { readonly folder: string; readonly head: AuthorHead; readonly list: ListPage }[] => {
  const head = headOf(catalog, author);
  const folder = authorFolder(author.key);
  return listPages([...author.packages].sort(byName)).map((list) => ({ folder, head, list }));
};

const listed = 200;

/** The authors with the most packages, the most first. */
export const busiestAuthors = (catalog: SiteCatalog): AuthorHead[] =>
  [...catalog.authors.values()]
    .sort((a, b) => b.packages.length - a.packages.length || (a.key < b.key ? -1 : 1))
    .slice(0, listed)
    .map((author) => headOf(catalog, author));

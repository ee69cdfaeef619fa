import { documentPath } from '../contract/paths.ts';
import { type DeepLink, packageLinks } from './addresses.ts';
import { readPerson, webAddress } from './prose.ts';
import { parseRelations, type Relation } from './relations.ts';
import { ownImage, type PackageSummary, type PackageVersion, type SiteCatalog } from './site-catalog.ts';

/** One row of the table of versions. */
export interface VersionRow {
  readonly version: string;
  readonly latest: boolean;
  readonly slug: string;
  readonly repository: string;
  readonly architecture: string;
  readonly size: number;
  readonly firstSeen: string;
  /** Address of the package file, where Filename names one below its repository. */
  readonly download: string | undefined;
  readonly sha256: string | null;
}

/** All that the page of a package shows. While this stays the same, so does the page. */
export interface PackageView {
  readonly summary: Omit<PackageSummary, 'repository' | 'versions' | 'updatedAt' | 'news'>;
  readonly repository: { readonly slug: string; readonly name: string; readonly uri: string; readonly flat: boolean };
  readonly description: string | null;
  readonly header: string | undefined;
  readonly author: { readonly name: string; readonly mail?: string } | undefined;
  readonly maintainer: { readonly name: string; readonly mail?: string } | undefined;
  readonly homepage: string | undefined;
  readonly depiction: string | undefined;
  readonly installedSize: number | null;
  readonly tags: readonly string[];
  readonly latest: readonly VersionRow[];
  readonly older: readonly VersionRow[];
  readonly relations: readonly { readonly title: string; readonly list: readonly Relation[] }[];
  readonly dependents: { readonly total: number; readonly shown: readonly PackageLink[] };
  readonly similar: readonly PackageCard[];
  readonly links: readonly DeepLink[];
  readonly document: string;
}

interface PackageLink {
  readonly id: string;
  readonly name: string;
}

/** What a card in a list shows of a package. */
export type PackageCard = Pick<
  PackageSummary,
  'id' | 'name' | 'summary' | 'version' | 'icon' | 'paid' | 'architectures'
> & {
  readonly place: string;
};

/** The card of a package; in the list of one repository with the version that it has. */
export const packageCard = (summary: PackageSummary, slug?: string): PackageCard => ({
  id: summary.id,
  name: summary.name,
  summary: summary.summary,
  version: (slug === undefined ? undefined : summary.versions.get(slug)) ?? summary.version,
  icon: summary.icon,
  paid: summary.paid,
  architectures: summary.architectures,
  place: summary.repository.name,
});

/**
 * The address of a package file: Filename below the repository's address (Repository format, "Packages"). Undefined
 * where it would lead anywhere else, since it comes from a stranger and the visitor is told it comes from there.
 */
export const downloadAddress = (repository: string, filename: string): string | undefined => {
  const base = repository.endsWith('/') ? repository : `${repository}/`;
  const path = filename.replace(/^(?:\.?\/+)+/, '');
  if (path === '' || /^[a-z][a-z0-9+.-]*:/i.test(path)) return undefined;
  const escaped = path.replace(/[?#%\\]/g, (character) => encodeURIComponent(character));
  const url = URL.parse(escaped, base);
  return url?.href.startsWith(new URL(base).href) === true ? url.href : undefined;
};

const versionRow = ({ record, repository, firstSeen }: PackageVersion): VersionRow => ({
  version: record.version,
  latest: record.latest_version,
  slug: repository.slug,
  repository: repository.name,
  architecture: record.architecture,
  size: record.package_size,
  firstSeen,
  download: downloadAddress(repository.record.uri, record.package_filename),
  sha256: record.sha256_hash,
});

const relationTitles = [
  ['Depends on', 'depends'],
  ['Needs before installing', 'preDepends'],
  ['Recommends', 'recommends'],
  ['Suggests', 'suggests'],
  ['Enhances', 'enhances'],
  ['Conflicts with', 'conflicts'],
  ['Breaks', 'breaks'],
  ['Replaces', 'replaces'],
  ['Provides', 'provides'],
] as const;

const dependentsShown = 48;
const similarShown = 6;

// The neighbours of a package in its author's list: the choice changes only where the list changes nearby.
const similarPackages = (catalog: SiteCatalog, summary: PackageSummary): PackageCard[] => {
  const list = summary.author === '' ? [] : catalog.packagesOf(summary.author);
  const at = list.indexOf(summary);
  const cards: PackageCard[] = [];
  for (let step = 1; step < list.length && cards.length < similarShown; step++) {
    const other = list[(at + step) % list.length];
    if (other !== undefined) cards.push(packageCard(other));
  }
  return cards;
};

/** The page of one package; undefined where the catalog has no such package. */
export const computePackageView = (catalog: SiteCatalog, id: string): PackageView | undefined => {
  const summary = catalog.packages.get(id);
  const versions = catalog.readVersions(id);
  const best = versions[0];
  if (summary === undefined || best === undefined) return undefined;
  const { record, details, repository } = best;
  const { repository: _, versions: __, updatedAt: ___, news: ____, ...shown } = summary;
  const rows = versions.map(versionRow);
  const header = webAddress(record.header_url);
  const dependents = catalog.dependents(id);
  const author = readPerson(record.author);
  const maintainer = readPerson(record.maintainer);
  return {
    summary: shown,
    repository: {
      slug: repository.slug,
      name: repository.name,
      uri: repository.record.uri,
      flat: repository.record.suite === './',
    },
    description: record.description,
    header: header !== undefined && !ownImage.test(header) ? header : undefined,
    author: author ?? maintainer,
    maintainer: author !== undefined && maintainer?.name !== author.name ? maintainer : undefined,
    homepage: webAddress(details.homepage),
    depiction: webAddress(details.depiction),
    installedSize: record.installed_size,
    tags: record.tags ?? [],
    latest: rows.filter((row) => row.latest),
    older: rows.filter((row) => !row.latest),
    relations: relationTitles
      .map(([title, field]) => ({
        title,
        list: parseRelations(details[field]).map((group) =>
          group.map((one) => {
            const target = catalog.resolve(one.name);
            return target === undefined || target === id ? one : { ...one, target };
          }),
        ),
      }))
      .filter(({ list }) => list.length > 0),
    dependents: {
      total: dependents.length,
      shown: dependents
        .slice(0, dependentsShown)
        .map((one) => ({ id: one, name: catalog.packages.get(one)?.name ?? one })),
    },
    similar: similarPackages(catalog, summary),
    links: packageLinks(id, repository.record.uri),
    document: `/${documentPath.package(id)}`,
  };
};

import { describedBy } from '../catalog/placeholder.ts';
import { versionOrder } from '../catalog/version-order.ts';
import { readStatements } from '../compatibility/judgement.ts';
import { documentPath } from '../contract/paths.ts';
import type { SigningState } from '../contract/signing-states.ts';
import { lowerBound } from '../results/file-index.ts';
import { ownImage } from '../results/icon.ts';
import { type AuthorHead, peopleAlone } from './author-view.ts';
import { isForDevices } from './authors.ts';
import { type BuildElsewhere, type Copy, computeCopies, findBuildsElsewhere, findOtherBytes } from './copies.ts';
import { type ShownDepiction, showDepiction } from './depiction-view.ts';
import { type DeepLink, packageLinks } from './managers.ts';
import { computeNeeds, type Needs } from './needs.ts';
import { type PackageCard, packageCard } from './package-card.ts';
import type { PackageSummary } from './package-summary.ts';
import { rememberLast, rememberRecent } from './page-keys.ts';
import { parsePerson, webAddress } from './prose.ts';
import { type Doubt, isUnsafe } from './repository.ts';
import type { SiteCatalog } from './site-catalog.ts';
import { allowedIos, joinStatements, lackingOf, otherStatements, type StatedRow, statedRows } from './stated.ts';
import { computeChanges, type VersionChanges } from './version-changes.ts';
import { isSold, tellApart, type VersionRow, versionRows } from './version-rows.ts';

/** Everything that the page of a package shows. While this stays the same, so does the page. */
export interface PackageView extends Needs {
  readonly summary: Omit<
    PackageSummary,
    'repository' | 'versions' | 'builtFor' | 'faces' | 'updatedAt' | 'news' | 'stated'
  >;
  readonly repository: {
    readonly slug: string;
    readonly name: string;
    readonly uri: string;
    readonly flat: boolean;
    readonly quality: number;
    readonly signing: SigningState;
  };
  /**
   * Why not to add its repository, or why the package may not install: nothing comes from that any more, or it has not
   * changed for years.
   */
  readonly doubt: Doubt | undefined;
  readonly description: string | null;
  readonly header: string | undefined;
  readonly author: string | undefined;
  /** The key of the author's page, if there is one. */
  readonly authorKey: string | undefined;
  /** If several people have no page together: those with a page of their own. */
  readonly people: AuthorHead['people'];
  /** Whether the package has a feed of its own. */
  readonly isFollowed: boolean;
  readonly maintainer: string | undefined;
  readonly homepage: string | undefined;
  readonly depiction: string | undefined;
  /** Its native depiction, if that is kept and shown. */
  readonly told: ShownDepiction | undefined;
  readonly installedSize: number | null;
  readonly tags: readonly string[];
  readonly latest: readonly VersionRow[];
  /** The newest of the other versions, at most `olderShown`, those in safe repositories first, and how many there are. */
  readonly older: readonly VersionRow[];
  readonly olderTotal: number;
  /** Whether one of these that is safe allows an iOS that none of the latest states to allow. */
  readonly isForOtherIos: boolean;
  /** What its builds state about iOS devices, in the form that the page contains. */
  readonly runs: string;
  /** The same for its best repository only, if another one has a build of the same kind for other devices. */
  readonly ownRuns: string | undefined;
  /**
   * The sentence for a visitor for whose device it has no build; undefined in an index with nothing for such devices.
   */
  readonly lacking: string | undefined;
  readonly stated: readonly StatedRow[];
  readonly changes: VersionChanges['changes'];
  readonly hasEarlierChanges: VersionChanges['hasEarlierChanges'];
  readonly copies: readonly Copy[];
  readonly buildsElsewhere: readonly BuildElsewhere[];
  readonly dependents: { readonly total: number; readonly shown: readonly PackageLink[] };
  readonly similar: readonly PackageCard[];
  readonly links: readonly DeepLink[];
  /** Whether it is bought in a package manager, and only that gets its file. */
  readonly isSold: boolean;
  readonly document: string;
  /** How often it was downloaded by the end of the last day; undefined if that was not counted. */
  readonly downloads: { readonly total: number; readonly lastMonth: number } | undefined;
}

interface PackageLink {
  readonly id: string;
  readonly name: string;
}

const dependentsShown = 48;
const similarShown = 6;
/** Far more than people look through. A repository may list 2,000 versions, of which each row takes half a kilobyte. */
const olderShown = 200;

// Each package of an author with many is a neighbour of several others.
const neighbourCard = rememberRecent((summary: PackageSummary) => packageCard(summary));

/** The position of a package in a list ordered by identifier. One author may have a hundred thousand packages. */
const placeIn = (list: readonly PackageSummary[], summary: PackageSummary): number => {
  const place = lowerBound(list.length, (at) => (list[at]?.id ?? '') < summary.id);
  // Characters beyond the first plane sort differently by bytes, which is the order of the list.
  return list[place] === summary ? place : list.indexOf(summary);
};

/** The neighbours of a package in its author's list. The choice only changes if the list changes nearby. */
export const neighboursOf = (catalog: SiteCatalog, summary: PackageSummary): PackageSummary[] => {
  const list = summary.author === '' ? [] : catalog.packagesOf(summary.author);
  const at = placeIn(list, summary);
  const others: PackageSummary[] = [];
  for (let step = 1; step < list.length && others.length < similarShown; step++) {
    const other = list[(at + step) % list.length];
    if (other !== undefined) others.push(other);
  }
  return others;
};

/** The packages that need this one, as shown on its page. */
export const dependentsOf = (catalog: SiteCatalog, id: string): PackageView['dependents'] => {
  const all = catalog.relations.dependents(id);
  const shown = all.slice(0, dependentsShown);
  return {
    total: all.length,
    shown: shown.map((one) => ({ id: one, name: catalog.packages.get(one)?.name ?? one })),
  };
};

/** Computes the page of a package; undefined if the catalog does not have it. */
export const computePackageView = (catalog: SiteCatalog, id: string): PackageView | undefined => {
  const summary = catalog.packages.get(id);
  const versions = tellApart(catalog.readVersions(id));
  const best = versions[0];
  if (summary === undefined || best === undefined) return undefined;
  const { record, details, repository } = best;
  const {
    repository: _,
    versions: __,
    builtFor: ___,
    faces: ____,
    updatedAt: _____,
    news: ______,
    stated,
    ...shown
  } = summary;
  const own = versions.filter((one) => one.repository === repository);
  const differing = findOtherBytes(versions);
  const rows = versionRows(versions, differing);
  const header = webAddress(record.header_url);
  const counted = catalog.downloads.get(id);
  const author = parsePerson(record.author);
  const runs = joinStatements(stated.values());
  const latestStatements = readStatements(runs);
  const older = versions
    .flatMap((one, index) => {
      const row = rows[index];
      return row === undefined || row.latest ? [] : [{ one, row }];
    })
    .sort(({ row: a }, { row: b }) => Number(a.isUnsafe) - Number(b.isUnsafe) || versionOrder(b.version, a.version));
  const shownOlder = older.slice(0, olderShown).map(({ one, row }) => ({
    ...row,
    ios: allowedIos(one),
    states: row.isUnsafe ? undefined : otherStatements(one, latestStatements, catalog.buildsIn(row.slug)),
  }));
  const maintainer = parsePerson(record.maintainer);
  const buildsElsewhere = findBuildsElsewhere(versions, stated);
  return {
    summary: shown,
    repository: {
      slug: repository.slug,
      name: repository.name,
      uri: repository.record.uri,
      flat: repository.record.suite === './',
      quality: repository.record.quality,
      signing: repository.signing,
    },
    doubt: repository.doubt,
    description: describedBy(record.description),
    header: header !== undefined && !ownImage.test(header) ? header : undefined,
    author: author ?? maintainer,
    authorKey: catalog.authorOf(summary)?.key,
    people: peopleAlone(catalog, summary),
    isFollowed: isForDevices(summary),
    maintainer: author !== undefined && maintainer !== author ? maintainer : undefined,
    homepage: webAddress(details.homepage),
    depiction: webAddress(details.depiction),
    told: showDepiction(catalog.readDepiction(repository.slug, record.native_depiction), record.native_depiction),
    installedSize: record.installed_size,
    tags: record.tags ?? [],
    latest: rows.filter((row) => row.latest),
    older: shownOlder,
    olderTotal: older.length,
    isForOtherIos: shownOlder.some(({ states }) => states !== undefined),
    runs,
    ownRuns: buildsElsewhere.some(({ isBoth }) => isBoth) ? (stated.get(repository.slug) ?? '') : undefined,
    lacking: catalog.hasDevices ? lackingOf(runs) : undefined,
    stated: statedRows(versions, (slug) => catalog.buildsIn(slug)),
    ...computeChanges(own),
    copies: computeCopies(versions, differing),
    buildsElsewhere,
    ...computeNeeds(
      catalog,
      id,
      own.filter((one) => one === best || one.record.latest_version),
    ),
    dependents: dependentsOf(catalog, id),
    similar: neighboursOf(catalog, summary).map(neighbourCard),
    links: isUnsafe(repository)
      ? []
      : packageLinks({
          id,
          repository: repository.record.uri,
          architectures: rows
            .filter((row) => row.latest && row.slug === repository.slug)
            .map((row) => row.architecture),
          served: catalog.architecturesIn(repository.slug),
          stated: stated.get(repository.slug) ?? '',
        }),
    isSold: isSold(best),
    document: `/${documentPath.package(id)}`,
    downloads: counted && { total: counted.total, lastMonth: counted.last_30_days },
  };
};

/** The same, computed once for the key of a page and the page. */
export const packageView = rememberLast(computePackageView);

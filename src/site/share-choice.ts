import { notchesOf } from '../results/notches.ts';
import { page } from './addresses.ts';
import { publicAuthor } from './authors.ts';
import { formatPlural } from './format.ts';
import { packagesToBeginWith, rankingName, recentNews } from './overview.ts';
import type { PackageSummary } from './package-summary.ts';
import { mostDownloaded } from './popularity.ts';
import type { PreviewImage } from './preview.ts';
import { isUnsafe } from './repository.ts';
import { canDraw, composePicture, composeRepositoryPicture, pictureSize } from './share-picture.ts';
import type { SiteCatalog } from './site-catalog.ts';

/** A share picture to be drawn. */
export interface SharePicture {
  readonly preview: PreviewImage;
  /** Composes the drawing as SVG. It is a kilobyte of text, of which a hundred thousand must not be held. */
  readonly compose: () => string | undefined;
}

// A picture takes some 10 ms of processor time and 9 kB, which would be ten minutes and half a gigabyte for 63,000
// packages. Mostly new and popular packages are shared, so unless all are requested, a hundred of each have a picture,
// and the others show that of their section. A first build knows neither, so it draws the packages to begin with, few
// enough that it takes no second longer.
const newest = 100;
const newestOfRepository = 15;
const atFirst = 50;
const bestRepositories = 50;

const pictureOf = (summary: PackageSummary, service: string): SharePicture | undefined => {
  const { id, name, version, repository } = summary;
  // Drawn like any other, it would be shown where no warning is.
  if (isUnsafe(repository)) return undefined;
  const author = publicAuthor(summary);
  const builds = notchesOf(summary.architectures);
  // The font lacks some scripts. The identifier replaces a name that cannot be drawn.
  const title = [name, id].find(canDraw);
  if (title === undefined) return undefined;
  const compose = () => composePicture({ id, name: title, author, version, repository, builds, service });
  const words = builds.map(({ word }) => word).join(', ');
  const text = `${name} ${version} in ${repository.name}${words === '' ? '' : `: ${words}`}`;
  return { preview: { src: page.packagePicture(id), ...pictureSize, text }, compose };
};

/** The most downloaded packages, the latest news and, if these are few, the packages to begin with. */
const chooseSome = (catalog: SiteCatalog): Iterable<PackageSummary> => {
  const popular = mostDownloaded(catalog).flatMap(({ card }) => catalog.packages.get(card.id) ?? []);
  const recent = recentNews(catalog.packages.values(), newest, {
    perRepository: newestOfRepository,
    until: catalog.lastBuild?.builtAt,
  });
  const chosen = new Set([...popular, ...recent.map((entry) => entry.summary)]);
  if (chosen.size < atFirst) {
    for (const summary of packagesToBeginWith(catalog, atFirst)) if (chosen.size < atFirst) chosen.add(summary);
  }
  return chosen;
};

/** The packages that have a picture of their own, by identifier: some, or all; none of what is unsafe. */
export const choosePictures = (catalog: SiteCatalog, service: string, hasAll = false): Map<string, SharePicture> => {
  const pictures = new Map<string, SharePicture>();
  for (const summary of hasAll ? catalog.packages.values() : chooseSome(catalog)) {
    const picture = pictureOf(summary, service);
    if (picture !== undefined) pictures.set(summary.id, picture);
  }
  return pictures;
};

/**
 * The repositories with a picture of their own, by slug: all that are not unsafe, or the best ranked of these, among equals
 * those with the most packages.
 */
export const chooseRepositoryPictures = (
  { repositories }: SiteCatalog,
  countOf: (slug: string) => number,
  service: string,
  hasAll = false,
): Map<string, SharePicture> => {
  const best = repositories
    .filter((one) => !isUnsafe(one))
    .map(({ slug, name, record }) => ({ slug, name, record, count: countOf(slug) }))
    .sort((a, b) => a.record.quality - b.record.quality || b.count - a.count || (a.slug < b.slug ? -1 : 1))
    .slice(0, hasAll ? undefined : bestRepositories);
  const pictures = new Map<string, SharePicture>();
  for (const { slug, name, record, count } of best) {
    const host = URL.parse(record.uri)?.hostname ?? '';
    const packages = formatPlural(count, 'package');
    const ranking = rankingName(record.quality);
    const title = [name, slug].find(canDraw);
    if (title === undefined) continue;
    const compose = () => composeRepositoryPicture({ slug, name: title, host, packages, ranking, service });
    const preview = { src: page.repositoryPicture(slug), ...pictureSize, text: `${name}: ${packages}, ${ranking}` };
    pictures.set(slug, { preview, compose });
  }
  return pictures;
};

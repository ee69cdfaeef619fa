import { notchesOf } from '../results/notches.ts';
import { page } from './addresses.ts';
import { publicAuthor } from './authors.ts';
import { recentNews } from './overview.ts';
import { mostDownloaded } from './popularity.ts';
import type { PreviewImage } from './preview.ts';
import { composePicture, pictureSize } from './share-picture.ts';
import type { PackageSummary, SiteCatalog } from './site-catalog.ts';

/** A share picture that is to be there. */
export interface SharePicture {
  readonly preview: PreviewImage;
  /** What is drawn. */
  readonly svg: string;
}

// A picture takes 15 ms of a processor and 12 kB: of 63,000 packages that were a quarter of an hour and 0.75 GB. Shared is
// mostly what is new or popular, so a hundred of each have one, and the others show that of their section.
const newest = 100;
const newestOfRepository = 15;

const pictureOf = (summary: PackageSummary, service: string): SharePicture | undefined => {
  const { id, name, version, repository } = summary;
  const author = publicAuthor(summary);
  const builds = notchesOf(summary.architectures).map(({ word }) => word);
  const svg = composePicture({ id, name, author, version, repository, builds, service });
  if (svg === undefined) return undefined;
  const text = `${name} ${version} in ${repository.name}${builds.length > 0 ? `: ${builds.join(', ')}` : ''}`;
  return { preview: { src: page.packagePicture(id), ...pictureSize, text }, svg };
};

/** The packages that have a picture of their own, by identifier: the most downloaded ones, and what was news last. */
export const choosePictures = (catalog: SiteCatalog, service: string): Map<string, SharePicture> => {
  const popular = mostDownloaded(catalog).flatMap(({ card }) => catalog.packages.get(card.id) ?? []);
  const recent = recentNews(catalog.packages.values(), newest, { perRepository: newestOfRepository });
  const pictures = new Map<string, SharePicture>();
  for (const summary of [...popular, ...recent.map((entry) => entry.summary)]) {
    const picture = pictures.has(summary.id) ? undefined : pictureOf(summary, service);
    if (picture !== undefined) pictures.set(summary.id, picture);
  }
  return pictures;
};

import { decodeFolderName } from '../contract/filenames.ts';
import { listPageMaximum } from '../contract/parameters.ts';
import { documentPath } from '../contract/paths.ts';
import type { RepositoryRecord } from '../contract/records.ts';
import type { PageLinks } from './document.ts';

// The list of a large repository is also published in pages, for hosts and clients that cannot handle all of it.

/** In how many pages a list of that many records is also published; 0 if it is short. */
export const pagesOf = (records: number): number =>
  records > listPageMaximum ? Math.ceil(records / listPageMaximum) : 0;

/** How many records a page of such a list has. */
export const recordsOn = (page: number, records: number): number =>
  Math.min(listPageMaximum, records - (page - 1) * listPageMaximum);

/** The links of a page, for a repository with this record (JSON). Pages are below the address of the whole list. */
export const linksOf = (record: string, page: number, pages: number): PageLinks => {
  const { packages } = (JSON.parse(record) as RepositoryRecord).refs;
  // If only files are named, this is the name of one.
  const [, list = packages, ending = ''] = /^(.*)(\.json)$/.exec(packages) ?? [];
  const addressOf = (number: number): string => `${list}/${number}${ending}`;
  return {
    ...(page < pages ? { nextPage: addressOf(page + 1) } : {}),
    ...(page > 1 ? { previousPage: addressOf(page - 1) } : {}),
  };
};

const [beforeSlug = '', beforeNumber = '', end = ''] = documentPath
  .repositoryPackagesPage('a', 1)
  .split(/(?<=\/)[a1](?=[./])/)
  .map((part) => RegExp.escape(part));
const pagePath = new RegExp(`^${beforeSlug}([^/]+)${beforeNumber}([1-9]\\d*)${end}$`);

/** The repository and number of the page at a path; undefined if it is none. */
export const parsePagePath = (path: string): { readonly slug: string; readonly page: number } | undefined => {
  const [, encoded, page] = pagePath.exec(path) ?? [];
  const slug = encoded === undefined ? undefined : decodeFolderName(encoded);
  return slug === undefined ? undefined : { slug, page: Number(page) };
};

import { encodeFolderName } from '../contract/filenames.ts';
import type { SectionKind } from '../contract/sections.ts';
import { packageAddress } from '../results/package-address.ts';
import { authorFolder } from './authors.ts';

/** Root-relative addresses of the pages. */
export const page = {
  landing: '/',
  search: '/search/',
  repositories: '/repository/',
  repository: (slug: string, number = 1) => `/repository/${encodeFolderName(slug)}/${number > 1 ? `${number}/` : ''}`,
  package: (id: string) => `/${packageAddress(id)}`,
  sections: '/section/',
  section: (kind: SectionKind, number = 1) => `/section/${kind}/${number > 1 ? `${number}/` : ''}`,
  ranking: '/ranking/',
  new: '/new/',
  popular: '/popular/',
  authors: '/author/',
  author: (key: string, number = 1) => `/author/${authorFolder(key)}/${number > 1 ? `${number}/` : ''}`,
  status: '/status/',
  api: '/api/',
  feedsAndBadges: '/api/feeds/',
  changes: '/changes/',
  changesForOperators: '/changes/operators/',
  divergence: '/divergence/',
  divergenceFeed: '/divergence/feed.atom',
  privacy: '/privacy/',
  safety: '/safety/',
  unsafe: (listed: string) => `/safety/#${encodeURIComponent(listed)}`,
  doctor: '/doctor/',
  doctorOf: (slug: string) => `/doctor/${encodeFolderName(slug)}/`,
  about: '/about/',
  atom: (slug?: string) => `${slug === undefined ? '' : `/repository/${encodeFolderName(slug)}`}/feed.atom`,
  packagePicture: (id: string) => `/${packageAddress(id)}preview.png`,
  repositoryPicture: (slug: string) => `/repository/${encodeFolderName(slug)}/preview.png`,
  packageAtom: (id: string) => `/${packageAddress(id)}feed.atom`,
  authorAtom: (key: string) => `/author/${authorFolder(key)}/feed.atom`,
  sectionAtom: (kind: SectionKind) => `/section/${kind}/feed.atom`,
  jsonFeed: (slug?: string) => `${slug === undefined ? '' : `/repository/${encodeFolderName(slug)}`}/feed.json`,
  badge: (slug: string) => `/badge/${encodeFolderName(slug)}.svg`,
  shield: (slug: string) => `/badge/${encodeFolderName(slug)}.json`,
} as const;

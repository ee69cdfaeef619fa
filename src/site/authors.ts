import { hash } from 'node:crypto';
import { isDeviceArchitecture } from '../compatibility/builds.ts';
import { firstLine } from '../results/first-line.ts';
import { rememberRecent } from './page-keys.ts';

/** The properties of a package that determine who made it, and for what. */
interface Authored {
  /** The name, empty where nobody is named. */
  readonly author: string;
  readonly architectures: readonly string[];
  /** What it states about iOS devices, by repository; empty if it is for none. */
  readonly stated: { readonly size: number };
}

/** An author with a page. */
export interface Author<Package extends Authored> {
  /** As `authorKey` returns it. */
  readonly key: string;
  /** In the most frequent spelling of their packages, on one line. */
  readonly name: string;
  /** Their packages, including those made with others, ordered by identifier. */
  readonly packages: readonly Package[];
  /** For several people whom packages name together: those of them with a page of their own. */
  readonly people: readonly string[];
}

/**
 * Identifies a person, however a package spells them: lower case, one blank between words, no invisible marks. Empty if
 * nothing of the name is left.
 */
export const authorKey = rememberRecent((name: string): string =>
  name
    .toWellFormed()
    .normalize('NFC')
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .toLowerCase(),
);

// How packages separate several people, in a key.
const betweenPeople = / ?[,;&+/] ?(?:and )?| and /;
// On how many authors' pages a package appears at most.
const mostPeople = 6;

// In an address, a sitemap and a feed, harvesters of mail addresses would find it.
const holdsMail = (name: string): boolean => /[^\s@<>()]@[^\s@<>()]+\.[^\s@<>()]/.test(name);

/** The keys of the people in a key that names several; empty if it names one, or contains a mail address. */
export const peopleOf = (key: string): readonly string[] => {
  if (holdsMail(key) || key.includes('://')) return [];
  const people = new Set(key.split(betweenPeople, mostPeople).filter((name) => name !== ''));
  return people.has(key) ? [] : [...people];
};

/** The author of a package for feeds and addresses: empty if there is none, or the name is a mail address. */
export const publicAuthor = ({ author }: Pick<Authored, 'author'>): string => (holdsMail(author) ? '' : author);

/**
 * Whether a package is for iOS devices, which this site is about. A package for all architectures is, if its repository
 * serves them.
 */
export const isForDevices = ({ architectures, stated }: Pick<Authored, 'architectures' | 'stated'>): boolean =>
  stated.size > 0 || architectures.some(isDeviceArchitecture);

/**
 * Whether the author of these packages has a page: everybody with a package for iOS devices, and others with two
 * packages. A distribution names thousands of people with one package each. Their pages would say no more than that of
 * the package, and hosts limit the number of files.
 */
export const hasAuthorPage = (packages: readonly Authored[]): boolean => {
  const [first, second] = packages;
  return first !== undefined && publicAuthor(first) !== '' && (second !== undefined || isForDevices(first));
};

const shownLength = 80;

const commonSpelling = (packages: readonly Authored[]): string => {
  const counts = new Map<string, number>();
  for (const { author } of packages) counts.set(author, (counts.get(author) ?? 0) + 1);
  const [name = ''] = [...counts].reduce((best, one) =>
    one[1] > best[1] || (one[1] === best[1] && one[0] < best[0]) ? one : best,
  );
  return firstLine(name.replaceAll(/\s+/g, ' '), shownLength);
};

/**
 * The authors of packages, by key. `alone` has the packages by author, with several people as one name. If people named
 * together have pages of their own, the package appears there, too. That alone gives nobody a page, because what looks
 * like several names may be one.
 */
export const composeAuthors = <Package extends Authored & { readonly id: string }>(
  alone: ReadonlyMap<string, readonly Package[]>,
): ReadonlyMap<string, Author<Package>> => {
  const hasPage = (key: string): boolean => hasAuthorPage(alone.get(key) ?? []);
  const together = new Map<string, Package[]>();
  const authors = new Map<string, Author<Package>>();
  for (const [key, packages] of alone) {
    const people = peopleOf(key).filter(hasPage);
    for (const person of people) {
      const others = together.get(person);
      if (others === undefined) together.set(person, [...packages]);
      // One by one: a hundred thousand arguments of a single call do not fit onto the stack.
      else for (const one of packages) others.push(one);
    }
    if (hasPage(key)) authors.set(key, { key, name: commonSpelling(packages), packages, people });
  }
  for (const [key, others] of together) {
    const author = authors.get(key);
    if (author === undefined) continue;
    const packages = [...author.packages, ...others].sort((a, b) => (a.id < b.id ? -1 : 1));
    authors.set(key, { ...author, packages });
  }
  return authors;
};

// A folder's name has at most 255 bytes, a path 4,096, and strangers write names of any length.
const longestFolder = 120;
const begunFolder = 80;
// Lower-case letters, digits and blanks, which are used directly in a folder's name, with "-" for a blank.
const plainKey = /^[a-z0-9]+(?: [a-z0-9]+)*$/;

/**
 * The folder of an author's pages below `/author/`, which is unique for each key on any disk. For a name with other
 * letters, or a long one, it consists of the usable part of its beginning, an underscore, which no plain name has, and
 * a digest. Some hosts do not answer names with characters that have to be escaped.
 */
export const authorFolder = (key: string): string => {
  if (key.length <= longestFolder && plainKey.test(key)) return key.replaceAll(' ', '-');
  const begun = key
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, begunFolder)
    .replaceAll(/^-+|-+$/g, '');
  return `${begun || 'x'}_${hash('sha256', key).slice(0, 16)}`;
};

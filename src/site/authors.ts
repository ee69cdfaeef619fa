import { hash } from 'node:crypto';
import { isDeviceArchitecture } from '../compatibility/builds.ts';
import { firstLine } from '../results/first-line.ts';

/** What of a package decides who made it, and for what. */
interface Authored {
  /** The name, empty where nobody is named. */
  readonly author: string;
  readonly architectures: readonly string[];
  /** What it states of devices with iOS, by repository; nothing where it is for none. */
  readonly stated: { readonly size: number };
}

/** Somebody who has a page of their own. */
export interface Author<Package extends Authored> {
  /** As `authorKey` has it. */
  readonly key: string;
  /** As most of their packages spell it, on one line. */
  readonly name: string;
  /** Their packages, also those that they made with others, in the order of identifiers. */
  readonly packages: readonly Package[];
  /** Of several people whom packages name together: who of them has a page alone. */
  readonly people: readonly string[];
}

/**
 * What stands for a person, however a package spells them: small letters, one blank between words, no marks that cannot
 * be seen. Empty where nothing of the name is left.
 */
export const authorKey = (name: string): string =>
  name
    .toWellFormed()
    .normalize('NFC')
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .toLowerCase();

// As packages name several people, in a key.
const betweenPeople = / ?[,;&+/] ?(?:and )?| and /;
// Each package stands on the pages of so many.
const mostPeople = 6;

// In an address, a sitemap and a feed it would be found by those who gather mail addresses.
const holdsMail = (name: string): boolean => /[^\s@<>()]@[^\s@<>()]+\.[^\s@<>()]/.test(name);

/** The keys of the people whom a key names, where it is not the name of one; none where it holds an address. */
export const peopleOf = (key: string): readonly string[] => {
  if (holdsMail(key) || key.includes('://')) return [];
  const people = new Set(key.split(betweenPeople, mostPeople).filter((name) => name !== ''));
  return people.has(key) ? [] : [...people];
};

/** The author of a package as feeds and addresses may name them: empty where nobody is, or where the name is a mail address. */
export const publicAuthor = ({ author }: Pick<Authored, 'author'>): string => (holdsMail(author) ? '' : author);

/**
 * Whether a package is for devices with iOS, whose owners this site is for: what is for all architectures too, where its
 * repository serves them.
 */
export const isForDevices = ({ architectures, stated }: Pick<Authored, 'architectures' | 'stated'>): boolean =>
  stated.size > 0 || architectures.some(isDeviceArchitecture);

/**
 * Whether an author of these packages has a page: everybody who makes something for devices with iOS; of those who do
 * not, who has two packages. A distribution names thousands of people with one package each, whose page would say no
 * more than that of the package, and a page and a feed for each are files that hosts count.
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
 * The authors of packages, by their key: `alone` has the packages that name nobody else, or several people as one name.
 * Where people named together have pages alone, their packages stand there too. Nobody has a page by that alone: what
 * looks like several names may be one.
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
      // One by one: as parameters of one call, a hundred thousand do not fit onto the stack.
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

// A name of a folder is at most 255 bytes long, a path 4,096; strangers write names of any length.
const longestFolder = 120;
const begunFolder = 80;
// Small letters, digits and blanks, which a folder can have as they are, with "-" for a blank.
const plainKey = /^[a-z0-9]+(?: [a-z0-9]+)*$/;

/**
 * The folder of an author's pages below `/author/`, which no two keys share on any disk. Of a name with other letters, or
 * a long one, it is what can be written of its beginning, an underscore, which no plain name has, and a digest. Some hosts
 * do not answer names in which a character has to be escaped.
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

import { describedBy, visibleText } from '../catalog/placeholder.ts';
import { nameTerms, splitWords } from '../catalog/search-text.ts';
import { buildOf } from '../compatibility/builds.ts';
import { type PackageState, stateOf } from '../contract/package-states.ts';
import type { EmbeddedRepository, PackageRecord } from '../contract/records.ts';
import { type SectionKind, sectionKind } from '../contract/sections.ts';
import { firstLine } from './first-line.ts';
import { fitsArchitecture } from './fits-architecture.ts';
import { remoteIcon } from './icon.ts';
import { nameWithSlug } from './name-with-slug.ts';
import { newestBy } from './newest.ts';
import type { RowCard } from './row.ts';
import type { ServedBuilds } from './served-builds.ts';

/** The fields of a record that the list of results needs. */
export type FoundRecord = Pick<
  PackageRecord,
  | 'package_id'
  | 'name'
  | 'description'
  | 'version'
  | 'architecture'
  | 'section'
  | 'author'
  | 'maintainer'
  | 'price'
  | 'icon_url'
> & {
  readonly repository: Pick<EmbeddedRepository, 'slug' | 'name'>;
  /** Set if it matches only a part of the query. */
  readonly isPart?: boolean;
};

/** Marks the last `parts` records of a page as matching only a part of the query. */
export const withParts = (records: readonly FoundRecord[], parts: number): readonly FoundRecord[] => {
  const whole = records.length - parts;
  // A header may be garbled on its way.
  return !Number.isInteger(parts) || parts < 1 || whole < 0
    ? records
    : records.map((one, index) => (index < whole ? one : { ...one, isPart: true }));
};

/** Names of states for people. */
export const stateTitles: Readonly<Record<PackageState, string>> = {
  current: 'Released, repository answers',
  'pre-release': 'Pre-release or debug build',
  stale: 'Repository does not answer',
};

/** A found package: its row, and its values for filters. */
export interface FoundPackage extends RowCard {
  /** The kind of its newest record. */
  readonly kind: SectionKind;
  /** The kinds of all its records, each of which finds it. */
  readonly kinds: readonly SectionKind[];
  readonly states: readonly PackageState[];
  readonly prices: readonly ('free' | 'paid')[];
  readonly repositories: readonly string[];
  /** The text that a query may be about. */
  readonly said: string;
  /** Set if it matches only a part of the query. */
  readonly isPart?: boolean;
}

/** A package in the list of results. */
export type ListedPackage = RowCard & Pick<FoundPackage, 'isPart'>;

/** What the page knows about the index. */
export interface IndexTraits {
  /** Slugs of the repositories that the last build could not read. */
  readonly stale: ReadonlySet<string>;
  /** Slugs of those whose new data is held back. Without it, that of none is. */
  readonly held?: ReadonlySet<string>;
  /** Slugs of those that the safety list names. Without it, none is. */
  readonly unsafe?: ReadonlySet<string>;
  /** Slugs of the repositories that are called as another is. Without it, none is. */
  readonly alike?: ReadonlySet<string>;
  /** Whether it has packages for iOS devices. */
  readonly hasDevices: boolean;
  /** The builds that repositories serve, by which packages for all architectures are judged. */
  readonly served?: ServedBuilds;
}

const statedByRecords = (records: readonly FoundRecord[], served: ServedBuilds | undefined): string => {
  const stated = records.flatMap(({ architecture, repository: { slug } }) => {
    const build = buildOf(architecture);
    const builds = build === 'all' ? served?.get(slug) : undefined;
    if (build === undefined || builds?.length === 0) return [];
    return builds === undefined ? build : `${build}:${builds.join(',')}`;
  });
  return [...new Set(stated)].sort().join(';');
};

/** What its architectures alone state about devices. A build of the site knows more (stated-lists). */
export const statedByBuilds = (architectures: readonly string[]): string =>
  architectures
    .map(buildOf)
    .filter((build) => build !== undefined)
    .sort()
    .join(';');

const mostText = 4096;

const wordsOf = ({ name, author, maintainer, description }: FoundRecord): string[] => [
  name ?? '',
  author ?? maintainer ?? '',
  description ?? '',
];

const toPackage = (
  records: readonly FoundRecord[],
  { stale, held, unsafe, alike, hasDevices, served }: IndexTraits,
): FoundPackage => {
  // The best matching record of a package comes first, but its page is about a repository that is safe to add, if one has
  // it. Every build of a repository has its own newest version.
  const [first] = records as [FoundRecord];
  const isUnsafe = (one: FoundRecord): boolean => unsafe?.has(one.repository.slug) === true;
  const best = records.find((one) => !isUnsafe(one)) ?? first;
  const { package_id: id, repository } = best;
  const { slug } = repository;
  const builds = records.filter((one) => one.repository.slug === slug);
  const newest = newestBy(builds, (one) => one.version) ?? best;
  const { version, description } = newest;
  const name = visibleText(newest.name) ?? id;
  const called = visibleText(repository.name) ?? slug;
  const each = <T>(of: (one: FoundRecord) => T): T[] => [...new Set(records.map(of))];
  // What only an unsafe repository has does not count beside what others have.
  const offered = records.filter((one) => isUnsafe(one) === isUnsafe(best));
  const architectures = [...new Set(offered.map(({ architecture }) => architecture))].sort();
  return {
    id,
    name,
    version,
    summary: firstLine(describedBy(description)),
    icon: remoteIcon(newest.icon_url),
    paid: newest.price === 'Paid',
    architectures,
    place: alike?.has(slug) ? nameWithSlug({ slug, name: called }) : called,
    runs: hasDevices ? statedByRecords(offered, served) : undefined,
    trouble: isUnsafe(best) ? 'unsafe' : stale.has(slug) ? 'failing' : held?.has(slug) ? 'held' : undefined,
    kind: sectionKind(newest.section),
    kinds: each((one) => sectionKind(one.section)),
    states: each((one) => stateOf(one.version, stale.has(one.repository.slug))),
    prices: each((one) => (one.price === 'Paid' ? 'paid' : 'free')),
    repositories: each((one) => one.repository.slug),
    said: [id, ...new Set([first, best, newest].flatMap(wordsOf))].join('\n').slice(0, mostText),
    ...(first.isPart === true ? { isPart: true } : {}),
  };
};

/**
 * The packages of found records, in the order of the first record of each. If an `architecture` was chosen, packages
 * for all architectures that are not for such devices are left out.
 */
export const toPackages = (
  records: readonly FoundRecord[],
  traits: IndexTraits,
  architecture?: string,
): FoundPackage[] => {
  const byId = new Map<string, FoundRecord[]>();
  for (const record of records) {
    const known = byId.get(record.package_id);
    if (known === undefined) byId.set(record.package_id, [record]);
    else known.push(record);
  }
  const found = [...byId.values()].map((one) => toPackage(one, traits));
  return architecture === undefined ? found : found.filter((one) => fitsArchitecture(architecture, one));
};

/** The words of a package that a word of a query may begin. */
export const termsOf = ({ id, name, said }: Pick<FoundPackage, 'id' | 'name' | 'said'>): Set<string> => {
  const terms = new Set(splitWords(said));
  for (const text of [name, ...id.split('.')]) {
    const { words, pairs } = nameTerms(text);
    for (const term of [...words, ...pairs, splitWords(text).join('')]) terms.add(term);
  }
  return terms.add(splitWords(id).join(''));
};

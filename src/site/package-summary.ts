import { newsCode } from '../catalog/news-codes.ts';
import { describedBy, visibleText } from '../catalog/placeholder.ts';
import type { LookupKey } from '../catalog/reading.ts';
import { parseRecord } from '../catalog/record-list.ts';
import type { RecordColumns } from '../catalog/site-reading.ts';
import { buildOf } from '../compatibility/builds.ts';
import { type SectionKind, sectionKind } from '../contract/sections.ts';
import { firstLine } from '../results/first-line.ts';
import { ownImage } from '../results/icon.ts';
import { parsePerson, webAddress } from './prose.ts';
import { isUnsafe, type Repository } from './repository.ts';
import { joinStatements, statementsOf } from './stated.ts';

/** What a row shows of a record. */
interface Face {
  readonly name: string;
  /** The first line of its description. */
  readonly summary: string;
  /** A remote icon; undefined if the drawing of its section replaces it. */
  readonly icon: string | undefined;
  readonly paid: boolean;
}

/** A package in lists: its best record, as on its page. */
export interface PackageSummary extends Face {
  readonly id: string;
  readonly version: string;
  /** As much of its description as is searched among the files. */
  readonly description: string;
  readonly author: string;
  readonly section: string | null;
  readonly kind: SectionKind;
  /** What rows show of the newest version in other repositories, by slug, if that says anything else. */
  readonly faces: ReadonlyMap<string, Face>;
  readonly repository: Repository;
  /** Slugs of all repositories that have it, the best first. */
  readonly repositories: readonly string[];
  /** The newest version in each of them. */
  readonly versions: ReadonlyMap<string, string>;
  readonly architectures: readonly string[];
  /**
   * The architectures for which each repository has it, by slug. A repository that has it for all its architectures is
   * left out.
   */
  readonly builtFor: ReadonlyMap<string, readonly string[]>;
  /** What its latest records state about iOS devices (see statementsOf), by slug; empty if it is for none. */
  readonly stated: ReadonlyMap<string, string>;
  /** Slugs of the repositories on the safety list that have it; empty if no other repository has it. */
  readonly unsafeIn: ReadonlySet<string>;
  /** When the newest of its latest records was first seen. */
  readonly updatedAt: string;
  /**
   * The last version that was news, and when it was seen, by slug. A repository whose records of it all came with its
   * own first crawl is left out.
   */
  readonly news: ReadonlyMap<string, News>;
  /** When any of its records was first seen. */
  readonly addedAt: string;
  /** Whether that was news; otherwise it is older than that. */
  readonly isAddedKnown: boolean;
}

/** A version that appeared in a repository whose earlier content is known. */
export interface News {
  readonly version: string;
  /** ISO 8601. */
  readonly at: string;
  /** Whether the repository already had the package, in another version or for another device. */
  readonly isUpdate: boolean;
  /** Set if the safety list names the repository. */
  readonly isUnsafe?: true;
}

/** A record as stored in the catalog, with what determines its place among those of its package. */
export interface KeyedRecord extends LookupKey {
  readonly owner: Repository;
  readonly row: RecordColumns;
}

// Shared by most packages of a distribution, because each empty map takes two hundred bytes.
const none = new Map<string, never>();

type ParsedRecord = ReturnType<typeof parseRecord>;

/** `best`: what the best record shows, for what another does not say. */
const faceOf = ({ package_id, name, description, icon_url, price }: ParsedRecord, best?: Face): Face => ({
  name: visibleText(name) ?? best?.name ?? package_id,
  summary: firstLine(describedBy(description)) || (best?.summary ?? ''),
  icon: (ownImage.test(icon_url) ? undefined : webAddress(icon_url)) ?? best?.icon,
  paid: price === 'Paid',
});

/** What a row of a package shows in the list of one repository, or in other lists. */
export const faceIn = (summary: PackageSummary, slug: string | undefined): Face =>
  (slug === undefined ? undefined : summary.faces.get(slug)) ?? summary;

/** A record and what it says. */
interface ReadRecord {
  readonly keyed: KeyedRecord;
  readonly record: ParsedRecord;
}

/** `firsts`: the first record of each repository, by slug. */
const facesOf = (firsts: ReadonlyMap<string, ReadRecord>, best: Face): ReadonlyMap<string, Face> => {
  // Most packages are in a single repository.
  if (firsts.size === 1) return none;
  const faces = new Map<string, Face>();
  for (const [slug, { record }] of firsts) {
    const { name, summary, icon, paid } = faceOf(record, best);
    if (name === best.name && summary === best.summary && icon === best.icon && paid === best.paid) continue;
    faces.set(slug, { name, summary, icon, paid });
  }
  return faces.size === 0 ? none : faces;
};

const statedOf = (latest: readonly ReadRecord[]): Map<string, string> => {
  const stated = new Map<string, string>();
  for (const { keyed, record } of latest) {
    const { owner, row, architecture } = keyed;
    if (buildOf(architecture) === undefined) continue;
    const own = statementsOf(record, row[8]);
    const others = stated.get(owner.slug);
    stated.set(owner.slug, others === undefined ? own : joinStatements([others, own]));
  }
  return stated.size === 0 ? none : stated;
};

const architecturesOf = (latest: readonly KeyedRecord[]): string[] =>
  [...new Set(latest.map((one) => one.architecture))].sort();

const builtForOf = (latest: readonly KeyedRecord[], all: number): ReadonlyMap<string, readonly string[]> => {
  // Most packages have one architecture, which every repository has.
  if (all === 1) return none;
  const builtFor = new Map<string, readonly string[]>();
  for (const [slug, own] of Map.groupBy(latest, ({ owner }) => owner.slug)) {
    const architectures = architecturesOf(own);
    if (architectures.length < all) builtFor.set(slug, architectures);
  }
  return builtFor.size === 0 ? none : builtFor;
};

const nowhere: ReadonlySet<string> = new Set();

const unsafeInOf = (latest: readonly KeyedRecord[], best: Repository): ReadonlySet<string> => {
  // A page's best repository is safe if one is.
  if (isUnsafe(best)) return nowhere;
  const unsafe = latest.filter(({ owner }) => isUnsafe(owner));
  return unsafe.length === 0 ? nowhere : new Set(unsafe.map(({ owner }) => owner.slug));
};

const newsOf = (latest: readonly KeyedRecord[]): ReadonlyMap<string, News> => {
  const news = new Map<string, News>();
  for (const { owner, version, row } of latest) {
    const at = row[5];
    const known = news.get(owner.slug);
    if (row[6] === newsCode.known || (known !== undefined && at <= known.at)) continue;
    const isUpdate = row[6] === newsCode.updated;
    news.set(owner.slug, { version, at, isUpdate, ...(isUnsafe(owner) ? { isUnsafe: true } : {}) });
  }
  return news.size === 0 ? none : news;
};

const newest = (versions: readonly KeyedRecord[]): string => firstSeen(versions).at(-1) ?? '';
const oldest = (versions: readonly KeyedRecord[]): Pick<PackageSummary, 'addedAt' | 'isAddedKnown'> => {
  const addedAt = firstSeen(versions)[0] ?? '';
  return { addedAt, isAddedKnown: versions.every(({ row }) => row[5] !== addedAt || row[6] === 1) };
};
const firstSeen = (versions: readonly KeyedRecord[]): string[] => versions.map(({ row }) => row[5]).sort();

/** Few describe a package with more characters, and everybody who searches among the files would read what they add. */
const longestSearched = 2000;

// A part of a text keeps all of it in memory, so it is copied.
const cutDescription = (text: string): string =>
  text.length <= longestSearched ? text : Buffer.from(text.slice(0, longestSearched), 'utf16le').toString('utf16le');

/** Summarises the package with these records, which are in the order of its page. */
export const summarise = (keyed: readonly KeyedRecord[]): PackageSummary & { readonly stated: Map<string, string> } => {
  const best = keyed[0] as KeyedRecord;
  const record = parseRecord(best.row[7]);
  const latest = keyed.filter((one) => one.latest);
  const read = latest.map((one) => ({ keyed: one, record: one === best ? record : parseRecord(one.row[7]) }));
  const firsts = new Map<string, ReadRecord>();
  for (const one of read) {
    if (!firsts.has(one.keyed.owner.slug)) firsts.set(one.keyed.owner.slug, one);
  }
  const versions = new Map([...firsts].map(([slug, { keyed }]) => [slug, keyed.version]));
  const architectures = architecturesOf(latest);
  const face = faceOf(record);
  return {
    id: record.package_id,
    ...face,
    version: record.version,
    description: cutDescription(describedBy(record.description) ?? ''),
    author: parsePerson(record.author) ?? parsePerson(record.maintainer) ?? '',
    section: visibleText(record.section),
    kind: sectionKind(record.section),
    faces: facesOf(firsts, face),
    repository: best.owner,
    repositories: [...versions.keys()],
    versions,
    architectures,
    builtFor: builtForOf(latest, architectures.length),
    stated: statedOf(read),
    unsafeIn: unsafeInOf(latest, best.owner),
    updatedAt: newest(latest),
    news: newsOf(latest),
    ...oldest(keyed),
  };
};

/**
 * The architectures for which a package can be had, and what its builds state about devices, in lists of all repositories.
 * What only an unsafe repository has does not count there: a list would send people to it, and only the page warns.
 */
export const offeredBuilds = ({
  architectures,
  builtFor,
  stated,
  repositories,
  unsafeIn,
}: Pick<PackageSummary, 'architectures' | 'builtFor' | 'stated' | 'repositories' | 'unsafeIn'>): {
  readonly architectures: readonly string[];
  readonly runs: string;
} => {
  if (unsafeIn.size === 0) return { architectures, runs: joinStatements(stated.values()) };
  const safe = repositories.filter((slug) => !unsafeIn.has(slug));
  return {
    architectures: [...new Set(safe.flatMap((slug) => builtFor.get(slug) ?? architectures))].sort(),
    runs: joinStatements(safe.map((slug) => stated.get(slug) ?? '')),
  };
};

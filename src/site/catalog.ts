import { DatabaseSync } from 'node:sqlite';
import type { LastBuild } from '../catalog/outcomes.ts';
import { type LookupKey, lookupOrder } from '../catalog/reading.ts';
import type { RecordDetails } from '../catalog/record.ts';
import type { Finding } from '../contract/findings.ts';
import type { PackageRecord, RepositoryRecord } from '../contract/records.ts';
import { type SectionKind, sectionKind } from '../contract/sections.ts';
import type { SigningState } from '../contract/signing.ts';
import { firstLine, readPerson, webAddress } from './prose.ts';
import { parseRelations } from './relations.ts';

/** What the last build said of one repository. */
export type Outcome = LastBuild['repositories'][number];

/** A repository and all that the site says about it. */
export interface Repository {
  readonly slug: string;
  /** Its name, or its slug where it has none. */
  readonly name: string;
  readonly record: RepositoryRecord;
  readonly aliases: readonly string[];
  readonly addedAt: string;
  readonly changedAt: string;
  readonly findings: readonly Finding[];
  readonly signing: SigningState;
  readonly outcome: Outcome | undefined;
}

interface RepositoryColumns {
  readonly id: number;
  readonly slug: string;
  readonly aliases: string;
  readonly added_at: string;
  readonly changed_at: string;
  readonly signing: string;
  readonly record: string;
}

/** A package as lists show it: its best record, in the order of the package lookup. */
export interface PackageSummary {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly summary: string;
  readonly author: string;
  readonly section: string | null;
  readonly kind: SectionKind;
  readonly paid: boolean;
  /** A remote icon; undefined where the drawing of its section stands for it. */
  readonly icon: string | undefined;
  readonly repository: Repository;
  /** Slugs of all repositories that have it, the best first. */
  readonly repositories: readonly string[];
  /** The newest version in each of them. */
  readonly versions: ReadonlyMap<string, string>;
  readonly architectures: readonly string[];
  /** When the newest of its latest records was first seen. */
  readonly updatedAt: string;
  /** When any of its records was first seen. */
  readonly addedAt: string;
}

/** One version of a package, as stored. */
export interface PackageVersion {
  readonly record: Omit<PackageRecord, 'repository'>;
  readonly repository: Repository;
  readonly details: RecordDetails;
  readonly firstSeen: string;
}

type Row = [
  repository: number,
  name: string,
  version: string,
  architecture: string,
  latest: number,
  firstSeen: string,
  json: string,
  details: string | null,
];
const columns = 'repository, package, version, architecture, latest, first_seen, json, details';

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

interface Keyed extends LookupKey {
  readonly owner: Repository;
  readonly row: Row;
}

// A record is stored up to the value of its last key, which the repository's own text completes.
const parseRecord = (json: string) => JSON.parse(`${json}null}`) as Omit<PackageRecord, 'repository'>;

/** The catalog as the pages see it. It keeps a summary of every package in memory and reads the rest when asked. */
export class SiteCatalog {
  /** By ranking, then slug. */
  readonly repositories: readonly Repository[];
  /** Repositories by each slug they had before; never one that a repository has now. */
  readonly former: ReadonlyMap<string, Repository>;
  /** By identifier, in code unit order. */
  readonly packages: ReadonlyMap<string, PackageSummary>;
  readonly versionCount: number;
  readonly lastBuild: LastBuild | undefined;
  readonly #database: DatabaseSync;
  readonly #byNumber: ReadonlyMap<number, Repository>;
  readonly #select;
  readonly #dependents = new Map<string, string[]>();
  readonly #providers = new Map<string, string[]>();
  readonly #byAuthor = new Map<string, PackageSummary[]>();

  /** Opens the catalog file read-only; `lastBuild` tells how each repository fared. */
  constructor(catalogPath: string, lastBuild?: LastBuild) {
    this.lastBuild = lastBuild;
    this.#database = new DatabaseSync(catalogPath, { readOnly: true });
    const outcomes = lastBuild?.repositories.map((outcome) => [outcome.slug, outcome] as const);
    this.#byNumber = this.#readRepositories(new Map(outcomes));
    this.repositories = [...this.#byNumber.values()].sort(
      (a, b) => a.record.quality - b.record.quality || compareText(a.slug, b.slug),
    );
    this.former = formerSlugs(this.repositories);
    this.#select = this.#database.prepare(`SELECT ${columns} FROM record WHERE package = ?`);
    this.#select.setReturnArrays(true);
    const packages = new Map<string, PackageSummary>();
    let versions = 0;
    for (const rows of this.#groups()) {
      versions += rows.length;
      const summary = this.#summarise(rows);
      packages.set(summary.id, summary);
    }
    this.packages = packages;
    this.versionCount = versions;
  }

  /** The versions of a package in the order of the package lookup (decisions, section 4); empty where it is unknown. */
  readVersions(id: string): PackageVersion[] {
    const rows = this.#select.all(id) as unknown as Row[];
    return this.#inOrder(rows).map(({ owner, row: [, , , , , firstSeen, json, details] }) => ({
      record: parseRecord(json),
      repository: owner,
      details: details === null ? {} : (JSON.parse(details) as RecordDetails),
      firstSeen,
    }));
  }

  /** Packages whose best record depends on this name, in identifier order. */
  dependents(name: string): readonly string[] {
    return this.#dependents.get(name) ?? [];
  }

  /** The package whose page tells of a name that a relation holds: itself, else the first that provides it. */
  resolve(name: string): string | undefined {
    return this.packages.has(name) ? name : this.#providers.get(name)?.[0];
  }

  /** All packages of an author, as `PackageSummary.author` names them. */
  packagesOf(author: string): readonly PackageSummary[] {
    return this.#byAuthor.get(author.toLowerCase()) ?? [];
  }

  /** The repository of that slug. */
  repository(slug: string): Repository | undefined {
    return this.repositories.find((repository) => repository.slug === slug);
  }

  close(): void {
    this.#database.close();
  }

  #repository(number: number): Repository {
    const repository = this.#byNumber.get(number);
    if (repository === undefined) throw new Error(`catalog: record of an unknown repository ${number}`);
    return repository;
  }

  #readRepositories(outcomes: ReadonlyMap<string, Outcome>): Map<number, Repository> {
    const findings = new Map<number, Finding[]>();
    for (const row of this.#database.prepare('SELECT repository, code, count, example FROM finding').all()) {
      const { repository, code, count, example } = row as unknown as Finding & { repository: number };
      const list = findings.get(repository) ?? [];
      list.push({ code, count, example });
      findings.set(repository, list);
    }
    const rows = this.#database
      .prepare('SELECT id, slug, aliases, added_at, changed_at, signing, record FROM repository')
      .all() as unknown as RepositoryColumns[];
    return new Map(
      rows.map((row) => {
        const record = JSON.parse(row.record) as RepositoryRecord;
        const repository: Repository = {
          slug: row.slug,
          name: record.name ?? row.slug,
          record,
          aliases: JSON.parse(row.aliases) as string[],
          addedAt: row.added_at,
          changedAt: row.changed_at,
          findings: findings.get(row.id) ?? [],
          signing: (JSON.parse(row.signing) as { state: SigningState }).state,
          outcome: outcomes.get(row.slug),
        };
        return [row.id, repository];
      }),
    );
  }

  *#groups(): Generator<Row[]> {
    const select = this.#database.prepare(`SELECT ${columns} FROM record ORDER BY package`);
    select.setReturnArrays(true);
    let group: Row[] = [];
    for (const row of select.iterate() as unknown as Iterable<Row>) {
      if (group[0] !== undefined && group[0][1] !== row[1]) {
        yield group;
        group = [];
      }
      group.push(row);
    }
    if (group.length > 0) yield group;
  }

  #inOrder(rows: readonly Row[]): Keyed[] {
    const keyed = rows.map((row) => {
      const owner = this.#repository(row[0]);
      const repository = { slug: owner.slug, quality: owner.record.quality };
      return { owner, repository, latest: row[4] === 1, version: row[2], architecture: row[3], row };
    });
    return keyed.length > 1 ? keyed.sort(lookupOrder) : keyed;
  }

  #summarise(rows: readonly Row[]): PackageSummary {
    const keyed = this.#inOrder(rows);
    const best = keyed[0] as Keyed;
    const [, , , , , , json, details] = best.row;
    const record = parseRecord(json);
    const latest = keyed.filter((one) => one.latest);
    const versions = new Map<string, string>();
    for (const { owner, version } of latest) {
      if (!versions.has(owner.slug)) versions.set(owner.slug, version);
    }
    const remote = webAddress(record.icon_url);
    const summary: PackageSummary = {
      id: record.package_id,
      name: record.name ?? record.package_id,
      version: record.version,
      summary: firstLine(record.description),
      author: readPerson(record.author ?? record.maintainer)?.name ?? '',
      section: record.section,
      kind: sectionKind(record.section),
      paid: record.price === 'Paid',
      icon: remote !== undefined && !ownImage.test(remote) ? remote : undefined,
      repository: best.owner,
      repositories: [...versions.keys()],
      versions,
      architectures: [...new Set(latest.map((one) => one.architecture))].sort(),
      updatedAt: newest(latest),
      addedAt: oldest(keyed),
    };
    this.#note(summary, details === null ? {} : (JSON.parse(details) as RecordDetails));
    return summary;
  }

  #note(summary: PackageSummary, details: RecordDetails): void {
    const names = new Set<string>();
    for (const field of [details.depends, details.preDepends]) {
      for (const group of parseRelations(field)) for (const { name } of group) names.add(name);
    }
    for (const name of names) append(this.#dependents, name, summary.id);
    for (const group of parseRelations(details.provides)) {
      for (const { name } of group) append(this.#providers, name, summary.id);
    }
    if (summary.author !== '') append(this.#byAuthor, summary.author.toLowerCase(), summary);
  }
}

const newest = (versions: readonly Keyed[]): string => firstSeen(versions).at(-1) ?? '';
const oldest = (versions: readonly Keyed[]): string => firstSeen(versions)[0] ?? '';
const firstSeen = (versions: readonly Keyed[]): string[] => versions.map(({ row }) => row[5]).sort();

// The first that claims a slug has it, as with the documents of the API.
const formerSlugs = (repositories: readonly Repository[]): Map<string, Repository> => {
  const taken = new Set(repositories.map(({ slug }) => slug));
  const former = new Map<string, Repository>();
  for (const repository of repositories) {
    for (const alias of repository.aliases) {
      if (!taken.has(alias) && !former.has(alias)) former.set(alias, repository);
    }
  }
  return former;
};

/** The images that stand for a section, wherever this site is published. */
export const ownImage = /\/icons\/(?:sections|headers)\/[a-z-]+\.png$/;

const append = <T>(map: Map<string, T[]>, key: string, value: T): void => {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
};

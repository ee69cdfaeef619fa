import { type Divergences, readDivergences } from '../catalog/divergence-reading.ts';
import { chooseExample } from '../catalog/example-reading.ts';
import type { ShownBuild, VanishedPackage } from '../catalog/last-build.ts';
import { newsCode } from '../catalog/news-codes.ts';
import { CatalogFile } from '../catalog/node-sqlite.ts';
import { visibleText } from '../catalog/placeholder.ts';
import { readPublishedDownloads } from '../catalog/published-downloads.ts';
import { lookupOrder } from '../catalog/reading.ts';
import { parseDetails, type RecordDetails } from '../catalog/record-details.ts';
import { parseRecord } from '../catalog/record-list.ts';
import {
  prepareRecords,
  type RecordColumns,
  readCatalogRepositories,
  readRecordGroups,
} from '../catalog/site-reading.ts';
import { architectureOf, type Build, builds } from '../compatibility/builds.ts';
import type { ExampleSubject } from '../contract/example-subject.ts';
import { isFindingCode, withoutOrders } from '../contract/finding-texts.ts';
import type { DatedFinding, Finding } from '../contract/findings.ts';
import type { DownloadTotal, PackageRecord } from '../contract/records.ts';
import type { SafetyEntry } from '../contract/safety.ts';
import type { Depiction } from '../depictions/depiction.ts';
import { readKeptDepiction } from '../depictions/kept-depiction.ts';
import { statedLists } from '../results/stated-lists.ts';
import { createSafetyList } from '../safety/safety-list.ts';
import { type Author, authorKey, composeAuthors, isForDevices } from './authors.ts';
import { doubtOf, findUnsafeDoubt, unsafeDoubt } from './doubt.ts';
import { type Holder, holderOf } from './holder.ts';
import { PackageFacts } from './package-facts.ts';
import { type KeyedRecord, type PackageSummary, summarise } from './package-summary.ts';
import { rememberLast } from './page-keys.ts';
import type { RelationIndex } from './relation-index.ts';
import { isUnsafe, type Outcome, type Repository, type UnsafeDoubt } from './repository.ts';
import { statedWhereServed } from './stated.ts';
import { tellNames } from './told-apart.ts';

/** One version of a package, as stored. */
export interface PackageVersion {
  readonly record: Omit<PackageRecord, 'repository'>;
  readonly repository: Holder;
  readonly details: RecordDetails;
  readonly firstSeen: string;
  /** Whether it was seen to appear; otherwise it was there when its repository was first read. */
  readonly isNews: boolean;
  /** When its repository last named different bytes for it; undefined if it never did. ISO 8601. */
  readonly bytesChangedAt: string | undefined;
  /** Whether it was news about a package that the repository already had. */
  readonly isUpdate: boolean;
}

// The catalog has what is found now, and the outcomes since when.
const tellSince = (findings: readonly Finding[], outcome: Outcome | undefined): DatedFinding[] =>
  findings.map((finding) => ({
    ...finding,
    since: outcome?.findings?.find(({ code }) => code === finding.code)?.since,
  }));

// Everybody may see what went wrong. Owners and the operator are told elsewhere what to do.
const forReaders = (outcome: Outcome): Outcome => {
  const { code, earlier, reason } = outcome;
  if (reason === null) return outcome;
  // That of a pause quotes the sentence about the failure before it.
  const codes = [code, earlier].filter((one) => typeof one === 'string').filter(isFindingCode);
  return { ...outcome, reason: codes.reduce((told, one) => withoutOrders(one, told), reason) };
};

// How many providers of a name are considered. If there are more, the page of a package may wrongly say that another
// repository is needed.
const mostProviders = 64;

// By how many architectures packages can be filtered. Debian has some twenty, with its ports. Whatever strangers name
// would be part of the search page, and of what it reads.
const mostArchitectures = 100;

// The order of the package lookup, except that what is in an unsafe repository comes last: of several copies, a page offers
// the first.
const pageOrder = (a: KeyedRecord, b: KeyedRecord): number =>
  Number(b.latest) - Number(a.latest) || Number(isUnsafe(a.owner)) - Number(isUnsafe(b.owner)) || lookupOrder(a, b);

/** The catalog as pages see it. It keeps a summary of every package in memory and reads the rest on demand. */
export class SiteCatalog {
  /** By ranking, then slug. */
  readonly repositories: readonly Repository[];
  /** Repositories by each of their former slugs; never by the present slug of another. */
  readonly former: ReadonlyMap<string, Repository>;
  /** By identifier, ordered by UTF-8 bytes. */
  readonly packages: ReadonlyMap<string, PackageSummary>;
  readonly versionCount: number;
  /** How often packages were downloaded, by identifier; only for those that were counted. */
  readonly downloads: ReadonlyMap<string, DownloadTotal>;
  /** Whether any package is for iOS devices. If none is, nothing is said about them. */
  readonly hasDevices: boolean;
  /** How many lists there are of what packages state about such devices; see `statedLists`. */
  readonly statedLists: number;
  readonly lastBuild: ShownBuild | undefined;
  readonly #database: CatalogFile;
  #example: { readonly subject: ExampleSubject | undefined } | undefined;
  readonly #byNumber: ReadonlyMap<number, Repository>;
  readonly #holders: ReadonlyMap<Repository, Holder>;
  readonly #recordsOf: (name: string) => RecordColumns[];
  #facts: PackageFacts | undefined;
  #needOthers: ReadonlySet<string> | undefined;
  readonly #byAuthor = new Map<string, PackageSummary[]>();
  #authors: ReadonlyMap<string, Author<PackageSummary>> | undefined;
  readonly #bySlug: ReadonlyMap<string, Repository>;
  readonly #architectures = new Map<string, Set<string>>();
  #commonArchitectures: readonly string[] | undefined;
  readonly #depictions: string | undefined;
  readonly #safety: ReturnType<typeof createSafetyList<SafetyEntry>>;

  /**
   * Opens the catalog file read-only. `lastBuild` has the outcome of each repository. `depictions` is the folder of the
   * snapshots, beside which native depictions are kept; without it none is shown. `safety` is the safety list, as the
   * safety check of the API reads it. `rendersFew`: whether few pages of packages are likely to be rendered. What only
   * those need is then read when it is asked for, which takes another reading of the catalog.
   */
  constructor(
    catalogPath: string,
    lastBuild?: ShownBuild,
    depictions?: string,
    safety: readonly SafetyEntry[] = [],
    rendersFew = false,
  ) {
    this.lastBuild = lastBuild && { ...lastBuild, repositories: lastBuild.repositories.map(forReaders) };
    this.#depictions = depictions;
    this.#database = CatalogFile.openReadOnly(catalogPath);
    const outcomes = new Map(this.lastBuild?.repositories.map((outcome) => [outcome.slug, outcome] as const));
    const named = readCatalogRepositories(this.#database).map((repository) => ({
      ...repository,
      name: visibleText(repository.record.name) ?? repository.slug,
    }));
    const names = tellNames(named);
    this.#safety = createSafetyList(safety);
    this.#byNumber = new Map(
      named.map(({ number, ...repository }) => {
        const { slug, name, record } = repository;
        const outcome = outcomes.get(slug);
        const unsafe = findUnsafeDoubt(this.#safety, record.uri, repository.findings);
        const doubt = doubtOf({ ...repository, outcome }, lastBuild?.builtAt, unsafe);
        const findings = tellSince(repository.findings, outcome);
        return [number, { ...repository, toldName: names.get(slug) ?? name, outcome, doubt, findings }];
      }),
    );
    this.repositories = [...this.#byNumber.values()];
    this.#holders = new Map(this.repositories.map((one) => [one, holderOf(one)]));
    this.#bySlug = new Map(this.repositories.map((repository) => [repository.slug, repository]));
    this.former = new Map(
      this.repositories.flatMap((repository) => repository.aliases.map((alias) => [alias, repository] as const)),
    );
    this.#recordsOf = prepareRecords(this.#database);
    const packages = new Map<string, PackageSummary & { readonly stated: Map<string, string> }>();
    const facts = rendersFew ? undefined : new PackageFacts(lastBuild?.builtAt);
    let versions = 0;
    for (const rows of readRecordGroups(this.#database)) {
      versions += rows.length;
      const keyed = this.#inOrder(rows);
      const summary = summarise(keyed);
      packages.set(summary.id, summary);
      this.#note(summary, keyed);
      facts?.add(summary.id, keyed);
    }
    this.#facts = facts;
    this.packages = packages;
    for (const { stated } of packages.values()) this.#judgeByServed(stated);
    this.hasDevices = packages.values().some(isForDevices);
    this.statedLists = this.hasDevices ? statedLists.count(packages.size) : 0;
    this.versionCount = versions;
    this.downloads = new Map(readPublishedDownloads(this.#database).map((one) => [one.package_id, one]));
  }

  /** The subject of examples for this index; undefined if there is none. */
  get example(): ExampleSubject | undefined {
    this.#example ??= { subject: chooseExample(this.#database) };
    return this.#example.subject;
  }

  /**
   * A digest of all records of a package, as stored in the catalog, and of how many are dated after the last build;
   * undefined if it is unknown.
   */
  digestOf(id: string): string | undefined {
    return this.#known.digests.get(id);
  }

  /** The repository with this slug, as pages of packages see it. */
  holder(slug: string): Holder | undefined {
    const repository = this.#bySlug.get(slug);
    return repository && this.#holderOf(repository);
  }

  /** What the safety list says of an address; undefined if it does not name it. */
  unsafeAt(uri: string): UnsafeDoubt | undefined {
    const entry = this.#safety.find(uri);
    return entry && unsafeDoubt(entry);
  }

  /** Whether native depictions are shown. */
  get hasDepictions(): boolean {
    return this.#depictions !== undefined;
  }

  /** What may be shown of the native depiction that a record of a repository names; undefined if nothing is kept. */
  readDepiction(slug: string, url: string | null): Depiction | undefined {
    if (this.#depictions === undefined || url === null) return undefined;
    return readKeptDepiction(this.#depictions, slug, url);
  }

  /** Versions with different bytes in another repository, or than before; events after the build come last. */
  readDivergences(): Divergences {
    return readDivergences(this.#database, this.lastBuild?.builtAt);
  }

  /** What packages need and provide; lists of packages are ordered by identifier. */
  get relations(): RelationIndex {
    return this.#known.relations;
  }

  /**
   * The package whose page describes a name in a relation: itself, or else the first that provides it and is in a
   * repository that is safe to add, or else the first that provides it.
   */
  find(name: string): PackageSummary | undefined {
    return this.packages.get(name) ?? this.#provider(name);
  }

  #provider(name: string): PackageSummary | undefined {
    let first: PackageSummary | undefined;
    for (const id of this.relations.providers(name, false).slice(0, mostProviders)) {
      const one = this.packages.get(id);
      if (one !== undefined && !isUnsafe(one.repository)) return one;
      first ??= one;
    }
    return first;
  }

  /**
   * Whether one of some repositories, or one of a bootstrap, has a package with this name, or one that provides it.
   * `toVersions`: the relation only accepts some versions, so providing the name without one does not satisfy it.
   */
  isNear(isOne: (slug: string) => boolean, name: string, toVersions: boolean): boolean {
    const providers = this.relations.providers(name, toVersions).slice(0, mostProviders);
    return [name, ...providers].some((id) =>
      this.packages.get(id)?.repositories.some((one) => isOne(one) || this.isBootstrap(one)),
    );
  }

  /**
   * Whether a package may need something from other repositories than its own, be it through what it needs. Most need
   * nothing from there, and only for the others is it worth finding out.
   */
  mayNeedOthers(id: string): boolean {
    this.#needOthers ??= this.relations.withDependents(
      [...this.packages.values()]
        .filter(({ id, repository: { slug } }) =>
          this.relations.namedBy(id).some((name) => {
            const target = this.find(name);
            return target !== undefined && !target.repositories.includes(slug);
          }),
        )
        .map(({ id }) => id),
    );
    return this.#needOthers.has(id);
  }

  /** All packages of an author, in the spelling of `PackageSummary.author`, ordered by identifier. */
  packagesOf(author: string): readonly PackageSummary[] {
    const key = authorKey(author);
    return this.authors.get(key)?.packages ?? this.#byAuthor.get(key) ?? [];
  }

  /** The author of a package, if they have a page. */
  authorOf({ author }: Pick<PackageSummary, 'author'>): Author<PackageSummary> | undefined {
    return this.authors.get(authorKey(author));
  }

  /** Everybody who has a page, by their key. */
  get authors(): ReadonlyMap<string, Author<PackageSummary>> {
    this.#authors ??= composeAuthors(this.#byAuthor);
    return this.#authors;
  }

  /** The repository with this slug. */
  repository(slug: string): Repository | undefined {
    return this.#bySlug.get(slug);
  }

  /** Whether the repository with this slug belongs to a bootstrap, so that every device with that has it. */
  isBootstrap(slug: string): boolean {
    return this.#bySlug.get(slug)?.record.bootstrap === true;
  }

  /** The architectures for which a repository has a newest version of anything, in order. */
  architecturesIn(slug: string): readonly string[] {
    return [...(this.#architectures.get(slug) ?? [])].sort();
  }

  /**
   * The architectures by which packages can be filtered, those of most packages first. If there are too many, those that
   * most repositories have.
   */
  get commonArchitectures(): readonly string[] {
    this.#commonArchitectures ??= this.#countArchitectures();
    return this.#commonArchitectures;
  }

  #countArchitectures(): string[] {
    const counts = new Map<string, { repositories: number; packages: number }>();
    const countOf = (name: string) => {
      const known = counts.get(name) ?? { repositories: 0, packages: 0 };
      counts.set(name, known);
      return known;
    };
    for (const { architectures } of this.packages.values()) for (const one of architectures) countOf(one).packages++;
    for (const served of this.#architectures.values()) for (const one of served) countOf(one).repositories++;
    return [...counts]
      .sort(([, a], [, b]) => b.repositories - a.repositories || b.packages - a.packages)
      .slice(0, mostArchitectures)
      .sort(([, a], [, b]) => b.packages - a.packages)
      .map(([name]) => name);
  }

  /** The builds for which a repository has something. Its packages for all architectures count for those. */
  buildsIn(slug: string): Build[] {
    const known = this.#architectures.get(slug) ?? new Set<string>();
    return builds.filter((build) => known.has(architectureOf(build)));
  }

  /** A package for all architectures says nothing about devices for which its repository has nothing else. */
  #judgeByServed(stated: Map<string, string>): void {
    for (const [slug, text] of stated) {
      // A list of several builds begins with the build for all.
      if (!text.startsWith('all')) continue;
      const served = this.buildsIn(slug);
      if (served.length === 0) stated.delete(slug);
      else stated.set(slug, statedWhereServed(text, served));
    }
  }

  /** Packages that a repository had recently and no longer has, the latest first. */
  vanishedFrom(slug: string): readonly VanishedPackage[] {
    const known = this.lastBuild?.vanished ?? {};
    const vanished = Object.hasOwn(known, slug) ? (known[slug] ?? []) : [];
    return vanished.filter(({ id }) => this.packages.get(id)?.versions.has(slug) !== true);
  }

  close(): void {
    this.#database.close();
  }

  #repository(number: number): Repository {
    const repository = this.#byNumber.get(number);
    if (repository === undefined) throw new Error(`catalog: record of an unknown repository ${number}`);
    return repository;
  }

  #holderOf(repository: Repository): Holder {
    return this.#holders.get(repository) ?? holderOf(repository);
  }

  /**
   * The versions of a package in the order of the package lookup (decisions, section 4), but those of unsafe repositories
   * last; empty if it is unknown. The last are kept, because its page and its feed are rendered one after the other.
   */
  readVersions = rememberLast((id: string): readonly PackageVersion[] =>
    this.#inOrder(this.#recordsOf(id)).map(({ owner, row: [, , , , , firstSeen, news, json, details, at] }) => ({
      record: parseRecord(json),
      repository: this.#holderOf(owner),
      details: parseDetails(details),
      firstSeen,
      isNews: news !== newsCode.known,
      isUpdate: news === newsCode.updated,
      bytesChangedAt: at ?? undefined,
    })),
  );

  #inOrder(rows: readonly RecordColumns[]): KeyedRecord[] {
    const keyed = rows.map((row) => {
      const owner = this.#repository(row[0]);
      const repository = { slug: owner.slug, quality: owner.record.quality };
      return { owner, repository, latest: row[4] === 1, version: row[2], architecture: row[3], row };
    });
    return keyed.length > 1 ? keyed.sort(pageOrder) : keyed;
  }

  get #known(): PackageFacts {
    this.#facts ??= this.#readFacts();
    return this.#facts;
  }

  #readFacts(): PackageFacts {
    const facts = new PackageFacts(this.lastBuild?.builtAt);
    for (const rows of readRecordGroups(this.#database)) {
      const [[, id]] = rows as [RecordColumns];
      facts.add(id, this.#inOrder(rows));
    }
    return facts;
  }

  /** Collects what all packages together say of their repositories and authors. */
  #note(summary: PackageSummary, keyed: readonly KeyedRecord[]): void {
    // Including older versions, because each has a newest one of the same architecture.
    for (const { owner, architecture } of keyed) {
      const known = this.#architectures.get(owner.slug);
      if (known === undefined) this.#architectures.set(owner.slug, new Set([architecture]));
      else known.add(architecture);
    }
    const author = authorKey(summary.author);
    if (author === '') return;
    const others = this.#byAuthor.get(author);
    if (others === undefined) this.#byAuthor.set(author, [summary]);
    else others.push(summary);
  }
}

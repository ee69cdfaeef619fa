import type { Relation } from '../apt/relations.ts';
import { compareVersions } from '../apt/version.ts';
import {
  type DependencyReading,
  type DependencyRepository,
  everyArchitecture,
  type NewestRecord,
  type ProvidingRecord,
  type RecordRelations,
} from '../catalog/dependency-reading.ts';
import { compareText } from '../catalog/reading.ts';
import type { DependencyQuestion } from '../contract/dependency-records.ts';
import { fitsQualifier, hasVersion, providesVersion } from './matching.ts';
import { costOf, type PackageRelations, readRelations } from './package-relations.ts';
import type { Steps, Work } from './work.ts';

/** What the resolver reads: the catalog, or a substitute. */
export type Reading = Pick<DependencyReading, keyof DependencyReading>;

/** The catalog as one question sees it: each fact is read once, for one architecture. */
export class Offers {
  readonly architecture: string;
  readonly repositories: readonly DependencyRepository[];
  readonly #reading: Reading;
  readonly #work: Work;
  readonly #newest = new Map<string, readonly NewestRecord[]>();
  readonly #places: ReadonlyMap<number, number>;
  readonly #bootstraps: ReadonlySet<number>;
  readonly #isSafe: DependencyQuestion['isSafe'];
  readonly #safe = new Map<DependencyRepository, boolean>();

  /** `had` are the repositories that the visitor has. */
  constructor(
    reading: Reading,
    { architecture, isSafe }: Pick<DependencyQuestion, 'architecture' | 'isSafe'>,
    had: readonly DependencyRepository[],
    work: Work,
  ) {
    this.#reading = reading;
    this.#isSafe = isSafe;
    this.#work = work;
    this.architecture = architecture;
    this.repositories = reading.repositories;
    this.#places = new Map(reading.repositories.map(({ number }, place) => [number, place]));
    const bootstraps = had.filter(({ bootstrap }) => bootstrap);
    const possible = bootstraps.length > 0 ? bootstraps : reading.repositories.filter(({ bootstrap }) => bootstrap);
    this.#bootstraps = new Set(possible.map(({ number }) => number));
  }

  /** The newest versions of a package, by repository. */
  newest(name: string): readonly NewestRecord[] {
    const known = this.#newest.get(name);
    if (known !== undefined) return known;
    const found = this.#reading
      .newest(name, this.architecture)
      .sort((a, b) => this.compareRepositories(a, b) || compareText(a.architecture, b.architecture));
    this.#work.spend(found.length);
    this.#newest.set(name, found);
    return found;
  }

  architectures(name: string): string[] {
    return this.#reading.architectures(name);
  }

  providing(name: string, repositories: readonly DependencyRepository[]): ProvidingRecord[] {
    return this.#reading.providing(name, this.architecture, repositories);
  }

  repositoryOf({ repository }: NewestRecord): DependencyRepository {
    const found = this.repositories[this.#places.get(repository) ?? -1];
    if (found === undefined) throw new Error(`catalog: a record belongs to no repository (${repository})`);
    return found;
  }

  /** Compares two repositories: the better ranked one comes first. */
  compareRepositories(a: NewestRecord, b: NewestRecord): number {
    return (this.#places.get(a.repository) ?? 0) - (this.#places.get(b.repository) ?? 0);
  }

  /** Whether a repository is safe to add. */
  isSafe(repository: DependencyRepository): boolean {
    const known = this.#safe.get(repository) ?? this.#isSafe(repository.uri);
    this.#safe.set(repository, known);
    return known;
  }

  written({ record }: NewestRecord): RecordRelations {
    return this.#reading.relations(record);
  }

  relations(record: NewestRecord): PackageRelations {
    const written = this.written(record);
    const relations = readRelations(written);
    this.#work.spend(costOf(written, relations));
    return relations;
  }

  /**
   * Whether a device has it with its bootstrap. If the visitor has no bootstrap repository, it is unknown which one
   * that is.
   */
  isOfBootstrap(record: NewestRecord): boolean {
    return this.#bootstraps.has(record.repository) && this.written(record).essential === true;
  }

  /** Whether the qualifier after the colon of a relation allows this record to satisfy it. */
  fits(relation: Relation, record: NewestRecord): boolean {
    return fitsQualifier(relation, this.architecture, () => this.written(record).anyArchitecture === true);
  }
}

/** apt's candidates if these repositories are configured with equal pins: the newest version of each package. */
export class Candidates {
  readonly repositories: readonly DependencyRepository[];
  readonly #offers: Offers;
  readonly #work: Work;
  readonly #numbers: ReadonlySet<number>;
  readonly #candidates = new Map<string, NewestRecord | undefined>();

  constructor(offers: Offers, slugs: ReadonlySet<string>, work: Work) {
    this.#offers = offers;
    this.#work = work;
    this.repositories = offers.repositories.filter(({ slug }) => slugs.has(slug));
    this.#numbers = new Set(this.repositories.map(({ number }) => number));
  }

  has({ repository }: NewestRecord): boolean {
    return this.#numbers.has(repository);
  }

  /** The version of a package that apt would install. */
  of(name: string): NewestRecord | undefined {
    if (this.#candidates.has(name)) return this.#candidates.get(name);
    let best: NewestRecord | undefined;
    for (const one of this.#offers.newest(name)) {
      if (this.has(one) && (best === undefined || this.#compare(one, best) < 0)) best = one;
    }
    this.#candidates.set(name, best);
    return best;
  }

  /**
   * The packages that satisfy a relation, in the order in which apt tries them: the package of that name, then those
   * that provide it.
   */
  *meeting(relation: Relation): Steps<NewestRecord[]> {
    if (!relation.readable) return [];
    const found: NewestRecord[] = [];
    const named = this.of(relation.name);
    if (named !== undefined && hasVersion(relation, named.version) && this.#offers.fits(relation, named)) {
      found.push(named);
    }
    const providing: ProvidingRecord[] = [];
    for (const one of this.#offers.providing(relation.name, this.repositories)) {
      if (this.#work.spend()) yield;
      if (one.record === named?.record && found.length > 0) continue;
      if (this.of(one.name)?.record !== one.record || !providesVersion(relation, one.provided)) continue;
      if (this.#offers.fits(relation, one)) providing.push(one);
    }
    // It is unknown which list a device reads last, so the better ranked repository is preferred.
    providing.sort(
      (a, b) => a.preference - b.preference || this.#offers.compareRepositories(a, b) || b.place - a.place,
    );
    return [...found, ...providing];
  }

  // Newer first. Among equal versions the one for the architecture itself is first, then the one in the better ranked
  // repository.
  #compare(a: NewestRecord, b: NewestRecord): number {
    return (
      compareVersions(b.version, a.version) ||
      Number(a.architecture === everyArchitecture) - Number(b.architecture === everyArchitecture) ||
      this.#offers.compareRepositories(a, b) ||
      a.record - b.record
    );
  }
}

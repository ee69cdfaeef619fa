import {
  type Change,
  type ChangesOptions,
  type FollowOptions,
  followChanges,
  readChanges,
  readGeneration,
} from './changes.ts';
import { AnswerError } from './errors.ts';
import { type AskOptions, type RequestOptions, Requests } from './requests.ts';
import type {
  DependencyClosure,
  Download,
  DownloadCount,
  Generation,
  HealthRecord,
  LandingRecord,
  PackageList,
  PackagePage,
  PackageRecord,
  RepositoryList,
  RepositoryRecord,
  SafetyList,
  SafetyRecord,
} from './types.ts';

export interface ClientOptions extends RequestOptions {
  /** The public address of a service, such as `https://index.example`: without `/v2`. */
  readonly base: string;
}

/** What a search of packages may be narrowed by, and how many records are asked for at a time. */
export interface SearchOptions extends AskOptions {
  readonly limit?: number;
  readonly architecture?: string;
  /** A version of iOS. */
  readonly firmware?: string;
  readonly section?: string;
  /** The slug of a repository. */
  readonly repository?: string;
  readonly price?: PackageRecord['price'];
}

/** The device that a package is to be installed on. */
export interface DependencyOptions extends AskOptions {
  readonly architecture: string;
  /** The slugs of the repositories that are had. */
  readonly repositories?: readonly string[];
  /** A version of iOS; without it any will do. */
  readonly firmware?: string;
}

type Query = Readonly<Record<string, string | number | undefined>>;

/** The most identifiers and addresses that one question may name. */
const mostIds = 500;
const mostUris = 250;

const portions = <T>(all: readonly T[], most: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / most) }, (_, index) => all.slice(index * most, (index + 1) * most));

/** Asks a service of Debdex. Every method throws AnswerError where the answer is an error, and what fetch throws. */
export class Client {
  readonly #base: string;
  readonly #requests: Requests;

  constructor({ base, ...options }: ClientOptions) {
    this.#base = base.replace(/\/+$/, '').replace(/\/v2$/, '');
    this.#requests = new Requests(options);
  }

  /** What the service is and how much it holds. */
  async landing(options?: AskOptions): Promise<LandingRecord> {
    return (await this.#data('/', {}, options)) as LandingRecord;
  }

  /** Whether each part of the service is well, as it is at the moment: what is not well is an answer too. */
  async health(options?: AskOptions): Promise<HealthRecord> {
    try {
      const answer = await this.#requests.get(this.#address('/healthz', {}), { ...options, retries: 0 });
      return (answer as { data: HealthRecord }).data;
    } catch (error) {
      const { data } = ((error instanceof AnswerError && error.body) || {}) as { data?: HealthRecord };
      if (data === undefined) throw error;
      return data;
    }
  }

  /** Every version of a package, the latest of the best repository first; none where it is unknown. */
  async package(id: string, options?: AskOptions): Promise<readonly PackageRecord[]> {
    const found = await this.#known<PackageList>(`/jailbreak/package/${encodeURIComponent(id)}`, options);
    return found?.data ?? [];
  }

  /** The latest record of each known package, in the order asked; however many are asked for. */
  async latest(
    ids: readonly string[],
    { priority, ...options }: AskOptions & { readonly priority?: 'default' | 'bootstrap' } = {},
  ): Promise<PackageRecord[]> {
    const found: PackageRecord[] = [];
    for (const some of portions([...new Set(ids)], mostIds)) {
      const query = { ids: some.join(','), priority };
      found.push(...((await this.#data('/jailbreak/package/multi', query, options)) as PackageList['data']));
    }
    return found;
  }

  /** What installing a package brings, by apt's rules; undefined where the package is unknown. */
  async dependencies(
    id: string,
    { architecture, repositories = [], firmware, ...options }: DependencyOptions,
  ): Promise<DependencyClosure | undefined> {
    const query = { architecture, firmware, repositories: repositories.join(',') };
    const address = `/jailbreak/package/${encodeURIComponent(id)}/dependencies`;
    return (await this.#known<{ data: DependencyClosure }>(address, options, query))?.data;
  }

  /** What a text finds, page by page as it is read. */
  searchPackages(q: string, { signal, ...query }: SearchOptions = {}): AsyncGenerator<PackageRecord, void> {
    return this.#pages<PackageRecord>('/jailbreak/package/search', { q, ...query }, signal);
  }

  /** A repository; undefined where there is none of this slug. */
  async repository(slug: string, options?: AskOptions): Promise<RepositoryRecord | undefined> {
    const found = await this.#known<{ data: RepositoryRecord }>(
      `/jailbreak/repository/${encodeURIComponent(slug)}`,
      options,
    );
    return found?.data;
  }

  /** The repositories of one ranking, from 1 to 5, or of all. */
  async repositories(rank: 1 | 2 | 3 | 4 | 5 | '*' = '*', options?: AskOptions): Promise<readonly RepositoryRecord[]> {
    return (await this.#data('/jailbreak/repository/ranking', { rank }, options)) as RepositoryList['data'];
  }

  /** Every record of a repository, page by page as it is read. */
  repositoryPackages(
    slug: string,
    { signal, limit = 1000 }: AskOptions & { readonly limit?: number } = {},
  ): AsyncGenerator<PackageRecord, void> {
    const address = `/jailbreak/repository/${encodeURIComponent(slug)}/packages`;
    return this.#pages<PackageRecord>(address, { limit }, signal);
  }

  /** What a text finds among repositories. */
  searchRepositories(
    q: string,
    { signal, limit }: AskOptions & { readonly limit?: number } = {},
  ): AsyncGenerator<RepositoryRecord, void> {
    return this.#pages<RepositoryRecord>('/jailbreak/repository/search', { q, limit }, signal);
  }

  /** Whether these addresses are safe to add, in their order; however many they are. */
  async safety(uris: readonly string[], options?: AskOptions): Promise<SafetyRecord[]> {
    const verdicts: SafetyRecord[] = [];
    for (const some of portions(uris, mostUris)) {
      // A comma of an address would end it.
      const query = { uris: some.map((uri) => uri.replaceAll(',', '%2C')).join(',') };
      const data = (await this.#data('/jailbreak/repository/safety', query, options)) as SafetyList['data'];
      verdicts.push(...data.map(({ safe }, place) => ({ uri: some[place] ?? '', safe })));
    }
    return verdicts;
  }

  /** How often a package was downloaded; undefined where it is unknown. */
  async downloads(id: string, options?: AskOptions): Promise<DownloadCount | undefined> {
    const address = `/jailbreak/download/${encodeURIComponent(id)}`;
    return (await this.#known<{ data: DownloadCount }>(address, options))?.data;
  }

  /** Reports downloads, once each; resolves to how many were counted. */
  async reportDownloads(downloads: readonly Download[], options?: AskOptions): Promise<number> {
    const address = `${this.#base}/v2/jailbreak/download/ingest`;
    const { count } = (await this.#requests.post(address, downloads, options)) as { count: number };
    return count;
  }

  /** The state of everything that is published now. */
  generation(options: AskOptions = {}): Promise<Generation> {
    return readGeneration(this.#requests, this.#base, options);
  }

  /** What became of packages since a generation, oldest first. Throws ChangesLost where that is kept no longer. */
  changes(options: ChangesOptions): AsyncGenerator<Change, number> {
    return readChanges(this.#requests, this.#base, options);
  }

  /** The same, and whatever comes, until the signal ends it. */
  follow(options: FollowOptions): AsyncGenerator<Change, void> {
    return followChanges(this.#requests, this.#base, options);
  }

  #address(path: string, query: Query): string {
    const given = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
    );
    return `${this.#base}/v2${path}${given.length === 0 ? '' : `?${given.join('&')}`}`;
  }

  async #data(path: string, query: Query, options?: AskOptions): Promise<unknown> {
    return ((await this.#requests.get(this.#address(path, query), options)) as { data: unknown }).data;
  }

  async #known<T>(path: string, options?: AskOptions, query: Query = {}): Promise<T | undefined> {
    try {
      return (await this.#requests.get(this.#address(path, query), options)) as T;
    } catch (error) {
      if (error instanceof AnswerError && error.status === 404) return undefined;
      throw error;
    }
  }

  async *#pages<T>(path: string, query: Query, signal: AbortSignal | undefined): AsyncGenerator<T, void> {
    for (let page = 1; ; page++) {
      const address = this.#address(path, { ...query, page });
      const { data, refs } = (await this.#requests.get(address, signal ? { signal } : {})) as {
        data: readonly T[];
        refs: PackagePage['refs'];
      };
      yield* data;
      if (refs.nextPage === undefined) return;
    }
  }
}

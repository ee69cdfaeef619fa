import {
  type Change,
  type ChangesOptions,
  type FollowOptions,
  followChanges,
  readChanges,
  readGeneration,
} from './changes.ts';
import { documents, isAskable } from './documents.ts';
import { AnswerError, FilesAlone, isAbsent } from './errors.ts';
import type { ClientOptions, DependencyOptions, SearchOptions } from './questions.ts';
import { type AskOptions, Requests } from './requests.ts';
import type {
  DependencyClosure,
  DivergencesRecord,
  Download,
  DownloadCount,
  DownloadTotal,
  FindingsRecord,
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
  StatusRecord,
} from './types.ts';

type Query = Readonly<Record<string, string | number | undefined>>;

/** How many documents are requested at a time if the host only has files. */
const filesAtOnce = 6;

/** The most identifiers or addresses in one request. */
const mostIds = 500;
const mostUris = 250;

/** The longest list in one address, in encoded characters: a service accepts addresses of 64 KiB. */
const longestList = 60_000;

/** Divides a list into parts, in order, each with at most `most` entries and short enough for one address. */
const portions = (all: readonly string[], most: number): string[][] => {
  const found: string[][] = [];
  let room = 0;
  for (const one of all) {
    const length = encodeURIComponent(`${one},`).length;
    const last = found.at(-1);
    if (last === undefined || last.length === most || length > room) {
      found.push([one]);
      room = longestList;
    } else last.push(one);
    room -= length;
  }
  return found;
};

/** The record that is the latest of a package: from all of its records, in their order, for this priority. */
const latestOf = (list: readonly PackageRecord[], priority: 'default' | 'bootstrap' | undefined) =>
  (priority === 'bootstrap' ? list.find((one) => one.latest_version && one.repository.bootstrap) : undefined) ??
  list[0];

/**
 * Asks a Debdex service. Every method throws AnswerError if the answer is an error, what fetch throws, and FilesAlone
 * if `files` was set and no file answers.
 */
export class Client {
  readonly #base: string;
  readonly #requests: Requests;
  readonly #files: boolean;

  constructor({ base, files = false, ...options }: ClientOptions) {
    this.#files = files;
    this.#base = base.replace(/\/+$/, '').replace(/\/v2$/, '');
    this.#requests = new Requests(options);
  }

  /** The service, and how many packages and repositories it has. */
  async landing(options?: AskOptions): Promise<LandingRecord> {
    return (await this.#data(this.#files ? documents.landing : '/', {}, options)) as LandingRecord;
  }

  /**
   * Whether each part of the service works at the moment. An answer that says that a part does not work is not an
   * error.
   */
  async health(options?: AskOptions): Promise<HealthRecord> {
    this.#assertServer('health');
    try {
      const answer = await this.#requests.get(this.#address('/healthz', {}), { ...options, retries: 0 });
      return (answer as { data: HealthRecord }).data;
    } catch (error) {
      const { data } = ((error instanceof AnswerError && error.body) || {}) as { data?: HealthRecord };
      if (data === undefined) throw error;
      return data;
    }
  }

  /** The results of the last builds, and the state of each repository. */
  async status(options?: AskOptions): Promise<StatusRecord> {
    return (await this.#data(documents.status, {}, options)) as StatusRecord;
  }

  /** The description of the service, in OpenAPI 3.1. */
  async description(options?: AskOptions): Promise<Readonly<Record<string, unknown>>> {
    const answer = await this.#requests.get(this.#address(documents.description, {}), options);
    return answer as Readonly<Record<string, unknown>>;
  }

  /** Every version of a package, the latest of the best repository first; an empty list if the package is unknown. */
  async package(id: string, options?: AskOptions): Promise<readonly PackageRecord[]> {
    const asked = !this.#files && isAskable(id, 'package');
    const address = asked ? `/jailbreak/package/${encodeURIComponent(id)}` : documents.package(id);
    return (await this.#known<PackageList>(address, options))?.data ?? [];
  }

  /** The latest record of each known package, in the order of the identifiers. There may be any number of them. */
  async latest(
    ids: readonly string[],
    { priority, ...options }: AskOptions & { readonly priority?: 'default' | 'bootstrap' } = {},
  ): Promise<PackageRecord[]> {
    // A list of nothing but blanks is refused, and no package is called so.
    const wanted = [...new Set(ids)].filter((id) => id.trim() !== '');
    const found = new Map<string, PackageRecord>();
    // A comma in an identifier would separate two.
    const alone = wanted.filter((id) => this.#files || id.includes(','));
    const together = this.#files ? [] : wanted.filter((id) => !id.includes(','));
    for (const some of portions(alone, filesAtOnce)) {
      const lists = await Promise.all(some.map((id) => this.package(id, options)));
      for (const one of lists.flatMap((list) => latestOf(list, priority) ?? [])) found.set(one.package_id, one);
    }
    for (const some of portions(together, mostIds)) {
      const query = { ids: some.join(','), priority };
      const data = (await this.#data('/jailbreak/package/multi', query, options)) as PackageList['data'];
      for (const one of data) found.set(one.package_id, one);
    }
    return wanted.flatMap((id) => found.get(id) ?? []);
  }

  /** What has to be installed for a package, by apt's rules; undefined if the package is unknown. */
  async dependencies(
    id: string,
    { architecture, repositories = [], firmware, ...options }: DependencyOptions,
  ): Promise<DependencyClosure | undefined> {
    this.#assertServer('dependencies');
    const query = { architecture, firmware, repositories: repositories.join(',') };
    const address = `/jailbreak/package/${encodeURIComponent(id)}/dependencies`;
    return (await this.#known<{ data: DependencyClosure }>(address, options, query))?.data;
  }

  /** The packages that match a text. Pages are requested as they are needed. */
  searchPackages(q: string, { signal, ...query }: SearchOptions = {}): AsyncGenerator<PackageRecord, void> {
    return this.#pages<PackageRecord>('/jailbreak/package/search', { q, ...query }, signal);
  }

  /** A repository; undefined if the slug is unknown. */
  async repository(slug: string, options?: AskOptions): Promise<RepositoryRecord | undefined> {
    const asked = !this.#files && isAskable(slug, 'repository');
    const address = asked ? `/jailbreak/repository/${encodeURIComponent(slug)}` : documents.repository(slug);
    return (await this.#known<{ data: RepositoryRecord }>(address, options))?.data;
  }

  /** What is wrong with a repository, and how its owner can mend it; undefined if the slug is unknown. */
  async findings(slug: string, options?: AskOptions): Promise<FindingsRecord | undefined> {
    const asked = `/jailbreak/repository/${encodeURIComponent(slug)}/findings`;
    const address = this.#files ? documents.findings(slug) : asked;
    return (await this.#known<{ data: FindingsRecord }>(address, options))?.data;
  }

  /** Versions whose bytes differ between two repositories, by pairs of repositories, or have changed in one. */
  async divergences(options?: AskOptions): Promise<DivergencesRecord> {
    return (await this.#data(documents.divergences, {}, options)) as DivergencesRecord;
  }

  /** The repositories with one ranking, from 1 to 5, or all. */
  async repositories(rank: 1 | 2 | 3 | 4 | 5 | '*' = '*', options?: AskOptions): Promise<readonly RepositoryRecord[]> {
    const asked = this.#files
      ? this.#data(documents.repositories(rank), {}, options)
      : this.#data('/jailbreak/repository/ranking', { rank }, options);
    return (await asked) as RepositoryList['data'];
  }

  /**
   * Every record of a repository. Pages are requested as they are needed, or all records at once if the host only has
   * files.
   */
  repositoryPackages(
    slug: string,
    { signal, limit = 1000 }: AskOptions & { readonly limit?: number } = {},
  ): AsyncGenerator<PackageRecord, void> {
    if (this.#files) return this.#list<PackageRecord>(documents.repositoryPackages(slug), signal);
    const address = `/jailbreak/repository/${encodeURIComponent(slug)}/packages`;
    return this.#pages<PackageRecord>(address, { limit }, signal);
  }

  /** The repositories that match a text. */
  searchRepositories(
    q: string,
    { signal, limit }: AskOptions & { readonly limit?: number } = {},
  ): AsyncGenerator<RepositoryRecord, void> {
    return this.#pages<RepositoryRecord>('/jailbreak/repository/search', { q, limit }, signal);
  }

  /** Whether these addresses are safe to add, in their order. There may be any number of them. */
  async safety(uris: readonly string[], options?: AskOptions): Promise<SafetyRecord[]> {
    this.#assertServer('safety');
    const verdicts: SafetyRecord[] = [];
    // A comma in an address would separate two, and an empty one alone is a list without any. A blank is not safe either.
    const written = uris.map((uri) => uri.replaceAll(',', '%2C') || ' ');
    for (const some of portions(written, mostUris)) {
      const query = { uris: some.join(',') };
      const data = (await this.#data('/jailbreak/repository/safety', query, options)) as SafetyList['data'];
      verdicts.push(...data.map(({ safe }, place) => ({ uri: uris[verdicts.length + place] ?? '', safe })));
    }
    return verdicts;
  }

  /** How often a package was downloaded; undefined if the package is unknown. */
  async downloads(id: string, options?: AskOptions): Promise<DownloadCount | undefined> {
    this.#assertServer('downloads');
    const address = `/jailbreak/download/${encodeURIComponent(id)}`;
    return (await this.#known<{ data: DownloadCount }>(address, options))?.data;
  }

  /** How often packages were downloaded by the end of the last day, the most downloaded first. */
  async downloadTotals(options?: AskOptions): Promise<readonly DownloadTotal[]> {
    return (await this.#data(documents.downloads, {}, options)) as readonly DownloadTotal[];
  }

  /** Reports downloads, each once; resolves to how many were counted. */
  async reportDownloads(downloads: readonly Download[], options?: AskOptions): Promise<number> {
    this.#assertServer('reportDownloads');
    const address = `${this.#base}/v2/jailbreak/download/ingest`;
    const { count } = (await this.#requests.post(address, downloads, options)) as { count: number };
    return count;
  }

  /** The generation in force: the state of everything that is published. */
  generation(options: AskOptions = {}): Promise<Generation> {
    return readGeneration(this.#requests, this.#base, options);
  }

  /**
   * The changes of packages since a generation, oldest first. Throws ChangesLost if the service no longer has all of
   * them.
   */
  changes(options: ChangesOptions): AsyncGenerator<Change, number> {
    return readChanges(this.#requests, this.#base, options);
  }

  /** The same, and future changes as they come, until the signal ends it. */
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
      if (isAbsent(error) && (this.#files || error.status === 404)) return undefined;
      throw error;
    }
  }

  #assertServer(method: string): void {
    if (this.#files) throw new FilesAlone(`${method} asks what no file answers: ask a server, without \`files\``);
  }

  async *#list<T>(path: string, signal: AbortSignal | undefined): AsyncGenerator<T, void> {
    yield* (await this.#data(path, {}, signal ? { signal } : {})) as readonly T[];
  }

  async *#pages<T>(path: string, query: Query, signal: AbortSignal | undefined): AsyncGenerator<T, void> {
    this.#assertServer('A search');
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

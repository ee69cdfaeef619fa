import type { CatalogSearch } from '../src/search/catalog-search.ts';
import type { OlderIndex, SearchIndex } from './dependencies.ts';

/** What the metrics call a question. */
export type QuestionKind = keyof SearchIndex | `older${Capitalize<keyof OlderIndex>}`;

/** The search index of a host that holds the catalog: each question is asked of the catalog in force when it comes. */
export abstract class CatalogQuestions implements SearchIndex {
  /** Asks the catalog in force, which stays open until it has answered. Rejects where there is none. */
  protected abstract ask<T>(kind: QuestionKind, question: (search: CatalogSearch) => Promise<T>): Promise<T>;

  searchPackages: SearchIndex['searchPackages'] = (...question) =>
    this.ask('searchPackages', (search) => search.searchPackages(...question));

  searchRepositories: SearchIndex['searchRepositories'] = (...question) =>
    this.ask('searchRepositories', (search) => search.searchRepositories(...question));

  repositoryPackages: SearchIndex['repositoryPackages'] = (...question) =>
    this.ask('repositoryPackages', (search) => search.repositoryPackages(...question));

  latest: SearchIndex['latest'] = (...question) => this.ask('latest', (search) => search.latest(...question));

  known: SearchIndex['known'] = (versions) => this.ask('known', (search) => search.known(versions));

  knows: SearchIndex['knows'] = (id) => this.ask('knows', (search) => search.knows(id));

  dependencies: SearchIndex['dependencies'] = (question) =>
    this.ask('dependencies', (search) => search.dependencies(question));

  /** Whether the index answers a question. Rejects where it cannot be asked. */
  probe(): Promise<boolean> {
    return this.ask('probe', (search) => search.probe());
  }

  /** The same in the form of addresses from before /v2. */
  readonly older: OlderIndex = {
    packages: (...question) => this.ask('olderPackages', ({ older }) => older.packages(...question)),
    latest: (ids) => this.ask('olderLatest', ({ older }) => older.latest(ids)),
    repositories: (...question) => this.ask('olderRepositories', ({ older }) => older.repositories(...question)),
  };
}

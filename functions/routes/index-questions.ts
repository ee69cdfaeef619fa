import { operations } from '../../src/contract/paths.ts';
import type { Dependencies, SearchIndex, SearchPage } from '../dependencies.ts';
import type { Handler } from '../environment.ts';
import { cacheControl, jsonAnswer } from '../http/answers.ts';
import { askIndex, turnsOf } from '../http/ask-index.ts';
import { listBody, pageBody } from '../http/envelope-body.ts';
import { createLargeAnswers } from '../http/large-answers.ts';
import { readQuery } from '../http/request-query.ts';

type Search = (index: SearchIndex, q: string, limit: number, page: number) => Promise<SearchPage>;

type SearchOperation = typeof operations.packageSearch | typeof operations.repositorySearch;

/** What is asked of the search index. */
export const indexHandlers = (dependencies: Dependencies) => {
  const makeAnswer = createLargeAnswers();
  const searchHandler =
    ({ address, query }: SearchOperation, search: Search): Handler =>
    async (context) => {
      const { req } = context;
      const { q, limit, page } = readQuery(req.url, query);
      const turn = turnsOf(dependencies, context);
      return makeAnswer(context, limit, async () => {
        const found = await askIndex(dependencies, turn, (index) => search(index, q, limit, page));
        const base = dependencies.publicAddress();
        const body = await pageBody(dependencies.now(), found, { base, address, q, limit, page }, turn);
        return jsonAnswer(req.raw, dependencies, body, { cache: cacheControl.shared });
      });
    };

  return {
    packageSearch: searchHandler(operations.packageSearch, (index, ...question) => index.searchPackages(...question)),

    repositorySearch: searchHandler(operations.repositorySearch, (index, ...question) =>
      index.searchRepositories(...question),
    ),

    packageMulti: async (context) => {
      const { req } = context;
      const { ids, priority } = readQuery(req.url, operations.packageMulti.query);
      const turn = turnsOf(dependencies, context);
      return makeAnswer(context, ids.length, async () => {
        const records = await askIndex(dependencies, turn, (index) => index.latest(ids, priority));
        const body = await listBody(dependencies.now(), records, turn);
        return jsonAnswer(req.raw, dependencies, body, { cache: cacheControl.none });
      });
    },
  } satisfies Record<string, Handler>;
};

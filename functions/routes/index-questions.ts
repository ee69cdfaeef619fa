import { multiParametersSchema, searchParametersSchema } from '../../src/contract/parameters.ts';
import { type Operation, operations } from '../../src/contract/paths.ts';
import type { Dependencies, SearchIndex, SearchPage } from '../dependencies.ts';
import type { Handler } from '../environment.ts';
import { cacheControl, jsonAnswer } from '../http/answers.ts';
import { askIndex } from '../http/ask-index.ts';
import { listBody, pageBody } from '../http/envelope-body.ts';
import { readQuery } from '../http/request-query.ts';

type Search = (index: SearchIndex, q: string, limit: number, page: number) => Promise<SearchPage>;

/** What is asked of the search index. */
export const indexHandlers = (dependencies: Dependencies) => {
  const searchHandler =
    ({ address }: Operation, search: Search): Handler =>
    async (context) => {
      const { req } = context;
      const { q, limit, page } = readQuery(req.url, searchParametersSchema);
      const found = await askIndex(dependencies, context, (index) => search(index, q, limit, page));
      const base = dependencies.publicAddress();
      const body = pageBody(dependencies.now(), found, { base, address, q, limit, page });
      return jsonAnswer(req.raw, dependencies, body, { cache: cacheControl.shared });
    };

  return {
    packageSearch: searchHandler(operations.packageSearch, (index, ...question) => index.searchPackages(...question)),

    repositorySearch: searchHandler(operations.repositorySearch, (index, ...question) =>
      index.searchRepositories(...question),
    ),

    packageMulti: async (context) => {
      const { req } = context;
      const { ids, priority } = readQuery(req.url, multiParametersSchema);
      const records = await askIndex(dependencies, context, (index) => index.latest(ids, priority));
      return jsonAnswer(req.raw, dependencies, listBody(dependencies.now(), records), { cache: cacheControl.none });
    },
  } satisfies Record<string, Handler>;
};

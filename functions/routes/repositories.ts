import {
  rankingParametersSchema,
  safetyParametersSchema,
  searchParametersSchema,
} from '../../src/contract/parameters.ts';
import { documentPath, operations } from '../../src/contract/paths.ts';
import { cacheControl, jsonAnswer, notFound } from '../answers.ts';
import { type Dependencies, Unavailable } from '../dependencies.ts';
import { documentAnswer } from '../document-answer.ts';
import { listBody, pageBody } from '../envelope-body.ts';
import type { Handler } from '../environment.ts';
import { readQuery } from '../request-query.ts';
import { askIndex } from '../search-index.ts';

export const repositoryHandlers = (dependencies: Dependencies) =>
  ({
    repository: async ({ req, env, var: { segments } }) => {
      const path = documentPath.repository(segments.at(-1) ?? '');
      const answer = await documentAnswer(req.raw, dependencies, path, { remember: env?.remember });
      if (answer === undefined) throw notFound();
      return answer;
    },

    repositoryPackages: async ({ req, env, var: { segments } }) => {
      const path = documentPath.repositoryPackages(segments.at(-2) ?? '');
      const answer = await documentAnswer(req.raw, dependencies, path, { remember: env?.remember });
      if (answer === undefined) throw notFound();
      return answer;
    },

    repositoryFindings: async ({ req, env, var: { segments } }) => {
      const path = documentPath.repositoryFindings(segments.at(-2) ?? '');
      const answer = await documentAnswer(req.raw, dependencies, path, { remember: env?.remember });
      if (answer === undefined) throw notFound();
      return answer;
    },

    repositoryRanking: async ({ req }) => {
      const { rank } = readQuery(req.url, rankingParametersSchema);
      const answer = await documentAnswer(req.raw, dependencies, documentPath.ranking(rank));
      // Every rank is a document of every build, an empty one where there is no such repository.
      if (answer === undefined) throw new Unavailable('The ranking is not published');
      return answer;
    },

    repositorySearch: async (context) => {
      const { req } = context;
      const { q, limit, page } = readQuery(req.url, searchParametersSchema);
      const found = await askIndex(dependencies, context, (index) => index.searchRepositories(q, limit, page));
      const { address } = operations.repositorySearch;
      const base = dependencies.publicAddress();
      const body = pageBody(dependencies.now(), found, { base, address, q, limit, page });
      return jsonAnswer(req.raw, dependencies, body, { cache: cacheControl.shared, keep: context.env?.keep });
    },

    repositorySafety: async ({ req }) => {
      const { uris } = readQuery(req.url, safetyParametersSchema);
      const verdicts = uris.map((uri) => JSON.stringify({ uri, safe: dependencies.safety.check(uri) }));
      const records = { count: verdicts.length, pieces: [verdicts.join(',')] };
      return jsonAnswer(req.raw, dependencies, listBody(dependencies.now(), records), { cache: cacheControl.shared });
    },
  }) satisfies Record<string, Handler>;

import {
  rankingParametersSchema,
  safetyParametersSchema,
  searchParametersSchema,
} from '../../src/contract/parameters.ts';
import { documentPath, operations } from '../../src/contract/paths.ts';
import { type Dependencies, Unavailable } from '../dependencies.ts';
import type { Handler } from '../environment.ts';
import { cacheControl, jsonAnswer, notFound } from '../http/answers.ts';
import { askIndex } from '../http/ask-index.ts';
import { documentAnswer } from '../http/document-answer.ts';
import { listBody, pageBody } from '../http/envelope-body.ts';
import { readQuery } from '../http/request-query.ts';

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

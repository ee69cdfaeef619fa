import { multiParametersSchema, searchParametersSchema } from '../../src/contract/parameters.ts';
import { documentPath, operations } from '../../src/contract/paths.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Handler } from '../environment.ts';
import { cacheControl, jsonAnswer, notFound } from '../http/answers.ts';
import { askIndex } from '../http/ask-index.ts';
import { documentAnswer } from '../http/document-answer.ts';
import { listBody, pageBody } from '../http/envelope-body.ts';
import { readQuery } from '../http/request-query.ts';

export const packageHandlers = (dependencies: Dependencies) =>
  ({
    package: async ({ req, env, var: { segments } }) => {
      const path = documentPath.package(segments.at(-1) ?? '');
      const answer = await documentAnswer(req.raw, dependencies, path, { remember: env?.remember });
      if (answer === undefined) throw notFound();
      return answer;
    },

    packageSearch: async (context) => {
      const { req } = context;
      const { q, limit, page } = readQuery(req.url, searchParametersSchema);
      const found = await askIndex(dependencies, context, (index) => index.searchPackages(q, limit, page));
      const { address } = operations.packageSearch;
      const base = dependencies.publicAddress();
      const body = pageBody(dependencies.now(), found, { base, address, q, limit, page });
      return jsonAnswer(req.raw, dependencies, body, { cache: cacheControl.shared, keep: context.env?.keep });
    },

    packageMulti: async (context) => {
      const { req } = context;
      const { ids, priority } = readQuery(req.url, multiParametersSchema);
      const records = await askIndex(dependencies, context, (index) => index.latest(ids, priority));
      return jsonAnswer(req.raw, dependencies, listBody(dependencies.now(), records), { cache: cacheControl.none });
    },
  }) satisfies Record<string, Handler>;

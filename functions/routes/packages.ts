import { multiParametersSchema, searchParametersSchema } from '../../src/contract/parameters.ts';
import { documentPath, operations } from '../../src/contract/paths.ts';
import { cacheControl, jsonAnswer, notFound } from '../answers.ts';
import type { Dependencies } from '../dependencies.ts';
import { documentAnswer } from '../document-answer.ts';
import { listBody, pageBody } from '../envelope-body.ts';
import type { Handler } from '../environment.ts';
import { readQuery } from '../request-query.ts';
import { askIndex } from '../search-index.ts';

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

import { safetyParametersSchema } from '../../src/contract/parameters.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Handler } from '../environment.ts';
import { cacheControl, jsonAnswer } from '../http/answers.ts';
import { listBody } from '../http/envelope-body.ts';
import { readQuery } from '../http/request-query.ts';

export const safetyHandlers = (dependencies: Dependencies) =>
  ({
    repositorySafety: async ({ req }) => {
      const { uris } = readQuery(req.url, safetyParametersSchema);
      const verdicts = uris.map((uri) => JSON.stringify({ uri, safe: dependencies.safety.check(uri) }));
      const records = { count: verdicts.length, pieces: [verdicts.join(',')] };
      return jsonAnswer(req.raw, dependencies, listBody(dependencies.now(), records), { cache: cacheControl.shared });
    },
  }) satisfies Record<string, Handler>;

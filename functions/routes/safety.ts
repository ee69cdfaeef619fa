import { cacheControl } from '../../src/contract/answer-headers.ts';
import { operations } from '../../src/contract/paths.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Handler } from '../environment.ts';
import { jsonAnswer } from '../http/answers.ts';
import { turnsOf } from '../http/ask-index.ts';
import { listBody } from '../http/envelope-body.ts';
import { readQuery } from '../http/request-query.ts';

/** Addresses judged before others get their turn: those that a stranger makes up can take a tenth of a millisecond each. */
const urisInTurn = 25;

export const safetyHandlers = (dependencies: Dependencies) =>
  ({
    repositorySafety: async (context) => {
      const { req } = context;
      const { uris } = readQuery(req.url, operations.repositorySafety.query);
      const turn = turnsOf(dependencies, context);
      const judge = (uri: string) => JSON.stringify({ uri, safe: dependencies.safety.check(uri) });
      const verdicts: string[] = [];
      for (let start = 0; start < uris.length; start += urisInTurn) {
        verdicts.push(...(await turn(async () => uris.slice(start, start + urisInTurn).map(judge))));
      }
      const records = { count: verdicts.length, pieces: [verdicts.join(',')] };
      const body = await listBody(dependencies.now(), records, turn);
      return jsonAnswer(req.raw, dependencies, body, { cache: cacheControl.shared });
    },
  }) satisfies Record<string, Handler>;

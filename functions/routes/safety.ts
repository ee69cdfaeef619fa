import { cacheControl } from '../../src/contract/answer-headers.ts';
import { operations } from '../../src/contract/paths.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Handler } from '../environment.ts';
import { jsonAnswer } from '../http/answers.ts';
import { type Turn, turnsOf } from '../http/ask-index.ts';
import { listBody } from '../http/envelope-body.ts';
import { readQuery } from '../http/request-query.ts';

/** How many addresses are judged before others get their turn. A made-up address can take a tenth of a millisecond. */
const urisInTurn = 25;

/** Whether each of these addresses is safe, in their order. Many are judged in several turns. */
export const judgeAddresses = async (
  safety: Dependencies['safety'],
  uris: readonly string[],
  turn: Turn,
): Promise<boolean[]> => {
  const verdicts: boolean[] = [];
  for (let start = 0; start < uris.length; start += urisInTurn) {
    verdicts.push(...(await turn(async () => uris.slice(start, start + urisInTurn).map((uri) => safety.check(uri)))));
  }
  return verdicts;
};

/** The operation of the safety check (decisions, sections 4 and 7). */
export const safetyHandlers = (dependencies: Dependencies) =>
  ({
    repositorySafety: async (context) => {
      const { req } = context;
      const { uris } = readQuery(req.url, operations.repositorySafety.query);
      const turn = turnsOf(dependencies, context);
      const safe = await judgeAddresses(dependencies.safety, uris, turn);
      const verdicts = uris.map((uri, place) => JSON.stringify({ uri, safe: safe[place] }));
      const records = { count: verdicts.length, pieces: [verdicts.join(',')] };
      const body = await listBody(dependencies.now(), records, turn);
      return jsonAnswer(req.raw, dependencies, body, { cache: cacheControl.shared });
    },
  }) satisfies Record<string, Handler>;

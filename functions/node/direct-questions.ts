import type { RateLimiter } from '../dependencies.ts';
import { errorParts, type HttpError } from '../http/answers.ts';
import type { DirectQuestion } from '../questions.ts';
import { flatten, type HotAnswers } from './hot-answers.ts';
import type { ServerLimits } from './limits.ts';
import type { PlainRequest } from './plain-request.ts';
import { composeHead } from './ready-bytes.ts';
import { type NodeRequestNote, requestIdHeader } from './request-note.ts';

/** What direct questions need. */
export interface DirectQuestionsOptions {
  /** The questions, by their paths. */
  readonly questions: ReadonlyMap<string, DirectQuestion>;
  readonly hot: Pick<HotAnswers, 'findComputed' | 'observe'>;
  readonly limits: Pick<ServerLimits, 'keepAliveTimeout'>;
  readonly limiter: RateLimiter | undefined;
  /** The error for a client that has too many requests or unread answers; undefined if it has not. */
  readonly findExcess: (client: string) => HttpError | undefined;
  readonly now: () => Date;
}

/** A request, and the client that sent it. */
interface AskedDirectly extends PlainRequest {
  readonly address: string;
  /** The client's network. */
  readonly client: string;
  readonly note: NodeRequestNote;
}

/** An answer in the form in which it is written to a connection. */
export interface ComposedAnswer {
  readonly status: number;
  /** One character for each byte. */
  readonly head: string;
  readonly body: Uint8Array;
}

/** Questions that are answered without the app, in the same way as by the app. */
export interface DirectQuestions {
  /** The question for a target; undefined if the app has to answer it. */
  find(target: string): DirectQuestion | undefined;
  /** Never rejects. */
  answer(question: DirectQuestion, asked: AskedDirectly): Promise<ComposedAnswer>;
}

/** Answers these questions, from the cache or anew. */
export const createDirectQuestions = (options: DirectQuestionsOptions): DirectQuestions => {
  const { questions, hot, limits, limiter, findExcess, now } = options;

  const compose = (status: number, headers: readonly string[], body: Uint8Array): ComposedAnswer => ({
    status,
    head: composeHead(status, headers, limits.keepAliveTimeout),
    body,
  });

  return {
    find: (target) => {
      const query = target.indexOf('?');
      return questions.get(query < 0 ? target : target.slice(0, query));
    },

    answer: async (question, { target, headers, address, client, note }) => {
      const kept = hot.findComputed(target, headers, () => (limiter?.take(address) ?? 0) === 0);
      if (kept !== undefined) {
        note.operation = kept.operation;
        return compose(200, kept.headers, kept.body);
      }
      const observed: Parameters<HotAnswers['observe']>[1] = { note, onWhole: undefined };
      hot.observe({ method: 'GET', url: target, headers }, observed);
      const excess = findExcess(client);
      const ask = (): ReturnType<DirectQuestion['answer']> => {
        note.operation = question.operation;
        const env = { clientAddress: address, note };
        return question.answer({ url: target, acceptEncoding: headers['accept-encoding'], env });
      };
      const answer = excess === undefined ? await ask() : errorParts(excess, now());
      observed.onWhole?.(answer);
      const { status, headers: told, body } = answer;
      return compose(status, [requestIdHeader, note.id, ...flatten(told)], body);
    },
  };
};

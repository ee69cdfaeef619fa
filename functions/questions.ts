import { apiRoot, type OperationName, operations } from '../src/contract/paths.ts';
import type { Dependencies } from './dependencies.ts';
import { type AnswerParts, errorParts } from './http/answers.ts';
import { failureOf } from './http/failure.ts';
import type { MakeAnswer } from './http/large-answers.ts';
import { limited } from './http/limited.ts';
import { type Asked, indexQuestions } from './routes/index-questions.ts';

// Programs send these questions by the thousand, so a host that reads the request itself can ask here, without a router
// and without Request and Response objects. It answers as the app does, because both call the same functions.

/** A question that can be asked at one address. */
export interface DirectQuestion {
  readonly operation: OperationName;
  /** Never rejects: failures are answered as the app answers them. */
  readonly answer: (asked: Asked) => Promise<AnswerParts>;
}

/** The questions that can be asked with a GET, by their whole path. `makeAnswer` is the one of the app beside. */
export const createQuestions = (
  dependencies: Dependencies,
  makeAnswer: MakeAnswer,
): ReadonlyMap<string, DirectQuestion> => {
  const { packageSearch, packageMulti } = indexQuestions(dependencies, makeAnswer);
  const asked = Object.entries({ packageSearch, packageMulti }).map(([name, question]): [string, DirectQuestion] => {
    const operation = name as 'packageSearch' | 'packageMulti';
    const ask = limited(dependencies.limiter, question);
    const answer = (asked: Asked): Promise<AnswerParts> =>
      ask(asked).catch((error: unknown) =>
        errorParts(failureOf(error, dependencies, asked.env?.note), dependencies.now()),
      );
    return [`/${apiRoot}${operations[operation].address}`, { operation, answer }];
  });
  return new Map(asked);
};

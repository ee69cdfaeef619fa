import type { Context } from 'hono';
import { errorBody } from '../../../src/contract/errors.ts';
import { HttpError } from '../../http/answers.ts';
import type { SecurityLog } from '../security-log.ts';
import { describeSilently } from '../silent-cause.ts';
import { ClientLeft, StoreUnavailable } from '../store/credential-store.ts';

/** The refusal of credentials: RFC 9110 requires a challenge with every 401, in the form of RFC 6750. */
export const refuseCredentials = (sentence: string, error?: 'invalid_token'): HttpError =>
  new HttpError(401, sentence, {
    'WWW-Authenticate': error ? `Bearer realm="gateway", error="${error}"` : 'Bearer realm="gateway"',
  });

/** Whether an error only says that the client had left, so that there is nothing to report. */
const isUnwanted = (error: unknown): boolean => error instanceof StoreUnavailable && error.cause instanceof ClientLeft;

/** The answer to a thrown error: a refusal as it is, 503 for a store that cannot be reached, 500 for anything else. */
export const toRefusal = (error: unknown): HttpError => {
  if (error instanceof HttpError) return error;
  if (error instanceof StoreUnavailable) {
    return new HttpError(503, 'The credential store cannot be reached; send the same again', { 'Retry-After': '5' });
  }
  return new HttpError(500, 'The gateway failed; nothing is known to be wrong with the request');
};

/** Logs a thrown error that is no refusal. */
export const tellFailure = (log: SecurityLog, error: unknown): void => {
  if (error instanceof HttpError || isUnwanted(error)) return;
  const event = error instanceof StoreUnavailable ? 'store-unavailable' : 'failure';
  log({ event, reason: describeSilently(error) });
};

/** An answer of the gateway as JSON, which no cache may store (decisions, section 6). */
export const answerJson = (c: Context, body: object, status = 200, headers: Readonly<Record<string, string>> = {}) =>
  new Response(c.req.method === 'HEAD' ? null : JSON.stringify(body), {
    status,
    headers: { 'Content-Type': 'application/json; charset=UTF-8', 'Cache-Control': 'no-store', ...headers },
  });

/** A refusal in the error envelope (decisions, section 3). */
export const answerRefusal = (c: Context, { status, message, headers }: HttpError, now: number) =>
  answerJson(c, errorBody(status, message, new Date(now)), status, headers);

import type { Context } from 'hono';
import { errorBody } from '../../../src/contract/errors.ts';
import { HttpError } from '../../http/answers.ts';
import { ClientLeft, StoreUnavailable } from '../store/credential-store.ts';

/** The refusal of credentials: RFC 9110 asks every 401 for a challenge, RFC 6750 for its form. */
export const refuseCredentials = (sentence: string, error?: 'invalid_token'): HttpError =>
  new HttpError(401, sentence, {
    'WWW-Authenticate': error ? `Bearer realm="gateway", error="${error}"` : 'Bearer realm="gateway"',
  });

/** Whether an error says no more than that nobody waited for the answer: there is nothing to tell of it. */
export const isUnwanted = (error: unknown): boolean =>
  error instanceof StoreUnavailable && (error.cause instanceof ClientLeft || hasAborted(error.cause));

// What was under way wraps the reason for which it was ended.
const hasAborted = (error: unknown): boolean =>
  error instanceof Error && error.name === 'AbortError' && error.cause instanceof ClientLeft;

/** What a thrown error is answered with: a refusal as it says, a store out of reach 503, anything else 500. */
export const toRefusal = (error: unknown): HttpError => {
  if (error instanceof HttpError) return error;
  if (error instanceof StoreUnavailable) {
    return new HttpError(503, 'The credential store cannot be reached; send the same again', { 'Retry-After': '5' });
  }
  return new HttpError(500, 'The gateway failed; nothing is known to be wrong with the request');
};

/** A gateway answer as JSON, never to be stored (decisions, section 6). */
export const answerJson = (c: Context, body: object, status = 200, headers: Readonly<Record<string, string>> = {}) =>
  new Response(c.req.method === 'HEAD' ? null : JSON.stringify(body), {
    status,
    headers: { 'Content-Type': 'application/json; charset=UTF-8', 'Cache-Control': 'no-store', ...headers },
  });

/** A refusal in the error envelope (decisions, section 3). */
export const answerRefusal = (c: Context, { status, message, headers }: HttpError, now: number) =>
  answerJson(c, errorBody(status, message, new Date(now)), status, headers);

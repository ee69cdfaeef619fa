import { downloadTotalsPath } from '../downloads/totals-path.ts';
import { errorAnswer, HttpError } from '../http/answers.ts';
import { keyMissing, shortestKey, shownSecret } from '../http/operator-key.ts';
import { pathOf } from '../http/request-path.ts';
import type { DownloadsStub } from './downloads-stub.ts';
import { digestOf } from './published-files.ts';

const utf8 = new TextEncoder();

/** Compares two keys in a time that reveals nothing about them. */
const isSameKey = async (one: string, other: string): Promise<boolean> => {
  const [first, second] = await Promise.all([digestOf(utf8.encode(one)), digestOf(utf8.encode(other))]);
  return first.reduce((difference, byte, index) => difference | (byte ^ (second[index] ?? 0)), 0) === 0;
};

const answer = async (request: Request, stub: () => DownloadsStub, operatorKey: string): Promise<string> => {
  if (request.method !== 'GET') throw new HttpError(405, 'Use GET', { Allow: 'GET' });
  if (operatorKey.length < shortestKey)
    throw new HttpError(503, `OPERATOR_KEY must have at least ${shortestKey} characters`);
  if (!(await isSameKey(shownSecret(request), operatorKey))) throw keyMissing();
  try {
    return JSON.stringify(await stub().totals());
  } catch (error) {
    console.error(JSON.stringify({ time: new Date().toISOString(), event: 'fault', message: String(error) }));
    throw new HttpError(503, 'The download counters cannot be read at the moment', { 'Retry-After': '5' });
  }
};

/**
 * Answers a build that asks for the totals of the counters with the operator's key. Undefined for any other request,
 * and if no key is configured.
 */
export const answerTotals = (
  request: Request,
  stub: () => DownloadsStub,
  operatorKey: string | undefined,
): Promise<Response> | undefined => {
  if (operatorKey === undefined || pathOf(request.url) !== downloadTotalsPath) return undefined;
  const respond = async (): Promise<Response> => {
    try {
      const headers = { 'Content-Type': 'application/json; charset=UTF-8', 'Cache-Control': 'no-store' };
      return new Response(await answer(request, stub, operatorKey), { headers });
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      return errorAnswer(error, new Date(), request.method);
    }
  };
  return respond();
};

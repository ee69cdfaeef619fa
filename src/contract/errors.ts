import { z } from 'zod';

const date = z.iso.datetime({ precision: 3 });

/** What an error answers; the status code and phrase, one sentence that says what to do, and the time. */
export const errorSchema = z.strictObject({ message: z.string(), error: z.string(), date });

/** What an unknown package, repository or address answers; it has no `error` (API document, "Errors"). */
export const notFoundSchema = z.strictObject({ message: z.literal('404 Not Found'), date });

/** The phrase of every error status that the API may answer (RFC 9110, RFC 6585). */
export const phrases = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  413: 'Content Too Large',
  414: 'URI Too Long',
  415: 'Unsupported Media Type',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  503: 'Service Unavailable',
} as const;
export type ErrorStatus = keyof typeof phrases;

/** Thrown where what is asked for at once is more than one answer may hold; the client is told to ask for less. */
export class AnswerTooLarge extends Error {
  override name = 'AnswerTooLarge';
}

/** What is said of a request that cannot be read, by a server before there is one and by rules for hosts. */
export const unreadable = {
  400: 'The request is not valid HTTP',
  414: 'The address of the request is too long',
  431: 'The headers of the request are too large',
} as const;

/** What is said to a client that waits for too many answers at once. */
export const tooManyAtOnce = 'Too many requests at once: try again when some are answered';

/** The body of an error answer. `sentence` is left out for 404, which has no `error` field. */
export const errorBody = (status: ErrorStatus, sentence: string, now: Date): object => {
  const message = `${status} ${phrases[status]}`;
  return status === 404 ? { message, date: now.toISOString() } : { message, error: sentence, date: now.toISOString() };
};

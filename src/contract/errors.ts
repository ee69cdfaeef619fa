import { z } from 'zod';

const date = z.iso.datetime({ precision: 3 });

/** The body of an error: the status code and phrase, one sentence that says what to do, and the time. */
export const errorSchema = z.strictObject({ message: z.string(), error: z.string(), date });

/** The body for an unknown package, repository or address. It has no `error` (API document, "Errors"). */
export const notFoundSchema = z.strictObject({ message: z.literal('404 Not Found'), date });

/** The phrases of all error statuses that the API may answer (RFC 9110, RFC 6585). */
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

/** Thrown if a request asks for more than one answer may contain. The client is told to ask for less. */
export class AnswerTooLarge extends Error {
  override name = 'AnswerTooLarge';
}

/** Sentences about requests that cannot be read, which both the server and the rules of hosts use. */
export const unreadable = {
  400: 'The request is not valid HTTP',
  408: 'The request took too long to arrive',
  414: 'The address of the request is too long',
  431: 'The headers of the request are too large',
  501: 'The body must come with no transfer coding but chunked (Transfer-Encoding)',
} as const;

/** The sentence of a 405 for an address with these methods. */
export const otherMethod = (methods: string): string => `This address answers ${methods}`;

/** The sentence of a 400 for an API address with an empty segment. */
export const emptySegment = 'The path must not hold an empty segment';

/** All that a client learns of a failure of ours. */
export const ourFault = {
  500: 'Something went wrong on our side',
  503: 'The service cannot answer this at the moment',
} as const;

/** The sentence for a client that is waiting for too many answers at once. */
export const tooManyAtOnce = 'Too many requests at once: try again when some are answered';

/** The body of an error answer. `sentence` is left out for 404, which has no `error` field. */
export const errorBody = (status: ErrorStatus, sentence: string, now: Date): object => {
  const message = `${status} ${phrases[status]}`;
  return status === 404 ? { message, date: now.toISOString() } : { message, error: sentence, date: now.toISOString() };
};

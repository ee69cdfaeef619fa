import { ourFault } from '../../src/contract/errors.ts';
import { type Dependencies, Unavailable } from '../dependencies.ts';
import type { RequestNote } from '../environment.ts';
import { HttpError } from './answers.ts';

/** The answer to a request that failed. What is our fault is reported, and hidden from the client. */
export const failureOf = (
  error: unknown,
  { report }: Pick<Dependencies, 'report'>,
  note: RequestNote | undefined,
): HttpError => {
  if (error instanceof HttpError) return error;
  report(error, note);
  return error instanceof Unavailable
    ? new HttpError(503, ourFault[503], { 'Retry-After': '5' })
    : new HttpError(500, ourFault[500]);
};

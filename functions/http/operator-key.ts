import { HttpError } from './answers.ts';

/** The least characters of the operator's key of a Worker. */
export const shortestKey = 32;

/**
 * The secret of an operator that a request shows (RFC 6750, section 2.1); empty if it shows none. It may have any
 * printable character.
 */
export const shownSecret = ({ headers }: Request): string =>
  /^Bearer +([\x21-\x7e]{1,512}) *$/i.exec(headers.get('authorization') ?? '')?.[1] ?? '';

/** The error for a request without the operator's key. */
export const keyMissing = (): HttpError =>
  new HttpError(401, 'Send the key of the operator as: Authorization: Bearer <key>', {
    'WWW-Authenticate': 'Bearer realm="operator"',
  });

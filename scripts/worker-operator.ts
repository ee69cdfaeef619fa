import { UsageError } from './options.ts';

/**
 * Parses the address of a Worker that is asked with its operator's key: https, or http only on this machine, because
 * anybody on the way could read the key. Undefined if a text is no such address, or names a user or a password: no
 * request carries them, and the error that says so would.
 */
export const parseWorkerAddress = (text: string): URL | undefined => {
  const url = URL.parse(text);
  const isLoopback = url?.protocol === 'http:' && /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
  const isPlain = url?.search === '' && url.hash === '' && url.username === '' && url.password === '';
  return url !== null && isPlain && (isLoopback || url.protocol === 'https:') ? url : undefined;
};

/**
 * The operator's key in the environment; undefined if there is none. Throws a UsageError if it cannot be sent
 * as a header, because an error from the HTTP client would contain the key.
 */
export const readOperatorKey = (): string | undefined => {
  const key = process.env.DEBDEX_OPERATOR_KEY ?? '';
  if (key === '') return undefined;
  if (/^[\x21-\x7e]{1,512}$/.test(key)) return key;
  throw new UsageError(
    'DEBDEX_OPERATOR_KEY must be one line of printable ASCII characters without blanks, 512 at most',
  );
};

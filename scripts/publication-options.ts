import { isPublicKey } from '../src/publication/signature.ts';
import { UsageError } from './options.ts';

/** Throws a UsageError if the value of `name` cannot be the address of a publication. */
export const assertPublication = (name: string, text: string): void => {
  const url = URL.parse(text);
  // Credentials would be logged, and used for nothing.
  if (url !== null && (url.username !== '' || url.password !== '')) {
    throw new UsageError(`${name} must not name a user or a password, because requests to a publication carry none`);
  }
  if (url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '') return;
  throw new UsageError(`${name} must be the http or https address of a publication, not "${text}"`);
};

/** Throws a UsageError if --public-key is given and invalid. */
export const assertPublicKey = (key: string | undefined): void => {
  if (key === undefined || isPublicKey(key)) return;
  throw new UsageError('--public-key must be the 43 characters that the landing document names as signing_key');
};

import { type ScryptOptions, scrypt } from 'node:crypto';
import type { Scrypt } from '../passwords.ts';

/** Node's scrypt, which runs on a thread of libuv's pool. */
export const nodeScrypt: Scrypt = (password, salt, length, { n, r, p }) => {
  // The default limit of 32 MiB is too low for the recommended cost.
  const options: ScryptOptions = { N: n, r, p, maxmem: 2 * 128 * n * r };
  return new Promise((resolve, reject) => {
    scrypt(password, salt, length, options, (error, key) => (error ? reject(error) : resolve(key)));
  });
};

import { createHmac, hash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Cryptography } from '../cryptography.ts';

/** Node's cryptography. */
export const createNodeCryptography = (): Cryptography => ({
  randomToken: () => randomBytes(32).toString('base64url'),
  randomId: () => randomUUID(),
  sha256: (text) => hash('sha256', text, 'buffer'),
  hmac: (key, text) => createHmac('sha256', key).update(text).digest(),
  equal: (one, other) => one.length === other.length && timingSafeEqual(one, other),
});

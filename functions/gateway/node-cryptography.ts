import { hash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Cryptography } from './cryptography.ts';

/** Node's cryptography. */
export const createNodeCryptography = (): Cryptography => ({
  randomToken: () => randomBytes(32).toString('base64url'),
  randomId: () => randomUUID(),
  sha256: (text) => hash('sha256', text, 'buffer'),
  equal: (one, other) => one.length === other.length && timingSafeEqual(one, other),
});

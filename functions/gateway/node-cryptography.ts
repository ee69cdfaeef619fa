import { hash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Cryptography } from './cryptography.ts';

/** Node's cryptography; `random` replaces the source of token bytes in tests that need known tokens. */
export const createNodeCryptography = (random: (size: number) => Buffer = randomBytes): Cryptography => ({
  randomToken: () => random(32).toString('base64url'),
  randomId: () => randomUUID(),
  sha256: (text) => hash('sha256', text, 'buffer'),
  equal: (one, other) => one.length === other.length && timingSafeEqual(one, other),
});

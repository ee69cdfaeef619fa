import { randomBytes } from 'node:crypto';
import { createPasswords, type Passwords, recommendedCost, type ScryptCost } from '../passwords.ts';
import { createNodeCryptography } from './node-cryptography.ts';
import { nodeScrypt } from './node-scrypt.ts';

/** For each check that may run: how many may wait in each line, and how many of those for one network or account. */
const waitingChecks = 32;
const waitingChecksEach = 4;

/** Password checks with Node's scrypt, at the recommended cost by default. */
export const createNodePasswords = (parallel: number, cost: ScryptCost = recommendedCost): Passwords =>
  createPasswords({
    scrypt: nodeScrypt,
    salt: () => randomBytes(16),
    equal: createNodeCryptography().equal,
    cost,
    places: { parallel, waiting: waitingChecks * parallel, each: waitingChecksEach * parallel },
  });

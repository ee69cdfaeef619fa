import { randomBytes } from 'node:crypto';
import { createPasswords, type Passwords, recommendedCost, type ScryptCost } from '../passwords.ts';
import { createNodeCryptography } from './node-cryptography.ts';
import { nodeScrypt } from './node-scrypt.ts';

/** Password checks that may wait in each line, and those of them for one network or account, for each that may run. */
const waitingChecks = 32;
const waitingChecksEach = 4;

/** Passwords with Node's scrypt, at the recommended cost unless told otherwise. */
export const createNodePasswords = (parallel: number, cost: ScryptCost = recommendedCost): Passwords =>
  createPasswords({
    scrypt: nodeScrypt,
    salt: () => randomBytes(16),
    equal: createNodeCryptography().equal,
    cost,
    places: { parallel, waiting: waitingChecks * parallel, each: waitingChecksEach * parallel },
  });

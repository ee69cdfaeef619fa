import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';

/**
 * Lets everybody read what this process makes from now on, since web servers are other users, which the umask of a hardened
 * machine (077, 027) would keep from it. Who may write stays as it is. A `state` folder that is not there yet is made
 * as private as the operator has it.
 */
export const letEverybodyRead = (state?: string): void => {
  const usual = process.umask(0o022);
  process.umask(usual & 0o022);
  if (state === undefined || existsSync(state)) return;
  // The folders around it may be those of what is published.
  mkdirSync(path.dirname(path.resolve(state)), { recursive: true });
  mkdirSync(state, { recursive: true, mode: 0o777 & ~usual });
};

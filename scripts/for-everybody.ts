import { existsSync, mkdirSync } from 'node:fs';

/**
 * Lets everybody read what this process makes from now on, since web servers are other users, which the umask of a hardened
 * machine (077, 027) would keep from it. Who may write stays as it is. A `state` folder that is not there yet is made before,
 * as private as the operator has it.
 */
export const letEverybodyRead = (state?: string): void => {
  if (state !== undefined && !existsSync(state)) mkdirSync(state, { recursive: true });
  process.umask(process.umask(0o022) & 0o022);
};

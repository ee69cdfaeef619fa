import { assertPath } from '../options.ts';

/**
 * The state folder of a command: what was typed, or else what the environment has, or else the usual one. Throws a
 * UsageError if that is empty, or no path of the state folder of anybody. Probably a variable of a script was never set; the
 * store would be made in the root folder, and the servers' store would stay as it is.
 */
export const readStateFolder = (typed: string | undefined): string => {
  const state = typed ?? process.env.DEBDEX_STATE ?? 'state';
  assertPath(typed === undefined ? 'DEBDEX_STATE' : '--state', state);
  return state;
};

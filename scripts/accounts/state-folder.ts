/**
 * The state folder of a command: what was typed, or else what the environment has, or else the usual one. Throws what
 * `refuse` makes of a reason if that is empty. Probably a variable of a script was never set; the store would be made in
 * the root folder, and the servers' store would stay as it is.
 */
export const readStateFolder = (typed: string | undefined, refuse: (reason: string) => Error): string => {
  const state = typed ?? process.env.DEBDEX_STATE ?? 'state';
  if (state === '') throw refuse(`${typed === undefined ? 'DEBDEX_STATE' : '--state'} must not be empty`);
  return state;
};

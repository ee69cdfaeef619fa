/** More checks are waiting than may; the client should come back in a few seconds. */
export class PasswordsBusy extends Error {
  readonly code = 'passwords_busy';
}

/** On whose behalf a check waits. */
export interface Place {
  /** Who takes the place, a client's network or an account: nobody takes more than a few. None: it is not counted. */
  readonly holder?: string | undefined;
  /** Whether the browser has signed in to the account before: it waits in a line of its own. */
  readonly known?: boolean;
}

export interface PlaceLimits {
  /** Checks at a time. */
  readonly parallel: number;
  /** Places in each of the two lines. */
  readonly waiting: number;
  /** Places that one holder may take. */
  readonly each: number;
}

/**
 * Lets through so many at a time and keeps the others in two lines, which take turns: one for browsers that an account
 * knows, one for everybody else. So strangers, however many, neither take all of the processor, nor the places of those
 * who have signed in before; and one network of strangers leaves places to the others. Beyond its places a piece of work
 * throws PasswordsBusy.
 */
export const createPlaces = ({ parallel, waiting, each }: PlaceLimits) => {
  const lines = { known: [] as (() => void)[], unknown: [] as (() => void)[] };
  const held = new Map<string, number>();
  let running = 0;
  let turn: keyof typeof lines = 'known';

  const takePlace = async ({ holder, known = false }: Place) => {
    const line = lines[known ? 'known' : 'unknown'];
    const key = holder === undefined ? undefined : `${known} ${holder}`;
    const taken = (key !== undefined && held.get(key)) || 0;
    if (line.length >= waiting || taken >= each) throw new PasswordsBusy('too many password checks are waiting');
    if (key !== undefined) held.set(key, taken + 1);
    await new Promise<void>((resolve) => line.push(resolve));
    if (key === undefined) return;
    const left = (held.get(key) ?? 1) - 1;
    if (left > 0) held.set(key, left);
    else held.delete(key);
  };

  const letNext = () => {
    const other = turn === 'known' ? 'unknown' : 'known';
    const next = lines[turn].shift() ?? lines[other].shift();
    turn = other;
    if (next) next();
    else running--;
  };

  return async <T>(place: Place, work: () => Promise<T>): Promise<T> => {
    if (running >= parallel) await takePlace(place);
    else running++;
    try {
      return await work();
    } finally {
      letNext();
    }
  };
};

import type { Line } from '../http/client-line.ts';
import { createGate } from '../http/gate.ts';

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

/** The two lines, which take turns. */
const createLines = () => {
  const lines = { known: [] as (() => void)[], unknown: [] as (() => void)[] };
  let turn: keyof typeof lines = 'known';
  const line: Line<() => void> = {
    add: (name, one) => lines[name as keyof typeof lines].push(one),
    next: () => {
      const other = turn === 'known' ? 'unknown' : 'known';
      const next = lines[turn].shift() ?? lines[other].shift();
      turn = other;
      return next;
    },
  };
  return { lines, line };
};

/**
 * Lets through so many at a time and keeps the others in two lines, which take turns: one for browsers that an account
 * knows, one for everybody else. So strangers, however many, neither take all of the processor, nor the places of those
 * who have signed in before; and one network of strangers leaves places to the others. Beyond its places a piece of work
 * throws PasswordsBusy.
 */
export const createPlaces = ({ parallel, waiting, each }: PlaceLimits) => {
  const { lines, line } = createLines();
  const gate = createGate(parallel, line);
  const held = new Map<string, number>();

  // The place is held until there is room for the work.
  const takePlace = (name: keyof typeof lines, holder: string | undefined): (() => void) => {
    const key = holder === undefined ? undefined : `${name} ${holder}`;
    const taken = (key !== undefined && held.get(key)) || 0;
    if (lines[name].length >= waiting || taken >= each) throw new PasswordsBusy('too many password checks are waiting');
    if (key === undefined) return () => {};
    held.set(key, taken + 1);
    return () => {
      const left = (held.get(key) ?? 1) - 1;
      if (left > 0) held.set(key, left);
      else held.delete(key);
    };
  };

  return async <T>({ holder, known = false }: Place, work: () => Promise<T>): Promise<T> => {
    const name = known ? 'known' : 'unknown';
    if (gate.isOpen()) return gate.pass(name, work);
    const givePlace = takePlace(name, holder);
    return gate.pass(name, () => {
      givePlace();
      return work();
    });
  };
};

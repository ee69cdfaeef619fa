import type { Line } from '../http/client-line.ts';
import { createGate } from '../http/gate.ts';

/** Too many checks are waiting. The client should come back in a few seconds. */
export class PasswordsBusy extends Error {
  readonly code = 'passwords_busy';
}

/** Whose check it is. */
export interface Place {
  /** The client's network, or an account. Each may occupy only a few places. Undefined: not counted. */
  readonly holder?: string | undefined;
  /** Whether the browser has signed in to the account before. Such browsers wait in a line of their own. */
  readonly known?: boolean;
}

export interface PlaceLimits {
  /** How many checks run at a time. */
  readonly parallel: number;
  /** How many checks may wait in each of the two lines. */
  readonly waiting: number;
  /** How many places one holder may occupy. */
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
 * Runs `parallel` checks at a time. The others wait in two lines, which take turns: one for browsers that an account
 * knows, and one for everybody else. So strangers, however many, can neither use the whole processor nor take the
 * places of people who have signed in before, and one network of strangers leaves places to others. Throws
 * PasswordsBusy if no place is left.
 */
export const createPlaces = ({ parallel, waiting, each }: PlaceLimits) => {
  const { lines, line } = createLines();
  const gate = createGate(parallel, line);
  const held = new Map<string, number>();

  // The place is occupied until the check begins.
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

import { HttpError } from '../http/answers.ts';
import type { Line } from '../http/client-line.ts';
import { createGate } from '../http/gate.ts';

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
  /** How many checks may have a place of each of the two kinds whose turn has not come. */
  readonly waiting: number;
  /** How many of these places one holder may occupy. */
  readonly each: number;
}

/** The two lines, which take turns. */
const createLines = (): Line<() => void> => {
  const lines = { known: [] as (() => void)[], unknown: [] as (() => void)[] };
  let turn: keyof typeof lines = 'known';
  return {
    add: (name, one) => lines[name as keyof typeof lines].push(one),
    next: () => {
      const other = turn === 'known' ? 'unknown' : 'known';
      const next = lines[turn].shift() ?? lines[other].shift();
      turn = other;
      return next;
    },
  };
};

/** A place of one check. */
export interface TakenPlace {
  /** Does the work when it is its turn. Once. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
  /** Gives the place back, where its turn has not come. */
  leave(): void;
}

/**
 * Runs `parallel` checks at a time. The others wait in two lines, which take turns: one for browsers that an account
 * knows, and one for everybody else. So strangers, however many, can neither use the whole processor nor take the
 * places of people who have signed in before, and one network of strangers leaves places to others.
 *
 * A place is taken before anything else is done for the check: what is written of strangers would otherwise have no
 * bound, and stand in the way of what is written of everybody. Nobody waits for a place, only for a turn, which takes
 * as long as the checks before it and never as long as a store: an HttpError (503) is thrown where none is left.
 */
export const createPlaces = ({ parallel, waiting, each }: PlaceLimits): ((place: Place) => TakenPlace) => {
  const gate = createGate(parallel, createLines());
  const taken = new Map<string, number>();
  const count = (key: string, more: number) => {
    const all = (taken.get(key) ?? 0) + more;
    if (all > 0) taken.set(key, all);
    else taken.delete(key);
  };

  return ({ holder, known = false }) => {
    const name = known ? 'known' : 'unknown';
    let held = [{ key: name, most: waiting }];
    if (holder !== undefined) held.push({ key: `${name} ${holder}`, most: each });
    const free = gate.free();
    if (held.some(({ key, most }) => (taken.get(key) ?? 0) >= most + free)) {
      throw new HttpError(503, 'Too many people are signing in at once', { 'Retry-After': '5' });
    }
    for (const { key } of held) count(key, 1);
    const leave = () => {
      for (const { key } of held) count(key, -1);
      held = [];
    };
    return {
      inTurn: (work) =>
        gate.pass(name, () => {
          leave();
          return work();
        }),
      leave,
    };
  };
};

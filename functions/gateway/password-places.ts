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
  /** How many checks may wait in each of the two lines. */
  readonly waiting: number;
  /** How many places one holder may occupy. */
  readonly each: number;
}

/** The two lines, which take turns. */
const createLines = () => {
  const lines = { known: [] as Waiting[], unknown: [] as Waiting[] };
  let turn: keyof typeof lines = 'known';
  const lineOf = (client: string) => lines[client.startsWith('known') ? 'known' : 'unknown'];
  const line: Line<() => void> = {
    add: (client, enter) => lineOf(client).push({ client, enter }),
    next: () => {
      const other = turn === 'known' ? 'unknown' : 'known';
      const next = lines[turn].shift() ?? lines[other].shift();
      turn = other;
      return next?.enter;
    },
  };
  return { lineOf, line };
};

interface Waiting {
  readonly client: string;
  readonly enter: () => void;
}

/** The places of password checks. */
export interface Places {
  /** Throws an HttpError (503) if there is no place for a check at the moment. It takes none. */
  assertRoom(place: Place): void;
  /** Does a check when it is its turn. Throws the same. */
  inTurn<T>(place: Place, work: () => Promise<T>): Promise<T>;
}

/**
 * Runs `parallel` checks at a time. The others wait in two lines, which take turns: one for browsers that an account
 * knows, and one for everybody else. So strangers, however many, can neither use the whole processor nor take the
 * places of people who have signed in before, and one network of strangers leaves places to others.
 *
 * A place is occupied until the check begins, and never while anything but other checks is waited for: not by a try that
 * the throttle refuses, nor for as long as a store takes.
 */
export const createPlaces = ({ parallel, waiting, each }: PlaceLimits): Places => {
  const { lineOf, line } = createLines();
  const gate = createGate(parallel, line);
  const clientOf = ({ holder, known }: Place) => `${known ? 'known' : 'unknown'} ${holder}`;
  const assertRoom = (place: Place) => {
    if (gate.isOpen()) return;
    const own = clientOf(place);
    const inLine = lineOf(own);
    const ofHolder = place.holder === undefined ? 0 : inLine.filter(({ client }) => client === own).length;
    if (inLine.length >= waiting || ofHolder >= each) {
      throw new HttpError(503, 'Too many sign-ins at once', { 'Retry-After': '5' });
    }
  };
  return {
    assertRoom,
    inTurn: async (place, work) => {
      assertRoom(place);
      return gate.pass(clientOf(place), work);
    },
  };
};

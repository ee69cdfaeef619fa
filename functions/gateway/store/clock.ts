import { type RawBuilder, sql } from 'kysely';

/** A clock that runs on where the machine's is set back, and follows it where that is set forward. */
export interface SteadyClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Learns of a time that has been: from now on the clock shows no earlier one. */
  observe(time: number): void;
}

/**
 * A clock for a store that has none of its own. Were it set back with the machine's, a token used before would seem to
 * come from the future, and its return would go unnoticed until the old time is reached again. `wall` is the machine's
 * clock, `elapsed` one that nobody sets; both in milliseconds.
 */
export const createSteadyClock = (
  wall: () => number = () => Date.now(),
  elapsed: () => number = () => performance.now(),
): SteadyClock => {
  let shown = wall();
  let at = elapsed();
  const now = () => {
    const mark = elapsed();
    shown = Math.max(wall(), shown + mark - at);
    at = mark;
    return Math.floor(shown);
  };
  return {
    now,
    observe: (time) => {
      if (time > now()) shown = time;
    },
  };
};

/** The time of a clock as SQL, read when the expression is made: inside the transaction, after every wait. */
export const timeOf = (clock: () => number): RawBuilder<number> => sql<number>`cast(${clock()} as bigint)`;

/** The time of PostgreSQL, which all replicas share, at the moment the expression is evaluated. */
export const databaseTime: RawBuilder<number> = sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`;

import { type Kysely, sql } from 'kysely';
import { createSteadyClock, type SteadyClock } from './clock.ts';
import type { GatewayTables } from './tables.ts';

/** A machine's clock that is more than a day behind the newest entry of the store. */
class ClockBehind extends Error {
  readonly code = 'clock_behind';
}

const day = 86_400_000;

/**
 * A clock for a store that has none of its own. While no process runs, nobody notices that the machine's is set back: the
 * newest entry tells. Throws ClockBehind where the machine's cannot be right.
 */
export const startClock = async (read: Kysely<GatewayTables>, clock = createSteadyClock()): Promise<SteadyClock> => {
  const newest = await read
    .selectFrom('gateway_credential_sets')
    .select('created_at')
    .orderBy(sql`rowid`, 'desc')
    .limit(1)
    .executeTakeFirst();
  const behind = (newest?.created_at ?? 0) - clock.now();
  if (behind > day) {
    throw new ClockBehind(
      `this machine's clock is ${Math.round(behind / day)} days behind the newest entry of the credential store: set ` +
        'the clock; if it is right, it was wrong before, and a backup restored ends the sign-ins made then',
    );
  }
  if (newest) clock.observe(newest.created_at);
  return clock;
};

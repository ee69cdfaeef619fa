import { type RawBuilder, sql } from 'kysely';
import type { Databases, Operation } from './databases.ts';
import { deleteExpiredRequests, portion } from './sign-in-requests.ts';

const hour = 3_600_000;
const day = 24 * hour;

const requestAge = hour;
const revokedAge = 30 * day;

/**
 * Deletes what can no longer matter: sign-in requests an hour after their end (until then the page can say what became of
 * them), families a day after their end or 30 days after their revocation, sets whose refresh token has lived its life
 * (until then a spent one is kept, to notice that it comes back), forgotten browsers and windows of the throttle. It
 * deletes a portion of each and gives a portion of the space back, so that nobody waits long for it; then it is asked
 * again.
 */
export const sweep: Operation<'sweep'> = async ({ transact, now, giveSpaceBack }) => {
  const counts = [await transact((transaction) => deleteExpiredRequests(transaction, now, requestAge))];
  const deleteSome = async (table: string, key: string, over: () => RawBuilder<unknown>) => {
    const deleted = await transact(async (transaction) => {
      const some = sql`${over()} limit ${sql.lit(portion)}`;
      const statement = sql`delete from ${sql.table(table)} where ${sql.ref(key)} in (${some})`;
      return Number((await statement.execute(transaction)).numAffectedRows ?? 0);
    });
    counts.push(deleted);
    return deleted;
  };
  const ofRevoked = () => sql`select s.id from gateway_families f join gateway_credential_sets s on s.family_id = f.id
    where f.revoked_at <= ${now()} - ${revokedAge}`;
  let setsLeft = (await deleteSome('gateway_credential_sets', 'id', ofRevoked)) === portion;
  for (const { table, key, column, age } of kept) {
    // A family takes its sets along, and of a year there are thousands: in one transaction they would hold up everybody.
    if (table === 'gateway_families' && setsLeft) continue;
    const over = () =>
      sql`select ${sql.ref(key)} from ${sql.table(table)} where ${sql.ref(column)} <= ${now()} - ${age}`;
    const deleted = await deleteSome(table, key, over);
    if (table === 'gateway_credential_sets') setsLeft ||= deleted === portion;
  }
  const moreSpace = await giveSpaceBack();
  return {
    deleted: counts.reduce((sum, count) => sum + count, 0),
    more: moreSpace || counts.some((count) => count === portion),
  };
};

// Sets before families, which are deleted when hardly any set of theirs is left.
const kept = [
  { table: 'gateway_credential_sets', key: 'id', column: 'refresh_expires_at', age: day },
  { table: 'gateway_families', key: 'id', column: 'ends_at', age: day },
  { table: 'gateway_families', key: 'id', column: 'revoked_at', age: revokedAge },
  { table: 'gateway_browsers', key: 'token_hash', column: 'expires_at', age: 0 },
  { table: 'gateway_attempts', key: 'key_hash', column: 'ends_at', age: 0 },
];

/** Which rows the sweep deletes: those of which this time lies so many milliseconds back. */
export const retention = [{ table: 'gateway_sign_in_requests', column: 'expires_at', age: requestAge }, ...kept];

/** Writes a row and reads it back; throws where either fails. */
export const probe = async ({ read, transact, now }: Databases): Promise<void> => {
  await transact((transaction) =>
    transaction
      .insertInto('gateway_probe')
      .values({ id: 1, probed_at: now() })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ probed_at: now() }))
      .execute(),
  );
  await read.selectFrom('gateway_probe').select('probed_at').where('id', '=', 1).executeTakeFirstOrThrow();
};

import { sql } from 'kysely';
import type { Databases, Operation } from './store-accounts.ts';

const hour = 3_600_000;
const day = 24 * hour;

/** Rows deleted in one transaction, so that a sweep never holds the write lock for long. */
const portion = 500;

/**
 * Deletes what can no longer matter: sign-in requests an hour after their end (until then the page can say what became of
 * them), families a day after their end or 30 days after their revocation, sets whose refresh token has lived its life
 * (until then a spent one is kept, to notice that it comes back), forgotten browsers and windows of the throttle.
 */
export const sweep: Operation<'sweep'> = async ({ write }, now) => {
  let total = 0;
  for (const { table, key, column, age } of kept) {
    for (let deleted = portion; deleted === portion; total += deleted) {
      deleted = await write.transaction().execute(async (transaction) => {
        const over = sql`select ${sql.ref(key)} from ${sql.table(table)}
          where ${sql.ref(column)} <= ${now - age} limit ${sql.lit(portion)}`;
        const statement = sql`delete from ${sql.table(table)} where ${sql.ref(key)} in (${over})`;
        return Number((await statement.execute(transaction)).numAffectedRows ?? 0);
      });
    }
  }
  return total;
};

const kept = [
  { table: 'gateway_sign_in_requests', key: 'handle_hash', column: 'expires_at', age: hour },
  { table: 'gateway_credential_sets', key: 'id', column: 'refresh_expires_at', age: day },
  { table: 'gateway_families', key: 'id', column: 'ends_at', age: day },
  { table: 'gateway_families', key: 'id', column: 'revoked_at', age: 30 * day },
  { table: 'gateway_browsers', key: 'token_hash', column: 'expires_at', age: 0 },
  { table: 'gateway_attempts', key: 'key_hash', column: 'ends_at', age: 0 },
];

/** Writes a row and reads it back; throws where either fails. */
export const probe = async ({ read, write }: Databases, now: number): Promise<void> => {
  await write.transaction().execute((transaction) =>
    transaction
      .insertInto('gateway_probe')
      .values({ id: 1, probed_at: now })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ probed_at: now }))
      .execute(),
  );
  await read.selectFrom('gateway_probe').select('probed_at').where('id', '=', 1).executeTakeFirstOrThrow();
};

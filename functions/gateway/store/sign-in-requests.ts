import { sql, type Transaction } from 'kysely';
import type { Databases, Operation } from './databases.ts';
import type { GatewayTables } from './tables.ts';

/**
 * The most that sign-in requests may take together, whoever sent them: anybody may send one, so what they write is
 * bounded here, not by how many ask. Reaching it keeps back new sign-ins and nobody who is signed in.
 */
export interface RequestBounds {
  readonly requests: number;
  readonly bytes: number;
}
export const usualBounds: RequestBounds = { requests: 50_000, bytes: 32 * 2 ** 20 };

/** What a row takes beside its texts: the hashes, one of them twice with its index, times and the row's own head. */
const rowBytes = 240;

/** Rows deleted at a time. */
export const portion = 200;

const sizeOf = (...texts: string[]) =>
  texts.reduce((bytes, text) => bytes + new TextEncoder().encode(text).length, rowBytes);

/** Adds a request within the bounds; where they are reached, those that are over make room. */
export const createAddSignInRequest =
  (bounds: RequestBounds): Operation<'addSignInRequest'> =>
  ({ transact, now }, handleHash, request, life) => {
    const { callback, application, model, maskedUdid, udidHash } = request;
    const bytes = sizeOf(callback, application, model, maskedUdid);
    return transact(async (transaction) => {
      if (!(await reserve(transaction, bytes, bounds))) {
        await deleteExpiredRequests(transaction, now, 0);
        if (!(await reserve(transaction, bytes, bounds))) return false;
      }
      await transaction
        .insertInto('gateway_sign_in_requests')
        .values({
          handle_hash: handleHash,
          callback,
          application,
          model,
          masked_udid: maskedUdid,
          udid_hash: udidHash,
          expires_at: sql`${now()} + ${life}`,
          bytes,
        })
        .execute();
      return true;
    }, true);
  };

const reserve = async (transaction: Transaction<GatewayTables>, bytes: number, most: RequestBounds) => {
  const { numUpdatedRows } = await transaction
    .updateTable('gateway_request_totals')
    .set(({ eb }) => ({ requests: eb('requests', '+', 1), bytes: eb('bytes', '+', bytes) }))
    .where('requests', '<', most.requests)
    .where('bytes', '<=', most.bytes - bytes)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
};

/** Deletes a portion of the requests that ended `age` milliseconds ago; resolves to how many it were. */
export const deleteExpiredRequests = async (
  transaction: Transaction<GatewayTables>,
  now: Databases['now'],
  age: number,
): Promise<number> => {
  // The totals come first everywhere: their row is the lock, so that no two wait for each other.
  await transaction
    .updateTable('gateway_request_totals')
    .set(({ ref }) => ({ requests: ref('requests') }))
    .execute();
  const deleted = await transaction
    .deleteFrom('gateway_sign_in_requests')
    .where('handle_hash', 'in', ({ selectFrom }) =>
      selectFrom('gateway_sign_in_requests')
        .select('handle_hash')
        .where(sql<boolean>`expires_at <= ${now()} - ${age}`)
        .limit(portion),
    )
    .returning('bytes')
    .execute();
  const bytes = deleted.reduce((sum, row) => sum + row.bytes, 0);
  await transaction
    .updateTable('gateway_request_totals')
    .set(({ eb }) => ({ requests: eb('requests', '-', deleted.length), bytes: eb('bytes', '-', bytes) }))
    .execute();
  return deleted.length;
};

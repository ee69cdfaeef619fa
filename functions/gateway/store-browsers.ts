import { sql } from 'kysely';
import type { Operation } from './store-accounts.ts';

export const addBrowser: Operation<'addBrowser'> = ({ write }, { tokenHash, accountId, signedInUntil, expiresAt }) =>
  write.transaction().execute(async (transaction) => {
    await transaction
      .insertInto('gateway_browsers')
      .values({ token_hash: tokenHash, account_id: accountId, signed_in_until: signedInUntil, expires_at: expiresAt })
      .execute();
  });

export const findBrowser: Operation<'findBrowser'> = ({ read }, tokenHash, now) =>
  read
    .selectFrom('gateway_browsers as browser')
    .innerJoin('gateway_accounts as account', 'account.id', 'browser.account_id')
    .select(['account.id as accountId', 'account.name as accountName', 'account.display_name as displayName'])
    .select('browser.signed_in_until as signedInUntil')
    .where('browser.token_hash', '=', tokenHash)
    .where('browser.expires_at', '>', now)
    .where('account.disabled_at', 'is', null)
    .executeTakeFirst();

export const removeBrowser: Operation<'removeBrowser'> = ({ write }, tokenHash) =>
  write.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('gateway_browsers').where('token_hash', '=', tokenHash).execute();
  });

export const countAttempts: Operation<'countAttempts'> = async ({ read, write }, attempts, now) => {
  // A flood costs reads alone.
  const rows = await read
    .selectFrom('gateway_attempts')
    .select(['key_hash', 'count', 'ends_at'])
    .where('ends_at', '>', now)
    .where(
      'key_hash',
      'in',
      attempts.map(({ keyHash }) => keyHash),
    )
    .execute();
  const full = rows.filter(({ key_hash, count }) =>
    attempts.some(({ keyHash, most }) => compare(keyHash, key_hash) === 0 && count >= most),
  );
  if (full.length > 0) return Math.max(...full.map(({ ends_at }) => ends_at));
  try {
    await write.transaction().execute(async (transaction) => {
      // In one order everywhere, so that two replicas that count the same keys cannot wait for each other.
      for (const { keyHash, window, most } of attempts.toSorted((one, other) => compare(one.keyHash, other.keyHash))) {
        const over = sql<boolean>`gateway_attempts.ends_at <= ${now}`;
        const row = await transaction
          .insertInto('gateway_attempts')
          .values({ key_hash: keyHash, count: 1, ends_at: now + window })
          .onConflict((conflict) =>
            conflict
              .column('key_hash')
              .doUpdateSet({
                count: sql`case when ${over} then 1 else gateway_attempts.count + 1 end`,
                ends_at: sql`case when ${over} then excluded.ends_at else gateway_attempts.ends_at end`,
              })
              .where(sql<boolean>`${over} or gateway_attempts.count < ${most}`),
          )
          .returning('count')
          .executeTakeFirst();
        if (row !== undefined) continue;
        // Others counted in between.
        const reached = await transaction
          .selectFrom('gateway_attempts')
          .select('ends_at')
          .where('key_hash', '=', keyHash)
          .executeTakeFirstOrThrow();
        throw new LimitReached(reached.ends_at);
      }
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof LimitReached)) throw error;
    return error.until;
  }
};

/** Takes back what the transaction counted before it met a limit. */
class LimitReached extends Error {
  readonly until: number;
  constructor(until: number) {
    super('a limit is reached');
    this.until = until;
  }
}

export const returnAttempts: Operation<'returnAttempts'> = ({ write }, keyHashes) =>
  write.transaction().execute(async (transaction) => {
    for (const keyHash of keyHashes.toSorted(compare)) {
      await transaction
        .updateTable('gateway_attempts')
        .set((expression) => ({ count: expression('count', '-', 1) }))
        .where('key_hash', '=', keyHash)
        .where('count', '>', 0)
        .execute();
    }
  });

const compare = (one: Uint8Array, other: Uint8Array) => {
  for (const [index, byte] of one.entries()) {
    const difference = byte - (other[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
};

import { sql } from 'kysely';
import type { Databases, Operation } from './databases.ts';

export const addBrowser: Operation<'addBrowser'> = ({ transact, now }, { tokenHash, accountId, sessionLife, life }) =>
  transact(async (transaction) => {
    await transaction
      .insertInto('gateway_browsers')
      .values({
        token_hash: tokenHash,
        account_id: accountId,
        signed_in_until: sql`${now()} + ${sessionLife}`,
        expires_at: sql`${now()} + ${life}`,
      })
      .execute();
  });

export const findBrowser: Operation<'findBrowser'> = async ({ read, now }, tokenHash) => {
  const row = await read
    .selectFrom('gateway_browsers as browser')
    .innerJoin('gateway_accounts as account', 'account.id', 'browser.account_id')
    .select(['account.id as accountId', 'account.name as accountName', 'account.display_name as displayName'])
    .select(['browser.signed_in_until', now().as('readAt')])
    .where('browser.token_hash', '=', tokenHash)
    .where('browser.expires_at', '>', now())
    .where('account.disabled_at', 'is', null)
    .executeTakeFirst();
  if (!row) return undefined;
  const { signed_in_until, readAt, ...browser } = row;
  return { ...browser, signedIn: signed_in_until > readAt };
};

export const removeBrowser: Operation<'removeBrowser'> = async ({ read, transact }, tokenHash) => {
  // Anybody may say that a browser leaves: of one that is not known, nothing is written.
  const known = await read
    .selectFrom('gateway_browsers')
    .select('token_hash')
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst();
  if (!known) return;
  await transact(async (transaction) => {
    await transaction.deleteFrom('gateway_browsers').where('token_hash', '=', tokenHash).execute();
  });
};

export const countAttempts: Operation<'countAttempts'> = async (databases, attempts, isStrangers) => {
  const { transact, now } = databases;
  const wait = await findWait(databases, attempts);
  if (wait !== undefined) return wait;
  try {
    await transact(async (transaction) => {
      // In one order everywhere, so that two replicas that count the same keys cannot wait for each other.
      for (const { keyHash, window, most } of attempts.toSorted((one, other) => compare(one.keyHash, other.keyHash))) {
        const over = sql<boolean>`gateway_attempts.ends_at <= ${now()}`;
        const counted = await transaction
          .insertInto('gateway_attempts')
          .values({ key_hash: keyHash, count: 1, ends_at: sql`${now()} + ${window}` })
          .onConflict((conflict) =>
            conflict
              .column('key_hash')
              .doUpdateSet({
                count: sql`case when ${over} then 1 else gateway_attempts.count + 1 end`,
                ends_at: sql`case when ${over} then excluded.ends_at else gateway_attempts.ends_at end`,
              })
              .where(sql<boolean>`(${over} or gateway_attempts.count < ${most})`),
          )
          .returning('key_hash')
          .executeTakeFirst();
        if (!counted) throw new OneTooMany();
      }
    }, isStrangers);
    return undefined;
  } catch (error) {
    // Others took the last ones since the look before; what was counted for this one is rolled back.
    if (error instanceof OneTooMany) return (await findWait(databases, attempts)) ?? 1;
    throw error;
  }
};

class OneTooMany extends Error {}

/** Milliseconds until every key may have another attempt; undefined where each may now. Reads only. */
const findWait = async ({ read, now }: Databases, attempts: readonly { keyHash: Uint8Array; most: number }[]) => {
  const rows = await read
    .selectFrom('gateway_attempts')
    .select(['key_hash', 'count', 'ends_at', now().as('readAt')])
    .where(
      'key_hash',
      'in',
      attempts.map(({ keyHash }) => keyHash),
    )
    .execute();
  let longest = 0;
  for (const { key_hash, count, ends_at, readAt } of rows) {
    const isFull = attempts.some(({ keyHash, most }) => compare(keyHash, key_hash) === 0 && count >= most);
    if (isFull) longest = Math.max(longest, ends_at - readAt);
  }
  return longest || undefined;
};

export const returnAttempts: Operation<'returnAttempts'> = ({ transact }, keyHashes, isStrangers) =>
  transact(async (transaction) => {
    for (const keyHash of keyHashes.toSorted(compare)) {
      await transaction
        .updateTable('gateway_attempts')
        .set((expression) => ({ count: expression('count', '-', 1) }))
        .where('key_hash', '=', keyHash)
        .where('count', '>', 0)
        .execute();
    }
  }, isStrangers);

const compare = (one: Uint8Array, other: Uint8Array) => {
  for (const [index, byte] of one.entries()) {
    const difference = byte - (other[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
};

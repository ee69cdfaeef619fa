import type { Kysely, Transaction } from 'kysely';
import { decideRefresh, decideRevoke } from './credential-states.ts';
import type { CredentialHashes, Cryptography } from './cryptography.ts';
import type { GatewayTables } from './schema.ts';
import type { NewSet, SignInRequest } from './store.ts';
import type { Operation } from './store-accounts.ts';

const requestColumns = [
  'callback',
  'application',
  'model',
  'masked_udid as maskedUdid',
  'expires_at as expiresAt',
  'consumed_at as consumedAt',
] as const;

export const addSignInRequest: Operation<'addSignInRequest'> = ({ write }, handleHash, request) =>
  write.transaction().execute(async (transaction) => {
    const { callback, application, model, maskedUdid, expiresAt } = request;
    await transaction
      .insertInto('gateway_sign_in_requests')
      .values({ handle_hash: handleHash, callback, application, model, masked_udid: maskedUdid, expires_at: expiresAt })
      .execute();
  });

export const findSignInRequest: Operation<'findSignInRequest'> = ({ read }, handleHash) =>
  read
    .selectFrom('gateway_sign_in_requests')
    .select(requestColumns)
    .where('handle_hash', '=', handleHash)
    .executeTakeFirst();

export const completeSignIn: Operation<'completeSignIn'> = ({ write }, completion, now) =>
  write.transaction().execute(async (transaction): Promise<SignInRequest | undefined> => {
    const request = await transaction
      .updateTable('gateway_sign_in_requests')
      .set({ consumed_at: now })
      .where('handle_hash', '=', completion.handleHash)
      .where('consumed_at', 'is', null)
      .where('expires_at', '>', now)
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom('gateway_accounts')
            .select('id')
            .where('id', '=', completion.accountId)
            .where('disabled_at', 'is', null),
        ),
      )
      .returning(requestColumns)
      .executeTakeFirst();
    if (!request) return undefined;
    const ends_at = now + completion.familyLife;
    await transaction
      .insertInto('gateway_families')
      .values({
        id: completion.familyId,
        account_id: completion.accountId,
        application: request.application,
        model: request.model,
        masked_udid: request.maskedUdid,
        created_at: now,
        ends_at,
        last_used_at: now,
      })
      .execute();
    await insertSet(transaction, completion.set, { familyId: completion.familyId, endsAt: ends_at, now });
    return request;
  });

const insertSet = (
  transaction: Transaction<GatewayTables>,
  set: NewSet,
  { familyId, endsAt, now }: { familyId: string; endsAt: number; now: number },
) =>
  transaction
    .insertInto('gateway_credential_sets')
    .values({
      id: set.id,
      family_id: familyId,
      auth_hash: set.hashes.auth,
      secret_hash: set.hashes.secret,
      refresh_hash: set.hashes.refresh,
      created_at: now,
      expires_at: Math.min(set.expiresAt, endsAt),
      refresh_expires_at: Math.min(now + set.refreshLife, endsAt),
      ends_at: endsAt,
    })
    .execute();

const setsWithOwners = (database: Kysely<GatewayTables>) =>
  database
    .selectFrom('gateway_credential_sets as set')
    .innerJoin('gateway_families as family', 'family.id', 'set.family_id')
    .innerJoin('gateway_accounts as account', 'account.id', 'family.account_id')
    .select([
      'set.expires_at as expiresAt',
      'set.refresh_expires_at as refreshExpiresAt',
      'set.spent_at as spentAt',
      'family.revoked_at as revokedAt',
      'account.disabled_at as accountDisabledAt',
      'family.id as familyId',
      'account.id as accountId',
    ]);

export const findToken: Operation<'findToken'> = async ({ read }, authHash) => {
  const row = await setsWithOwners(read)
    .select(['account.name', 'account.display_name', 'family.model', 'family.created_at', 'family.last_used_at'])
    .where('set.auth_hash', '=', authHash)
    .executeTakeFirst();
  if (!row) return undefined;
  return {
    state: row,
    familyId: row.familyId,
    accountId: row.accountId,
    accountName: row.name,
    displayName: row.display_name,
    model: row.model,
    signedInAt: row.created_at,
    lastUsedAt: row.last_used_at,
  };
};

/** The refresh operation, which compares hashes with the given cryptography. */
export const createRefresh =
  (cryptography: Cryptography): Operation<'refresh'> =>
  async ({ read, write }, presented, successor, now) => {
    const row = await setsWithOwners(read)
      .select(['set.id', 'set.auth_hash', 'set.secret_hash'])
      .where('set.refresh_hash', '=', presented.refresh)
      .executeTakeFirst();
    const whole =
      row !== undefined &&
      cryptography.equal(row.auth_hash, presented.auth) &&
      cryptography.equal(row.secret_hash, presented.secret);
    const decision = decideRefresh(row, { whole, now });
    if (row === undefined) return { decision };
    const { familyId, accountId } = row;
    if (decision === 'rotate') {
      const rotated = await write
        .transaction()
        .execute((transaction) => rotate(transaction, presented, successor, now));
      return { decision: rotated ? 'rotate' : 'refused', familyId, accountId };
    }
    if (decision === 'reused') {
      const ended = await write.transaction().execute((transaction) => endFamily(transaction, familyId, now));
      return { decision: ended ? 'reused' : 'refused', familyId, accountId };
    }
    return { decision, familyId, accountId };
  };

// Every condition of the decision stands in the statement that consumes, so nothing that happened since the decision,
// here or in another process, can be overlooked.
const rotate = async (
  transaction: Transaction<GatewayTables>,
  presented: CredentialHashes,
  successor: NewSet,
  now: number,
) => {
  const spent = await transaction
    .updateTable('gateway_credential_sets')
    .set({ spent_at: now })
    .where('refresh_hash', '=', presented.refresh)
    .where('auth_hash', '=', presented.auth)
    .where('secret_hash', '=', presented.secret)
    .where('spent_at', 'is', null)
    .where('expires_at', '<=', now)
    .where('refresh_expires_at', '>', now)
    .where('family_id', 'in', (expression) =>
      expression
        .selectFrom('gateway_families as family')
        .innerJoin('gateway_accounts as account', 'account.id', 'family.account_id')
        .select('family.id')
        .whereRef('family.id', '=', 'gateway_credential_sets.family_id')
        .where('family.revoked_at', 'is', null)
        .where('account.disabled_at', 'is', null),
    )
    .returning(['family_id', 'ends_at'])
    .executeTakeFirst();
  if (!spent) return false;
  await insertSet(transaction, successor, { familyId: spent.family_id, endsAt: spent.ends_at, now });
  return true;
};

const endFamily = async (transaction: Transaction<GatewayTables>, familyId: string, now: number) => {
  const { numUpdatedRows } = await transaction
    .updateTable('gateway_families')
    .set({ revoked_at: now })
    .where('id', '=', familyId)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
};

/** The revoke operation, which compares hashes with the given cryptography. */
export const createRevoke =
  (cryptography: Cryptography): Operation<'revoke'> =>
  async ({ read, write }, presented, now) => {
    const rows = await setsWithOwners(read)
      .select(['set.id', 'set.auth_hash', 'set.secret_hash', 'set.refresh_hash'])
      .where(({ eb, or }) =>
        or([
          eb('set.auth_hash', '=', presented.auth),
          eb('set.secret_hash', '=', presented.secret),
          eb('set.refresh_hash', '=', presented.refresh),
        ]),
      )
      .execute();
    const decision = decideRevoke({
      auth: rows.find((row) => cryptography.equal(row.auth_hash, presented.auth))?.id,
      secret: rows.find((row) => cryptography.equal(row.secret_hash, presented.secret))?.id,
      refresh: rows.find((row) => cryptography.equal(row.refresh_hash, presented.refresh))?.id,
    });
    const [row] = rows;
    if (decision !== 'revoke' || row === undefined) return { decision };
    const { familyId, accountId } = row;
    if (row.revokedAt === null) {
      await write.transaction().execute((transaction) => endFamily(transaction, familyId, now));
    }
    return { decision, familyId, accountId };
  };

export const touchFamily: Operation<'touchFamily'> = ({ write }, familyId, now) =>
  write.transaction().execute(async (transaction) => {
    await transaction
      .updateTable('gateway_families')
      .set({ last_used_at: now })
      .where('id', '=', familyId)
      .where('last_used_at', '<', now)
      .execute();
  });

export const listDevices: Operation<'listDevices'> = async ({ read }, accountId, now) => {
  const rows = await read
    .selectFrom('gateway_families as family')
    .innerJoin('gateway_credential_sets as set', (join) =>
      join.onRef('set.family_id', '=', 'family.id').on('set.spent_at', 'is', null),
    )
    .select(['family.id', 'family.application', 'family.model', 'family.masked_udid', 'family.created_at'])
    .select(['family.last_used_at', 'set.created_at as refreshedAt'])
    .where('family.account_id', '=', accountId)
    .where('family.revoked_at', 'is', null)
    .where('set.refresh_expires_at', '>', now)
    .orderBy('family.created_at', 'desc')
    .orderBy('family.id')
    .execute();
  return rows.map((row) => ({
    familyId: row.id,
    application: row.application,
    model: row.model,
    maskedUdid: row.masked_udid,
    signedInAt: row.created_at,
    lastUsedAt: Math.max(row.last_used_at, row.refreshedAt),
  }));
};

export const revokeFamily: Operation<'revokeFamily'> = ({ write }, familyId, accountId, now) =>
  write.transaction().execute(async (transaction) => {
    const { numUpdatedRows } = await transaction
      .updateTable('gateway_families')
      .set({ revoked_at: now })
      .where('id', '=', familyId)
      .where('account_id', '=', accountId)
      .where('revoked_at', 'is', null)
      .executeTakeFirstOrThrow();
    return numUpdatedRows > 0n;
  });

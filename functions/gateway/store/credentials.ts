import type { Transaction } from 'kysely';
import { decideRefresh, decideRevoke } from '../credential-states.ts';
import type { CredentialHashes, Cryptography } from '../cryptography.ts';
import { devicesShown, type NewSet, type SignInRequest } from './credential-store.ts';
import type { Databases, Operation } from './databases.ts';
import type { GatewayTables } from './tables.ts';

const requestColumns = [
  'callback',
  'application',
  'model',
  'masked_udid as maskedUdid',
  'udid_hash as udidHash',
] as const;

export const findSignInRequest: Operation<'findSignInRequest'> = async ({ read, now }, handleHash) => {
  const row = await read
    .selectFrom('gateway_sign_in_requests')
    .select(requestColumns)
    .select(['expires_at', 'consumed_at', now().as('readAt')])
    .where('handle_hash', '=', handleHash)
    .executeTakeFirst();
  if (!row) return undefined;
  const { expires_at, consumed_at, readAt, ...request } = row;
  return { ...request, state: consumed_at !== null ? 'used' : expires_at > readAt ? 'open' : 'expired' };
};

export const completeSignIn: Operation<'completeSignIn'> = ({ transact, now }, completion) =>
  transact(async (transaction): Promise<SignInRequest | undefined> => {
    const used = await transaction
      .updateTable('gateway_sign_in_requests')
      .set({ consumed_at: now() })
      .where('handle_hash', '=', completion.handleHash)
      .where('consumed_at', 'is', null)
      .where('expires_at', '>', now())
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom('gateway_accounts')
            .select('id')
            .where('id', '=', completion.accountId)
            .where('disabled_at', 'is', null),
        ),
      )
      .returning([...requestColumns, 'consumed_at'])
      .executeTakeFirst();
    if (!used || used.consumed_at === null) return undefined;
    const { consumed_at: signedInAt, ...request } = used;
    const endsAt = signedInAt + completion.familyLife;
    await transaction
      .insertInto('gateway_families')
      .values({
        id: completion.familyId,
        account_id: completion.accountId,
        application: request.application,
        model: request.model,
        masked_udid: request.maskedUdid,
        udid_hash: request.udidHash,
        created_at: signedInAt,
        ends_at: endsAt,
        last_used_at: signedInAt,
      })
      .execute();
    await insertSet(transaction, completion.set, { familyId: completion.familyId, endsAt, now: signedInAt });
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
      expires_at: Math.min(now + set.life, endsAt),
      refresh_expires_at: Math.min(now + set.refreshLife, endsAt),
      ends_at: endsAt,
    })
    .execute();

const setsWithOwners = ({ read, now }: Databases) =>
  read
    .selectFrom('gateway_credential_sets as set')
    .innerJoin('gateway_families as family', 'family.id', 'set.family_id')
    .innerJoin('gateway_accounts as account', 'account.id', 'family.account_id')
    .select([
      now().as('readAt'),
      'set.created_at as createdAt',
      'set.expires_at as expiresAt',
      'set.refresh_expires_at as refreshExpiresAt',
      'set.spent_at as spentAt',
      'family.revoked_at as revokedAt',
      'account.disabled_at as accountDisabledAt',
      'family.id as familyId',
      'account.id as accountId',
    ]);

// The latest that is known of a set: no clock may be behind it.
const latest = ({ spentAt, createdAt }: { spentAt: number | null; createdAt: number }) => spentAt ?? createdAt;

export const findToken: Operation<'findToken'> = async (databases, authHash) => {
  const row = await setsWithOwners(databases)
    .select(['account.name', 'account.display_name', 'family.model', 'family.created_at', 'family.last_used_at'])
    .select(['set.secret_hash', 'family.udid_hash'])
    .where('set.auth_hash', '=', authHash)
    .executeTakeFirst();
  if (!row) return undefined;
  databases.observe(latest(row));
  return {
    state: row,
    readAt: row.readAt,
    familyId: row.familyId,
    accountId: row.accountId,
    accountName: row.name,
    displayName: row.display_name,
    model: row.model,
    signedInAt: row.created_at,
    lastUsedAt: row.last_used_at,
    secretHash: row.secret_hash,
    udidHash: row.udid_hash,
  };
};

/** The refresh operation, which compares hashes with the given cryptography. */
export const createRefresh = (cryptography: Cryptography): Operation<'refresh'> => {
  // A thousand who present one token at once would each take a transaction to find it spent. Those that come while one
  // of them has it wait for that and then read.
  const rotating = new Map<string, Promise<unknown>>();

  const refresh: Operation<'refresh'> = async (databases, presented, successor) => {
    const { transact } = databases;
    const row = await setsWithOwners(databases)
      .select(['set.id', 'set.auth_hash', 'set.secret_hash'])
      .where('set.refresh_hash', '=', presented.refresh)
      .executeTakeFirst();
    if (row === undefined) return { decision: decideRefresh(row, { whole: false, now: 0 }) };
    databases.observe(latest(row));
    const whole =
      cryptography.equal(row.auth_hash, presented.auth) && cryptography.equal(row.secret_hash, presented.secret);
    const decision = decideRefresh(row, { whole, now: row.readAt });
    const { id, familyId, accountId } = row;
    if (decision === 'rotate') {
      const other = rotating.get(id);
      if (other) {
        await other.catch(() => {});
        return refresh(databases, presented, successor);
      }
      const rotation = transact((transaction) => rotate(transaction, presented, successor, databases.now));
      rotating.set(id, rotation);
      try {
        return { decision: (await rotation) ? 'rotate' : 'refused', familyId, accountId };
      } finally {
        rotating.delete(id);
      }
    }
    if (decision === 'reused') {
      const ended = await transact((transaction) => endFamily(transaction, familyId, databases.now));
      return { decision: ended ? 'reused' : 'refused', familyId, accountId };
    }
    return { decision, familyId, accountId };
  };
  return refresh;
};

// Every condition of the decision stands in the statement that consumes, so nothing that happened since the decision,
// here or in another process, can be overlooked.
const rotate = async (
  transaction: Transaction<GatewayTables>,
  presented: CredentialHashes,
  successor: NewSet,
  now: Databases['now'],
) => {
  const spent = await transaction
    .updateTable('gateway_credential_sets')
    .set({ spent_at: now() })
    .where('refresh_hash', '=', presented.refresh)
    .where('auth_hash', '=', presented.auth)
    .where('secret_hash', '=', presented.secret)
    .where('spent_at', 'is', null)
    .where('expires_at', '<=', now())
    .where('refresh_expires_at', '>', now())
    .where('family_id', 'in', (expression) =>
      expression
        .selectFrom('gateway_families as family')
        .innerJoin('gateway_accounts as account', 'account.id', 'family.account_id')
        .select('family.id')
        .whereRef('family.id', '=', 'gateway_credential_sets.family_id')
        .where('family.revoked_at', 'is', null)
        .where('account.disabled_at', 'is', null),
    )
    .returning(['family_id', 'ends_at', 'spent_at'])
    .executeTakeFirst();
  if (!spent || spent.spent_at === null) return false;
  await insertSet(transaction, successor, { familyId: spent.family_id, endsAt: spent.ends_at, now: spent.spent_at });
  return true;
};

const endFamily = async (transaction: Transaction<GatewayTables>, familyId: string, now: Databases['now']) => {
  const { numUpdatedRows } = await transaction
    .updateTable('gateway_families')
    .set({ revoked_at: now() })
    .where('id', '=', familyId)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
};

/** The revoke operation, which compares hashes with the given cryptography. */
export const createRevoke =
  (cryptography: Cryptography): Operation<'revoke'> =>
  async (databases, presented) => {
    const rows = await setsWithOwners(databases)
      .select(['set.id', 'set.auth_hash', 'set.secret_hash', 'set.refresh_hash'])
      .where(({ eb, or }) =>
        or([
          eb('set.auth_hash', '=', presented.auth),
          eb('set.secret_hash', '=', presented.secret),
          eb('set.refresh_hash', '=', presented.refresh),
        ]),
      )
      .execute();
    const auth = rows.find((row) => cryptography.equal(row.auth_hash, presented.auth));
    const secret = rows.find((row) => cryptography.equal(row.secret_hash, presented.secret));
    const refresh = rows.find((row) => cryptography.equal(row.refresh_hash, presented.refresh));
    const decision = decideRevoke({ auth: auth?.id, secret: secret?.id, refresh: refresh?.id });
    const row = auth ?? secret ?? refresh;
    if (row === undefined) return { decision };
    const { familyId, accountId } = row;
    if (decision !== 'revoke') return { decision, familyId, accountId };
    if (row.revokedAt === null) {
      await databases.transact((transaction) => endFamily(transaction, familyId, databases.now));
    }
    return { decision, familyId, accountId };
  };

export const touchFamily: Operation<'touchFamily'> = ({ transact }, familyId, usedAt) =>
  transact(async (transaction) => {
    await transaction
      .updateTable('gateway_families')
      .set({ last_used_at: usedAt })
      .where('id', '=', familyId)
      .where('last_used_at', '<', usedAt)
      .execute();
  });

export const listDevices: Operation<'listDevices'> = async ({ read, now }, accountId) => {
  const rows = await read
    .selectFrom('gateway_families as family')
    .innerJoin('gateway_credential_sets as set', (join) =>
      join.onRef('set.family_id', '=', 'family.id').on('set.spent_at', 'is', null),
    )
    .select(['family.id', 'family.application', 'family.model', 'family.masked_udid', 'family.created_at'])
    .select(['family.last_used_at', 'set.created_at as refreshedAt'])
    .where('family.account_id', '=', accountId)
    .where('family.revoked_at', 'is', null)
    .where('set.refresh_expires_at', '>', now())
    .orderBy('family.created_at', 'desc')
    .orderBy('family.id', 'desc')
    .limit(devicesShown + 1)
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

export const revokeFamily: Operation<'revokeFamily'> = ({ transact, now }, familyId, accountId) =>
  transact(async (transaction) => {
    const { numUpdatedRows } = await transaction
      .updateTable('gateway_families')
      .set({ revoked_at: now() })
      .where('id', '=', familyId)
      .where('account_id', '=', accountId)
      .where('revoked_at', 'is', null)
      .executeTakeFirstOrThrow();
    return numUpdatedRows > 0n;
  });

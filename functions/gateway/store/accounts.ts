import type { Kysely, SelectQueryBuilder, Transaction } from 'kysely';
import type { Account, AccountSummary } from './credential-store.ts';
import type { Databases, Operation } from './databases.ts';
import type { GatewayTables } from './tables.ts';

const columns = [
  'id',
  'name',
  'display_name as displayName',
  'password_hash as passwordHash',
  'disabled_at as disabledAt',
  'created_at as createdAt',
] as const;

export const addAccount: Operation<'addAccount'> = ({ transact, now }, { id, name, displayName, passwordHash }) =>
  transact(async (transaction) => {
    const added = await transaction
      .insertInto('gateway_accounts')
      .values({ id, name, display_name: displayName, password_hash: passwordHash, created_at: now(), ...unset })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .returning('id')
      .executeTakeFirst();
    return added !== undefined;
  });

const unset = { issuer: null, subject: null, disabled_at: null };

export const findAccount: Operation<'findAccount'> = ({ read }, name) =>
  read.selectFrom('gateway_accounts').select(columns).where('name', '=', name).executeTakeFirst();

export const findOrAddFederated: Operation<'findOrAddFederated'> = async ({ read, transact, now }, account) => {
  const { id, name, displayName, issuer, subject } = account;
  const find = (database: Kysely<GatewayTables>): Promise<Account | undefined> =>
    database
      .selectFrom('gateway_accounts')
      .select(columns)
      .where('issuer', '=', issuer)
      .where('subject', '=', subject)
      .executeTakeFirst();
  const known = await find(read);
  if (known?.displayName === displayName) return { ...known, added: false };
  return transact(async (transaction) => {
    const values = { ...unset, id, display_name: displayName, password_hash: null, issuer, subject, created_at: now() };
    let added = false;
    // Another provider, or another subject, may have led to that name. Where this account was added meanwhile, neither
    // name adds another: an identity has one.
    for (const free of [name, `${name}#${id}`]) {
      if (known || added) break;
      const row = await transaction
        .insertInto('gateway_accounts')
        .values({ ...values, name: free })
        .onConflict((conflict) => conflict.doNothing())
        .returning('id')
        .executeTakeFirst();
      added = row !== undefined;
    }
    await transaction
      .updateTable('gateway_accounts')
      .set({ display_name: displayName })
      .where('issuer', '=', issuer)
      .where('subject', '=', subject)
      .where('display_name', '!=', displayName)
      .execute();
    const account = await find(transaction);
    if (!account) throw new Error('an account that was just added is missing');
    return { ...account, added };
  });
};

export const hasAccounts: Operation<'hasAccounts'> = async ({ read }) =>
  (await read
    .selectFrom('gateway_accounts')
    .select('id')
    .where('password_hash', 'is not', null)
    .limit(1)
    .executeTakeFirst()) !== undefined;

export const listAccounts: Operation<'listAccounts'> = async ({ read, now }): Promise<AccountSummary[]> => {
  const rows = await read
    .selectFrom('gateway_accounts as account')
    .leftJoin('gateway_families as family', (join) =>
      join.onRef('family.account_id', '=', 'account.id').on('family.revoked_at', 'is', null),
    )
    // As on the devices page: what can no longer be refreshed is no device, though its year is not over. Each living
    // family has one unspent set.
    .leftJoin('gateway_credential_sets as set', (join) =>
      join
        .onRef('set.family_id', '=', 'family.id')
        .on('set.spent_at', 'is', null)
        .on('set.refresh_expires_at', '>', now()),
    )
    .select(['account.name', 'account.display_name as displayName', 'account.disabled_at as disabledAt'])
    .select(['account.created_at as createdAt', (expression) => expression.fn.count('set.id').as('devices')])
    .groupBy(['account.id', 'account.name', 'account.display_name', 'account.disabled_at', 'account.created_at'])
    .orderBy('account.name')
    .execute();
  return rows.map((row) => ({ ...row, devices: Number(row.devices) }));
};

export const setPassword: Operation<'setPassword'> = ({ transact }, name, passwordHash) =>
  transact(async (transaction) => {
    const account = await transaction
      .updateTable('gateway_accounts')
      .set({ password_hash: passwordHash })
      .where('name', '=', name)
      .returning('id')
      .executeTakeFirst();
    if (!account) return false;
    await transaction.deleteFrom('gateway_browsers').where('account_id', '=', account.id).execute();
    return true;
  });

export const setDisabled: Operation<'setDisabled'> = ({ transact, now }, name, disabled) =>
  transact(async (transaction) => {
    const { numUpdatedRows } = await transaction
      .updateTable('gateway_accounts')
      .set({ disabled_at: disabled ? now() : null })
      .where('name', '=', name)
      .executeTakeFirstOrThrow();
    return numUpdatedRows > 0n;
  });

export const removeAccount: Operation<'removeAccount'> = ({ transact }, name) =>
  transact(async (transaction) => {
    const { numDeletedRows } = await transaction
      .deleteFrom('gateway_accounts')
      .where('name', '=', name)
      .executeTakeFirstOrThrow();
    return numDeletedRows > 0n;
  });

export const signOutAccount: Operation<'signOutAccount'> = ({ transact, now }, name) =>
  transact(async (transaction) => {
    const account = await transaction
      .selectFrom('gateway_accounts')
      .select('id')
      .where('name', '=', name)
      .executeTakeFirst();
    if (!account) return undefined;
    await transaction.deleteFrom('gateway_browsers').where('account_id', '=', account.id).execute();
    const families = transaction.selectFrom('gateway_families').select('id').where('account_id', '=', account.id);
    return (await endFamilies(transaction, now, families)).devices;
  });

type Families = SelectQueryBuilder<GatewayTables, 'gateway_families', { id: string }>;

/** Revokes those of these families that are not; resolves to how many, and on how many devices as listAccounts counts. */
const endFamilies = async (transaction: Transaction<GatewayTables>, now: Databases['now'], families: Families) => {
  const rows = await transaction
    .updateTable('gateway_families')
    .set({ revoked_at: now() })
    .where('id', 'in', families)
    .where('revoked_at', 'is', null)
    .returning(({ exists, selectFrom }) =>
      exists(
        selectFrom('gateway_credential_sets as set')
          .select('set.id')
          .whereRef('set.family_id', '=', 'gateway_families.id')
          .where('set.spent_at', 'is', null)
          .where('set.refresh_expires_at', '>', now()),
      ).as('isDevice'),
    )
    .execute();
  return { families: rows.length, devices: rows.filter(({ isDevice }) => isDevice).length };
};

/** Rows changed in one transaction, so that nobody's refresh waits for long. */
const portion = 500;

export const signOutEverybody: Operation<'signOutEverybody'> = async ({ transact, now }) => {
  const browsers = await transact(async (transaction) => {
    const { numDeletedRows } = await transaction
      .deleteFrom('gateway_browsers')
      .where('token_hash', 'in', (some) => some.selectFrom('gateway_browsers').select('token_hash').limit(portion))
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  });
  const { families, devices } = await transact((transaction) => {
    const some = transaction.selectFrom('gateway_families').select('id').where('revoked_at', 'is', null);
    return endFamilies(transaction, now, some.limit(portion));
  });
  // Others may have ended some of a portion meanwhile, so that fewer than its number say nothing of the rest.
  return { devices, more: browsers + families > 0 };
};

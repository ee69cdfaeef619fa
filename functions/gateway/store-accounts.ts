import type { Kysely, RawBuilder } from 'kysely';
import type { GatewayTables } from './schema.ts';
import type { Databases, Operation } from './store/databases.ts';
import type { Account, AccountSummary } from './store.ts';

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
  if (known) return known;
  return transact(async (transaction) => {
    await transaction
      .insertInto('gateway_accounts')
      .values({
        ...unset,
        id,
        name,
        display_name: displayName,
        password_hash: null,
        issuer,
        subject,
        created_at: now(),
      })
      .onConflict((conflict) => conflict.columns(['issuer', 'subject']).doNothing())
      .execute();
    const added = await find(transaction);
    if (!added) throw new Error('an account that was just added is missing');
    return added;
  });
};

export const hasAccounts: Operation<'hasAccounts'> = async ({ read }) =>
  (await read.selectFrom('gateway_accounts').select('id').limit(1).executeTakeFirst()) !== undefined;

export const listAccounts: Operation<'listAccounts'> = async ({ read, now }): Promise<AccountSummary[]> => {
  const rows = await read
    .selectFrom('gateway_accounts as account')
    .leftJoin('gateway_families as family', (join) =>
      join
        .onRef('family.account_id', '=', 'account.id')
        .on('family.revoked_at', 'is', null)
        .on('family.ends_at', '>', now()),
    )
    .select(['account.name', 'account.display_name as displayName', 'account.disabled_at as disabledAt'])
    .select(['account.created_at as createdAt', (expression) => expression.fn.count('family.id').as('devices')])
    .groupBy(['account.id', 'account.name', 'account.display_name', 'account.disabled_at', 'account.created_at'])
    .orderBy('account.name')
    .execute();
  return rows.map((row) => ({ ...row, devices: Number(row.devices) }));
};

export const setPassword: Operation<'setPassword'> = (databases, name, passwordHash) =>
  updateAccount(databases, name, { password_hash: passwordHash });

export const setDisabled: Operation<'setDisabled'> = (databases, name, disabled) =>
  updateAccount(databases, name, { disabled_at: disabled ? databases.now() : null });

const updateAccount = (
  { transact }: Databases,
  name: string,
  change: { password_hash: string } | { disabled_at: RawBuilder<number> | null },
) =>
  transact(async (transaction) => {
    const { numUpdatedRows } = await transaction
      .updateTable('gateway_accounts')
      .set(change)
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
    const { numUpdatedRows } = await transaction
      .updateTable('gateway_families')
      .set({ revoked_at: now() })
      .where('account_id', '=', account.id)
      .where('revoked_at', 'is', null)
      .executeTakeFirstOrThrow();
    return Number(numUpdatedRows);
  });

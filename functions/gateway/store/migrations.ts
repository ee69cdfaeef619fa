import { type Kysely, type RawBuilder, sql } from 'kysely';
import { boundStandstill } from './postgres-session.ts';
import type { GatewayTables } from './tables.ts';

export type DatabaseKind = 'sqlite' | 'postgres';

type Database = Kysely<GatewayTables>;
type Migration = (database: Database, bytes: RawBuilder<unknown>) => Promise<unknown>;

// Only ever added to: a database that exists somewhere has run the ones before.
const migrations: readonly Migration[] = [
  async (database, bytes) => {
    await sql`
      create table gateway_accounts (
        id text primary key,
        name text not null unique,
        display_name text not null,
        password_hash text,
        issuer text,
        subject text,
        created_at bigint not null,
        disabled_at bigint,
        constraint gateway_accounts_identity unique (issuer, subject)
      )`.execute(database);
    await sql`
      create table gateway_families (
        id text primary key,
        account_id text not null references gateway_accounts (id) on delete cascade,
        application text not null,
        model text not null,
        masked_udid text not null,
        created_at bigint not null,
        ends_at bigint not null,
        last_used_at bigint not null,
        revoked_at bigint
      )`.execute(database);
    await index(database, 'gateway_families', 'account_id');
    await index(database, 'gateway_families', 'ends_at');
    await index(database, 'gateway_families', 'revoked_at');
    await sql`
      create table gateway_credential_sets (
        id text primary key,
        family_id text not null references gateway_families (id) on delete cascade,
        auth_hash ${bytes} not null unique,
        secret_hash ${bytes} not null unique,
        refresh_hash ${bytes} not null unique,
        created_at bigint not null,
        expires_at bigint not null,
        refresh_expires_at bigint not null,
        ends_at bigint not null,
        spent_at bigint
      )`.execute(database);
    await index(database, 'gateway_credential_sets', 'family_id');
    await index(database, 'gateway_credential_sets', 'refresh_expires_at');
    await sql`
      create table gateway_sign_in_requests (
        handle_hash ${bytes} primary key,
        callback text not null,
        application text not null,
        model text not null,
        masked_udid text not null,
        expires_at bigint not null,
        consumed_at bigint
      )`.execute(database);
    await index(database, 'gateway_sign_in_requests', 'expires_at');
    await sql`
      create table gateway_browsers (
        token_hash ${bytes} primary key,
        account_id text not null references gateway_accounts (id) on delete cascade,
        signed_in_until bigint not null,
        expires_at bigint not null
      )`.execute(database);
    await index(database, 'gateway_browsers', 'account_id');
    await index(database, 'gateway_browsers', 'expires_at');
    await sql`
      create table gateway_attempts (
        key_hash ${bytes} primary key,
        count integer not null,
        ends_at bigint not null
      )`.execute(database);
    await index(database, 'gateway_attempts', 'ends_at');
    await sql`create table gateway_probe (id integer primary key, probed_at bigint not null)`.execute(database);
  },
  // How much sign-in requests take, for the bound on it. Those that wait in this moment are forgotten.
  async (database) => {
    await database.deleteFrom('gateway_sign_in_requests').execute();
    await sql`alter table gateway_sign_in_requests add column bytes integer default 0 not null`.execute(database);
    await sql`
      create table gateway_request_totals (
        id integer primary key,
        requests integer not null,
        bytes bigint not null
      )`.execute(database);
    await database.insertInto('gateway_request_totals').values({ id: 1, requests: 0, bytes: 0 }).execute();
  },
  // Sign-ins from before have no hash of their device identifier: introspection cannot confirm theirs.
  async (database, bytes) => {
    await sql`alter table gateway_sign_in_requests add column udid_hash ${bytes}`.execute(database);
    await sql`alter table gateway_families add column udid_hash ${bytes}`.execute(database);
    await sql`create table gateway_keys (name text primary key, "key" ${bytes} not null)`.execute(database);
  },
  // An account may have any number of sign-ins, of which the newest are listed.
  async (database) => {
    await sql`
      create index if not exists gateway_families_living
      on gateway_families (account_id, created_at, id) where revoked_at is null`.execute(database);
  },
  // A sign-in of a year has thousands of spent sets beside the one that its device holds; whether anybody has a password
  // here is asked for every sign-in page, among all the accounts of a provider.
  async (database) => {
    await sql`
      create index if not exists gateway_credential_sets_unspent
      on gateway_credential_sets (family_id) where spent_at is null`.execute(database);
    await sql`
      create index if not exists gateway_accounts_with_password
      on gateway_accounts (id) where password_hash is not null`.execute(database);
  },
];

/** The version of the tables that this program makes and knows. */
export const schemaVersion = migrations.length;

const index = (database: Database, table: keyof GatewayTables, column: string) =>
  sql`create index ${sql.ref(`${table}_${column}`)} on ${sql.table(table)} (${sql.ref(column)})`.execute(database);

// Any constant will do, as long as every replica takes the same one and nothing else in the database does.
const advisoryLock = 7_310_263_924_016;

/** PostgreSQL, "undefined_table" (appendix A of its manual). */
const undefinedTable = '42P01';

/**
 * Whether the tables are those of this program. Only reads, so that it works while others write. Throws where PostgreSQL
 * cannot be asked: who takes that for missing tables makes them, as a role that may not be allowed to.
 */
export const isCurrent = async (database: Database, kind: DatabaseKind): Promise<boolean> => {
  try {
    const row = await database.selectFrom('gateway_schema').select('version').executeTakeFirst();
    return row?.version === schemaVersion;
  } catch (error) {
    if (kind === 'postgres' && (error as { readonly code?: unknown }).code !== undefinedTable) throw error;
    return false;
  }
};

/**
 * Brings the tables up to date. One transaction that holds a lock (SQLite: the write lock; PostgreSQL: an advisory
 * lock), so replicas that start together run each migration once. Throws where the database is newer than this program.
 */
export const migrate = (database: Database, kind: DatabaseKind): Promise<void> =>
  database.transaction().execute(async (transaction) => {
    if (kind === 'postgres') {
      await boundStandstill(transaction);
      await sql`select pg_advisory_xact_lock(${sql.lit(advisoryLock)})`.execute(transaction);
    }
    await sql`create table if not exists gateway_schema (version integer not null)`.execute(transaction);
    const row = await transaction.selectFrom('gateway_schema').select('version').executeTakeFirst();
    const version = row?.version ?? 0;
    if (version > migrations.length) {
      const sentence = `a newer version of this program made the credential store (${version}, not ${schemaVersion})`;
      throw Object.assign(new Error(sentence), { code: 'store_newer' });
    }
    const bytes = kind === 'postgres' ? sql`bytea` : sql`blob`;
    for (const migration of migrations.slice(version)) await migration(transaction, bytes);
    if (row === undefined) {
      await transaction.insertInto('gateway_schema').values({ version: migrations.length }).execute();
    } else if (version < migrations.length) {
      await transaction.updateTable('gateway_schema').set({ version: migrations.length }).execute();
    }
  });

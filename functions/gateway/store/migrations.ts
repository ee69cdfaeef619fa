import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { GatewayTables } from './tables.ts';

export type DatabaseKind = 'sqlite' | 'postgres';

type Database = Kysely<GatewayTables>;
type Migration = (database: Database, bytes: RawBuilder<unknown>) => Promise<unknown>;

// Only ever added to: a database that exists somewhere has run the ones before.
const migrations: readonly Migration[] = [
  async (database, bytes) => {
    await database.schema
      .createTable('gateway_accounts')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('name', 'text', (column) => column.notNull().unique())
      .addColumn('display_name', 'text', (column) => column.notNull())
      .addColumn('password_hash', 'text')
      .addColumn('issuer', 'text')
      .addColumn('subject', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('disabled_at', 'bigint')
      .addUniqueConstraint('gateway_accounts_identity', ['issuer', 'subject'])
      .execute();
    await database.schema
      .createTable('gateway_families')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) =>
        column.notNull().references('gateway_accounts.id').onDelete('cascade'),
      )
      .addColumn('application', 'text', (column) => column.notNull())
      .addColumn('model', 'text', (column) => column.notNull())
      .addColumn('masked_udid', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('ends_at', 'bigint', (column) => column.notNull())
      .addColumn('last_used_at', 'bigint', (column) => column.notNull())
      .addColumn('revoked_at', 'bigint')
      .execute();
    await index(database, 'gateway_families', 'account_id');
    await index(database, 'gateway_families', 'ends_at');
    await index(database, 'gateway_families', 'revoked_at');
    await database.schema
      .createTable('gateway_credential_sets')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('family_id', 'text', (column) =>
        column.notNull().references('gateway_families.id').onDelete('cascade'),
      )
      .addColumn('auth_hash', bytes, (column) => column.notNull().unique())
      .addColumn('secret_hash', bytes, (column) => column.notNull().unique())
      .addColumn('refresh_hash', bytes, (column) => column.notNull().unique())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addColumn('refresh_expires_at', 'bigint', (column) => column.notNull())
      .addColumn('ends_at', 'bigint', (column) => column.notNull())
      .addColumn('spent_at', 'bigint')
      .execute();
    await index(database, 'gateway_credential_sets', 'family_id');
    await index(database, 'gateway_credential_sets', 'refresh_expires_at');
    await database.schema
      .createTable('gateway_sign_in_requests')
      .addColumn('handle_hash', bytes, (column) => column.primaryKey())
      .addColumn('callback', 'text', (column) => column.notNull())
      .addColumn('application', 'text', (column) => column.notNull())
      .addColumn('model', 'text', (column) => column.notNull())
      .addColumn('masked_udid', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addColumn('consumed_at', 'bigint')
      .execute();
    await index(database, 'gateway_sign_in_requests', 'expires_at');
    await database.schema
      .createTable('gateway_browsers')
      .addColumn('token_hash', bytes, (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) =>
        column.notNull().references('gateway_accounts.id').onDelete('cascade'),
      )
      .addColumn('signed_in_until', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .execute();
    await index(database, 'gateway_browsers', 'account_id');
    await index(database, 'gateway_browsers', 'expires_at');
    await database.schema
      .createTable('gateway_attempts')
      .addColumn('key_hash', bytes, (column) => column.primaryKey())
      .addColumn('count', 'integer', (column) => column.notNull())
      .addColumn('ends_at', 'bigint', (column) => column.notNull())
      .execute();
    await index(database, 'gateway_attempts', 'ends_at');
    await database.schema
      .createTable('gateway_probe')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('probed_at', 'bigint', (column) => column.notNull())
      .execute();
  },
  // How much sign-in requests take, for the bound on it. Those that wait in this moment are forgotten.
  async (database) => {
    await database.deleteFrom('gateway_sign_in_requests').execute();
    await database.schema
      .alterTable('gateway_sign_in_requests')
      .addColumn('bytes', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    await database.schema
      .createTable('gateway_request_totals')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('requests', 'integer', (column) => column.notNull())
      .addColumn('bytes', 'bigint', (column) => column.notNull())
      .execute();
    await database.insertInto('gateway_request_totals').values({ id: 1, requests: 0, bytes: 0 }).execute();
  },
  // Sign-ins from before have no hash of their device identifier: introspection cannot confirm theirs.
  async (database, bytes) => {
    await database.schema.alterTable('gateway_sign_in_requests').addColumn('udid_hash', bytes).execute();
    await database.schema.alterTable('gateway_families').addColumn('udid_hash', bytes).execute();
    await database.schema
      .createTable('gateway_keys')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('key', bytes, (column) => column.notNull())
      .execute();
  },
];

/** The version of the tables that this program makes and knows. */
export const schemaVersion = migrations.length;

const index = (database: Database, table: keyof GatewayTables, column: string) =>
  database.schema.createIndex(`${table}_${column}`).on(table).column(column).execute();

// Any constant will do, as long as every replica takes the same one and nothing else in the database does.
const advisoryLock = 7_310_263_924_016;

/**
 * Brings the tables up to date. One transaction that holds a lock (SQLite: the write lock; PostgreSQL: an advisory
 * lock), so replicas that start together run each migration once. Throws where the database is newer than this program.
 */
export const migrate = (database: Database, kind: DatabaseKind): Promise<void> =>
  database.transaction().execute(async (transaction) => {
    if (kind === 'postgres') await sql`select pg_advisory_xact_lock(${sql.lit(advisoryLock)})`.execute(transaction);
    await transaction.schema
      .createTable('gateway_schema')
      .ifNotExists()
      .addColumn('version', 'integer', (column) => column.notNull())
      .execute();
    const row = await transaction.selectFrom('gateway_schema').select('version').executeTakeFirst();
    const version = row?.version ?? 0;
    if (version > migrations.length) {
      throw new Error(`the credential store is at version ${version}, this program knows ${migrations.length}`);
    }
    const bytes = kind === 'postgres' ? sql`bytea` : sql`blob`;
    for (const migration of migrations.slice(version)) await migration(transaction, bytes);
    if (row === undefined) {
      await transaction.insertInto('gateway_schema').values({ version: migrations.length }).execute();
    } else if (version < migrations.length) {
      await transaction.updateTable('gateway_schema').set({ version: migrations.length }).execute();
    }
  });

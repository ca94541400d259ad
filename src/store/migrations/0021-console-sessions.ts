import type { SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

const { text, integer } = COLUMN_TYPE;

/** Sessions of the dashboard, and the one-time links that open one. */
export async function up(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('console_sessions')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('id_hash', text, (column) => column.notNull().unique())
    .addColumn('token_hash', text, (column) => column.notNull())
    .addColumn('subject_kind', text, (column) => column.notNull())
    .addColumn('subject_id', text, (column) => column.notNull())
    .addColumn('role', text, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('last_seen_at_ms', integer, (column) => column.notNull())
    .addColumn('idle_until_ms', integer, (column) => column.notNull())
    .addColumn('ends_at_ms', integer, (column) => column.notNull())
    .addColumn('user_agent', text, (column) => column.notNull())
    .addColumn('address_prefix', text, (column) => column.notNull())
    .execute();
  await schema
    .createIndex('console_sessions_subject')
    .on('console_sessions')
    .columns(['subject_id', 'created_at_ms'])
    .execute();
  await schema
    .createTable('console_links')
    .addColumn('token_hash', text, (column) => column.primaryKey().notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('expires_at_ms', integer, (column) => column.notNull())
    .execute();
}

import { PostgresAdapter, sql, type Kysely, type SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';
import type { Tables } from '../tables.ts';

const { text, integer } = COLUMN_TYPE;

/** Records on their way to destinations, and how far each destination is. */
export async function up(schema: SchemaModule, rows: Kysely<Tables>): Promise<void> {
  const isPostgres = rows.getExecutor().adapter instanceof PostgresAdapter;
  const table = schema.createTable('export_rows');
  const numbered = isPostgres
    ? table
        .addColumn('seq', integer, (column) => column.primaryKey().generatedByDefaultAsIdentity())
        // Numbers are given before commits, and commits come in another order: readers go by the transaction first.
        .addColumn('xid', integer, (column) => column.notNull().defaultTo(sql`(pg_current_xact_id()::text::bigint)`))
    : table
        .addColumn('seq', 'integer', (column) => column.primaryKey().autoIncrement())
        .addColumn('xid', integer, (column) => column.notNull().defaultTo(0));
  await numbered
    .addColumn('record_id', text, (column) => column.notNull())
    .addColumn('workspace_id', text, (column) => column.notNull())
    .addColumn('ended_ms', integer, (column) => column.notNull())
    .addColumn('size_bytes', integer, (column) => column.notNull())
    .addColumn('facts', text, (column) => column.notNull())
    .execute();
  await schema.createIndex('export_rows_position').on('export_rows').columns(['workspace_id', 'xid', 'seq']).execute();
  await schema.createIndex('export_rows_order').on('export_rows').columns(['xid', 'seq']).execute();
  await schema
    .createTable('destination_cursors')
    .addColumn('destination_id', text, (column) => column.primaryKey().notNull())
    .addColumn('xid', integer, (column) => column.notNull())
    .addColumn('seq', integer, (column) => column.notNull())
    .addColumn('holder', text)
    .addColumn('lease_until_ms', integer, (column) => column.notNull())
    .addColumn('state', text, (column) => column.notNull())
    .addColumn('failures', integer, (column) => column.notNull())
    .addColumn('failing_since_ms', integer)
    .addColumn('last_success_ms', integer)
    .addColumn('last_error', text)
    .addColumn('sent', integer, (column) => column.notNull())
    .addColumn('failed', integer, (column) => column.notNull())
    .addColumn('dropped', integer, (column) => column.notNull())
    .addColumn('recent_failures', text, (column) => column.notNull())
    .execute();
}

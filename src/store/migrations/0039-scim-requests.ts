import type { SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

const { text, integer } = COLUMN_TYPE;

/** The last requests of identity providers, and why a key is disabled. */
export async function up(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('scim_requests')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('at_ms', integer, (column) => column.notNull())
    .addColumn('token_id', text)
    .addColumn('address', text, (column) => column.notNull())
    .addColumn('method', text, (column) => column.notNull())
    .addColumn('path', text, (column) => column.notNull())
    .addColumn('status', integer, (column) => column.notNull())
    .addColumn('outcome', text, (column) => column.notNull())
    .execute();
  await schema.createIndex('scim_requests_at').on('scim_requests').columns(['at_ms', 'id']).execute();
  await schema.alterTable('scim_tokens').addColumn('last_used_from', text).execute();
  await schema.alterTable('keys').addColumn('disabled_reason', text).execute();
}

import type { SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

const { text, integer } = COLUMN_TYPE;

/** Responses that run in the background: the processes that run them, and the events that they have sent. */
export async function up(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('background_responses')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('account_id', text, (column) => column.notNull())
    .addColumn('workspace_id', text, (column) => column.notNull())
    .addColumn('key_hash', text, (column) => column.notNull())
    .addColumn('state', text, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('claimed_at_ms', integer)
    .addColumn('ended_at_ms', integer)
    .addColumn('runner', text)
    .addColumn('lease_until_ms', integer)
    .addColumn('runs', integer, (column) => column.notNull())
    .addColumn('generation_id', text, (column) => column.notNull())
    .addColumn('cancelled_at_ms', integer)
    .addColumn('sealed', text, (column) => column.notNull())
    .addColumn('secret_id', text, (column) => column.notNull())
    .execute();
  await schema
    .createIndex('background_responses_state')
    .on('background_responses')
    .columns(['state', 'created_at_ms'])
    .execute();
  await schema
    .createTable('response_events')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('response_id', text, (column) => column.notNull())
    .addColumn('account_id', text, (column) => column.notNull())
    .addColumn('workspace_id', text, (column) => column.notNull())
    .addColumn('first_number', integer, (column) => column.notNull())
    .addColumn('last_number', integer, (column) => column.notNull())
    .addColumn('written_at_ms', integer, (column) => column.notNull())
    .addColumn('sealed', text, (column) => column.notNull())
    .addColumn('secret_id', text, (column) => column.notNull())
    .execute();
  await schema
    .createIndex('response_events_response')
    .on('response_events')
    .columns(['response_id', 'last_number'])
    .execute();
}

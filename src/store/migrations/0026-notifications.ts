import type { SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

const { text, integer } = COLUMN_TYPE;

/** What operators are notified of, where, and what became of it. */
export async function up(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('notification_channels')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('kind', text, (column) => column.notNull())
    .addColumn('enabled', integer, (column) => column.notNull())
    .addColumn('events', text, (column) => column.notNull())
    .addColumn('min_severity', text, (column) => column.notNull())
    .addColumn('workspace_ids', text)
    .addColumn('recipients', text)
    .addColumn('quiet_hours', text)
    .addColumn('max_per_hour', integer, (column) => column.notNull())
    .addColumn('sealed_config', text, (column) => column.notNull())
    .addColumn('secret_id', text, (column) => column.notNull())
    .addColumn('state', text, (column) => column.notNull())
    .addColumn('failures', integer, (column) => column.notNull())
    .addColumn('failed_events', integer, (column) => column.notNull())
    .addColumn('failing_since_ms', integer)
    .addColumn('last_error', text)
    .addColumn('last_sent_at_ms', integer)
    .addColumn('tested_at_ms', integer, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('updated_at_ms', integer, (column) => column.notNull())
    .execute();
  await schema
    .createTable('notification_events')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('type', text, (column) => column.notNull())
    .addColumn('severity', text, (column) => column.notNull())
    .addColumn('subject', text, (column) => column.notNull())
    .addColumn('workspace_id', text)
    .addColumn('title', text, (column) => column.notNull())
    .addColumn('text', text, (column) => column.notNull())
    .addColumn('facts', text, (column) => column.notNull())
    .addColumn('link', text)
    .addColumn('mark', text, (column) => column.unique())
    .addColumn('mark_until_ms', integer)
    .addColumn('state', text, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .execute();
  await schema
    .createTable('notification_deliveries')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('event_id', text, (column) => column.notNull())
    .addColumn('channel_id', text, (column) => column.notNull())
    .addColumn('event_key', text, (column) => column.notNull())
    .addColumn('state', text, (column) => column.notNull())
    .addColumn('attempts', integer, (column) => column.notNull())
    .addColumn('repeats', integer, (column) => column.notNull())
    .addColumn('status', integer)
    .addColumn('error', text)
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('sent_at_ms', integer)
    .execute();
  const index = (table: string, name: string, columns: readonly string[]) =>
    schema
      .createIndex(`notification_${table}_${name}`)
      .on(`notification_${table}`)
      .columns([...columns]);
  await index('events', 'state', ['state', 'created_at_ms']).execute();
  await index('events', 'created', ['created_at_ms', 'id']).execute();
  // Several gateways may hand one event on at the same moment.
  await index('deliveries', 'event', ['event_id', 'channel_id']).unique().execute();
  await index('deliveries', 'channel', ['channel_id', 'created_at_ms']).execute();
}

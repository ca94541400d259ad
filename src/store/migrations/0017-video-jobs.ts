import type { SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

const { text, integer } = COLUMN_TYPE;

/** Jobs that make clips: what they are found by, and sealed what they are about. */
export async function up(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('video_jobs')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('generation_id', text, (column) => column.notNull())
    .addColumn('account_id', text, (column) => column.notNull())
    .addColumn('workspace_id', text, (column) => column.notNull())
    .addColumn('key_hash', text, (column) => column.notNull())
    .addColumn('status', text, (column) => column.notNull())
    .addColumn('is_listed', integer, (column) => column.notNull())
    .addColumn('is_submitted', integer, (column) => column.notNull())
    .addColumn('model', text, (column) => column.notNull())
    .addColumn('provider', text)
    .addColumn('progress', integer)
    .addColumn('error', text)
    .addColumn('cost_nano_usd', integer)
    .addColumn('is_byok', integer, (column) => column.notNull())
    .addColumn('assets', text, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('updated_at_ms', integer, (column) => column.notNull())
    .addColumn('finished_at_ms', integer)
    .addColumn('next_poll_ms', integer, (column) => column.notNull())
    .addColumn('polls', integer, (column) => column.notNull())
    .addColumn('missing_since_ms', integer)
    .addColumn('missing', integer, (column) => column.notNull())
    .addColumn('lease_owner', text)
    .addColumn('lease_until_ms', integer, (column) => column.notNull())
    .addColumn('callback_at_ms', integer)
    .addColumn('callback_tries', integer, (column) => column.notNull())
    .addColumn('assets_until_ms', integer)
    .addColumn('expires_at_ms', integer)
    .addColumn('sealed', text, (column) => column.notNull())
    .addColumn('secret_id', text, (column) => column.notNull())
    .execute();
  const index = (name: string, columns: readonly string[]) =>
    schema
      .createIndex(`video_jobs_${name}`)
      .on('video_jobs')
      .columns([...columns])
      .execute();
  await index('due', ['status', 'next_poll_ms']);
  await index('workspace', ['account_id', 'workspace_id', 'id']);
  await index('key', ['key_hash', 'status']);
  await index('callback', ['callback_at_ms']);
  await index('expires', ['expires_at_ms']);
}

import type { SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

const { text, integer } = COLUMN_TYPE;

/** When an agent runs by itself, and which schedule began a run. */
export async function up(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('intern_schedules')
    .addColumn('intern_id', text, (column) => column.notNull())
    .addColumn('id', text, (column) => column.notNull())
    .addColumn('cron', text, (column) => column.notNull())
    .addColumn('tz', text, (column) => column.notNull())
    .addColumn('due_at_ms', integer)
    .addColumn('since_ms', integer, (column) => column.notNull())
    .addColumn('paused_at_ms', integer)
    .addPrimaryKeyConstraint('intern_schedules_key', ['intern_id', 'id'])
    .execute();
  await schema.createIndex('intern_schedules_due').on('intern_schedules').column('due_at_ms').execute();
  await schema.alterTable('intern_runs').addColumn('schedule_id', text).execute();
}

import { sql, type Kysely, type SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';
import type { Tables } from '../tables.ts';

const { text } = COLUMN_TYPE;

/** Which process works on a run; the first run of a session in place of a title in plain text. */
export async function up(schema: SchemaModule, rows: Kysely<Tables>): Promise<void> {
  await schema.alterTable('intern_runs').addColumn('worker', text).execute();
  await schema.alterTable('intern_sessions').addColumn('first_run_id', text).execute();
  await sql`update intern_sessions set title = '', first_run_id = (
    select id from intern_runs where intern_runs.intern_id = intern_sessions.intern_id
    and intern_runs.session_id = intern_sessions.id order by created_at_ms, id limit 1)`.execute(rows);
}

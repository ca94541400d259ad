import { sql, type SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

const { text, integer } = COLUMN_TYPE;

/** Saved agents, their runs step by step, and what a person is to decide. */
export async function up(schema: SchemaModule): Promise<void> {
  await agents(schema);
  await runs(schema);
  await schema
    .createTable('intern_inputs')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('intern_id', text, (column) => column.notNull())
    .addColumn('session_id', text, (column) => column.notNull())
    .addColumn('run_id', text, (column) => column.notNull())
    .addColumn('step', integer, (column) => column.notNull())
    .addColumn('kind', text, (column) => column.notNull())
    .addColumn('tool', text, (column) => column.notNull())
    .addColumn('input_hash', text, (column) => column.notNull())
    .addColumn('state', text, (column) => column.notNull())
    .addColumn('decision', text)
    .addColumn('answered_by', text)
    .addColumn('expires_at_ms', integer, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('answered_at_ms', integer)
    .execute();
  const index = (name: string) => schema.createIndex(`intern_inputs_${name}`).on('intern_inputs');
  await index('step').unique().columns(['run_id', 'step', 'kind']).execute();
  await index('state').columns(['intern_id', 'state']).execute();
  await index('expires').columns(['state', 'expires_at_ms']).execute();
  await schema
    .createTable('intern_texts')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('intern_id', text, (column) => column.notNull())
    .addColumn('run_id', text)
    .addColumn('sealed', text, (column) => column.notNull())
    .addColumn('secret_id', text, (column) => column.notNull())
    .execute();
  await schema.createIndex('intern_texts_run').on('intern_texts').column('run_id').execute();
  await schema.createIndex('intern_texts_intern').on('intern_texts').column('intern_id').execute();
}

async function agents(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('interns')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('workspace_id', text, (column) => column.notNull())
    .addColumn('creator_id', text, (column) => column.notNull())
    .addColumn('creator_key_hash', text, (column) => column.notNull())
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('description', text)
    .addColumn('instructions', text, (column) => column.notNull())
    .addColumn('model', text)
    .addColumn('settings', text, (column) => column.notNull())
    .addColumn('version', integer, (column) => column.notNull())
    .addColumn('status', text, (column) => column.notNull())
    .addColumn('step', integer)
    .addColumn('failure', text)
    .addColumn('key_hash', text, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('updated_at_ms', integer, (column) => column.notNull())
    .execute();
  await schema
    .createIndex('interns_name')
    .on('interns')
    .columns(['workspace_id', 'creator_id', 'name'])
    .unique()
    .execute();
  await schema
    .createTable('intern_versions')
    .addColumn('intern_id', text, (column) => column.notNull())
    .addColumn('version', integer, (column) => column.notNull())
    .addColumn('instructions', text, (column) => column.notNull())
    .addColumn('model', text)
    .addColumn('settings', text, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addPrimaryKeyConstraint('intern_versions_key', ['intern_id', 'version'])
    .execute();
  await schema
    .createTable('intern_calls')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('body_hash', text, (column) => column.notNull())
    .addColumn('subject_id', text, (column) => column.notNull())
    .addColumn('expires_at_ms', integer, (column) => column.notNull())
    .execute();
  await schema.createIndex('intern_calls_expires').on('intern_calls').column('expires_at_ms').execute();
}

async function runs(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('intern_sessions')
    .addColumn('intern_id', text, (column) => column.notNull())
    .addColumn('id', text, (column) => column.notNull())
    .addColumn('title', text, (column) => column.notNull())
    .addColumn('key_hash', text, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('last_at_ms', integer, (column) => column.notNull())
    .addPrimaryKeyConstraint('intern_sessions_key', ['intern_id', 'id'])
    .execute();
  await schema
    .createTable('intern_runs')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('intern_id', text, (column) => column.notNull())
    .addColumn('session_id', text, (column) => column.notNull())
    .addColumn('version', integer, (column) => column.notNull())
    .addColumn('run_trigger', text, (column) => column.notNull())
    .addColumn('state', text, (column) => column.notNull())
    .addColumn('turn', integer, (column) => column.notNull())
    .addColumn('step', integer, (column) => column.notNull())
    .addColumn('spent_nano_usd', integer, (column) => column.notNull())
    .addColumn('prompt_tokens', integer, (column) => column.notNull())
    .addColumn('completion_tokens', integer, (column) => column.notNull())
    .addColumn('left_ms', integer, (column) => column.notNull())
    .addColumn('approval_mode', text, (column) => column.notNull())
    .addColumn('ending', text)
    .addColumn('error', text)
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('updated_at_ms', integer, (column) => column.notNull())
    .addColumn('finished_at_ms', integer)
    .execute();
  // Two chats of one session at the same moment: the second is refused.
  await schema
    .createIndex('intern_runs_open')
    .on('intern_runs')
    .unique()
    .columns(['intern_id', 'session_id'])
    .where(sql.ref('finished_at_ms'), 'is', sql.lit(null))
    .execute();
  await schema.createIndex('intern_runs_state').on('intern_runs').columns(['state', 'updated_at_ms']).execute();
  await schema.createIndex('intern_runs_list').on('intern_runs').columns(['intern_id', 'created_at_ms']).execute();
  await schema.createIndex('intern_runs_finished').on('intern_runs').column('finished_at_ms').execute();
  await schema
    .createTable('intern_steps')
    .addColumn('run_id', text, (column) => column.notNull())
    .addColumn('n', integer, (column) => column.notNull())
    .addColumn('kind', text, (column) => column.notNull())
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('call_id', text, (column) => column.notNull())
    .addColumn('state', text, (column) => column.notNull())
    .addColumn('attempts', integer, (column) => column.notNull())
    .addColumn('cost_nano_usd', integer, (column) => column.notNull())
    .addColumn('generation_id', text)
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('updated_at_ms', integer, (column) => column.notNull())
    .addPrimaryKeyConstraint('intern_steps_key', ['run_id', 'n'])
    .execute();
}

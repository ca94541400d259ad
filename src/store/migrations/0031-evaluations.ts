import { sql, type SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

const { text, integer } = COLUMN_TYPE;

/** Datasets, benchmark runs over them with one row an answer, and the scores that were published or imported. */
export async function up(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('evaluation_datasets')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('sha256', text, (column) => column.notNull())
    .addColumn('items', integer, (column) => column.notNull())
    .addColumn('judged_items', integer, (column) => column.notNull())
    .addColumn('size_bytes', integer, (column) => column.notNull())
    .addColumn('license', text)
    .addColumn('citation', text)
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .execute();
  await schema
    .createIndex('evaluation_datasets_content')
    .on('evaluation_datasets')
    .columns(['name', 'sha256'])
    .unique()
    .execute();
  await runs(schema);
  await schema
    .createTable('evaluation_scores')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('source', text, (column) => column.notNull())
    .addColumn('run_id', text)
    .addColumn('model', text, (column) => column.notNull())
    .addColumn('metric', text, (column) => column.notNull())
    .addColumn('score_ppm', integer, (column) => column.notNull())
    .addColumn('low_ppm', integer)
    .addColumn('high_ppm', integer)
    .addColumn('items', integer)
    .addColumn('cost_nano_usd', integer)
    .addColumn('license', text)
    .addColumn('citation', text)
    .addColumn('measured_on', text, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .execute();
  await schema
    .createIndex('evaluation_scores_metric')
    .on('evaluation_scores')
    .columns(['model', 'metric'])
    .unique()
    .execute();
  await schema.createIndex('evaluation_scores_run').on('evaluation_scores').column('run_id').execute();
  // What a run has spent: of all generations these are few.
  await schema
    .createIndex('generations_internal_request')
    .on('generations')
    .column('request_id')
    .where(sql.ref('origin'), 'is not', sql.lit(null))
    .execute();
}

async function runs(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('evaluation_runs')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('name', text)
    .addColumn('dataset_id', text, (column) => column.notNull())
    .addColumn('dataset_name', text, (column) => column.notNull())
    .addColumn('dataset_sha256', text, (column) => column.notNull())
    .addColumn('settings', text, (column) => column.notNull())
    .addColumn('payer_key_hash', text, (column) => column.notNull())
    .addColumn('max_cost_nano_usd', integer, (column) => column.notNull())
    .addColumn('state', text, (column) => column.notNull())
    .addColumn('reason', text)
    .addColumn('error', text)
    .addColumn('turn', integer, (column) => column.notNull())
    .addColumn('units', integer, (column) => column.notNull())
    .addColumn('units_done', integer, (column) => column.notNull())
    .addColumn('spent_nano_usd', integer, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('updated_at_ms', integer, (column) => column.notNull())
    .addColumn('finished_at_ms', integer)
    .execute();
  await schema.createIndex('evaluation_runs_list').on('evaluation_runs').column('created_at_ms').execute();
  await schema.createIndex('evaluation_runs_state').on('evaluation_runs').columns(['state', 'updated_at_ms']).execute();
  await schema.createIndex('evaluation_runs_dataset').on('evaluation_runs').column('dataset_id').execute();
  await schema
    .createTable('evaluation_results')
    .addColumn('run_id', text, (column) => column.notNull())
    .addColumn('item', integer, (column) => column.notNull())
    .addColumn('model', integer, (column) => column.notNull())
    .addColumn('repeat_no', integer, (column) => column.notNull())
    .addColumn('item_id', text, (column) => column.notNull())
    .addColumn('group_name', text)
    .addColumn('weight_ppm', integer, (column) => column.notNull())
    .addColumn('verdict', text, (column) => column.notNull())
    .addColumn('score_ppm', integer)
    .addColumn('attempts', integer, (column) => column.notNull())
    .addColumn('generation_id', text, (column) => column.notNull())
    .addColumn('judge_generation_id', text)
    .addColumn('answer_hash', text)
    .addColumn('error', text)
    .addColumn('cost_nano_usd', integer, (column) => column.notNull())
    .addColumn('judge_cost_nano_usd', integer, (column) => column.notNull())
    .addColumn('latency_ms', integer, (column) => column.notNull())
    .addColumn('output_tokens', integer, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addPrimaryKeyConstraint('evaluation_results_key', ['run_id', 'item', 'model', 'repeat_no'])
    .execute();
}

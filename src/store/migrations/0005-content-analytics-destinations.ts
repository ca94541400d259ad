import type { CreateTableBuilder, SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

const { text, integer } = COLUMN_TYPE;

const GENERATION_COLUMNS = [
  'tokens_audio_prompt',
  'tokens_audio_completion',
  'tokens_image_completion',
  'web_searches',
  'web_fetches',
  'media_prompt',
  'audio_prompt',
  'media_completion',
  'cache_discount_nano_usd',
] as const;

/** As they were: what came later has migrations of its own. */
const DIMENSIONS = ['workspace_id', 'key_hash', 'member_id', 'model', 'provider', 'upstream_model', 'app_url'] as const;
const CLASSES = 24;
const MEASURES = [
  'requests',
  'failures',
  'cancelled',
  'unpriced',
  'tokens_prompt',
  'tokens_completion',
  'tokens_reasoning',
  'tokens_cache_read',
  'tokens_cache_write',
  'web_searches',
  'cost_nano_usd',
  'byok_nano_usd',
  'cache_discount_nano_usd',
  ...['first_token', 'throughput'].flatMap((kind) => Array.from({ length: CLASSES }, (_, index) => `${kind}_${index}`)),
];

export async function up(schema: SchemaModule): Promise<void> {
  for (const column of GENERATION_COLUMNS) await schema.alterTable('generations').addColumn(column, integer).execute();
  await createContent(schema);
  await createFeedback(schema);
  await createUsageTable(schema, 'usage_hourly');
  await createUsageTable(schema, 'usage_daily');
  await schema
    .createTable('usage_progress')
    .addColumn('name', text, (column) => column.primaryKey().notNull())
    .addColumn('done_until_ms', integer, (column) => column.notNull())
    .execute();
  await createDestinations(schema);
}

async function createContent(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('generation_content')
    .addColumn('generation_id', text, (column) => column.primaryKey().notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('workspace_id', text, (column) => column.notNull())
    .addColumn('sealed', text, (column) => column.notNull())
    .addColumn('secret_id', text, (column) => column.notNull())
    .execute();
  await schema.createIndex('generation_content_created_at').on('generation_content').column('created_at_ms').execute();
}

async function createFeedback(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('generation_feedback')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('generation_id', text, (column) => column.notNull())
    .addColumn('at_ms', integer, (column) => column.notNull())
    .addColumn('author_key_hash', text, (column) => column.notNull())
    .addColumn('category', text, (column) => column.notNull())
    .addColumn('comment', text)
    .execute();
  await schema
    .createIndex('generation_feedback_generation_id')
    .on('generation_feedback')
    .column('generation_id')
    .execute();
}

async function createUsageTable(schema: SchemaModule, name: string): Promise<void> {
  let table: CreateTableBuilder<string, string> = schema
    .createTable(name)
    .addColumn('start_ms', integer, (column) => column.notNull());
  for (const dimension of DIMENSIONS) table = table.addColumn(dimension, text, (column) => column.notNull());
  for (const measure of MEASURES) table = table.addColumn(measure, integer, (column) => column.notNull());
  await table.addPrimaryKeyConstraint(`${name}_key`, ['start_ms', ...DIMENSIONS]).execute();
}

async function createDestinations(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('destinations')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('workspace_id', text, (column) => column.notNull())
    .addColumn('type', text, (column) => column.notNull())
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('enabled', integer, (column) => column.notNull())
    .addColumn('privacy_mode', integer, (column) => column.notNull())
    .addColumn('sampling_ppm', integer, (column) => column.notNull())
    .addColumn('sends_cost', integer, (column) => column.notNull())
    .addColumn('sends_identity', integer, (column) => column.notNull())
    .addColumn('sends_request_context', integer, (column) => column.notNull())
    .addColumn('api_key_hashes', text)
    .addColumn('filter_rules', text)
    .addColumn('sealed_config', text, (column) => column.notNull())
    .addColumn('secret_id', text, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('updated_at_ms', integer, (column) => column.notNull())
    .execute();
}

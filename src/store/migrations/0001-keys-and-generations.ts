import type { SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

const { text, integer } = COLUMN_TYPE;

export async function up(schema: SchemaModule): Promise<void> {
  await createKeys(schema);
  await createGenerations(schema);
  await schema.createIndex('generations_created_at').on('generations').column('created_at_ms').execute();
  // The two money columns let a key's spend be summed from the index alone.
  await schema
    .createIndex('generations_key_hash_created_at')
    .on('generations')
    .columns(['key_hash', 'created_at_ms', 'is_byok', 'cost_nano_usd'])
    .execute();
}

async function createKeys(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('keys')
    .addColumn('hash', text, (column) => column.primaryKey().notNull())
    .addColumn('label', text, (column) => column.notNull())
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('kind', text, (column) => column.notNull())
    .addColumn('disabled', integer, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('updated_at_ms', integer)
    .addColumn('expires_at_ms', integer)
    .addColumn('limit_nano_usd', integer)
    .addColumn('limit_reset', text)
    .addColumn('include_byok_in_limit', integer, (column) => column.notNull())
    .addColumn('creator_user_id', text)
    .addColumn('workspace_id', text, (column) => column.notNull())
    .addColumn('deleted_at_ms', integer)
    .execute();
}

async function createGenerations(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('generations')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('request_id', text, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('key_hash', text, (column) => column.notNull())
    .addColumn('api_type', text, (column) => column.notNull())
    .addColumn('model_requested', text, (column) => column.notNull())
    .addColumn('model', text, (column) => column.notNull())
    .addColumn('provider', text)
    .addColumn('provider_name', text)
    .addColumn('upstream_id', text)
    .addColumn('upstream_model', text)
    .addColumn('streamed', integer, (column) => column.notNull())
    .addColumn('cancelled', integer, (column) => column.notNull())
    .addColumn('finish_reason', text)
    .addColumn('native_finish_reason', text)
    .addColumn('status', integer, (column) => column.notNull())
    .addColumn('error_type', text)
    .addColumn('error_message', text)
    .addColumn('attempts', text, (column) => column.notNull())
    .addColumn('strategy', text, (column) => column.notNull())
    .addColumn('session_id', text)
    .addColumn('end_user_hash', text)
    .addColumn('tokens_prompt', integer, (column) => column.notNull())
    .addColumn('tokens_completion', integer, (column) => column.notNull())
    .addColumn('tokens_reasoning', integer)
    .addColumn('tokens_cache_read', integer, (column) => column.notNull())
    .addColumn('tokens_cache_write', integer, (column) => column.notNull())
    .addColumn('usage_source', text, (column) => column.notNull())
    .addColumn('cost_nano_usd', integer)
    .addColumn('cost_prompt_nano_usd', integer)
    .addColumn('cost_completion_nano_usd', integer)
    .addColumn('is_byok', integer, (column) => column.notNull())
    .addColumn('service_tier', text)
    .addColumn('latency_ms', integer, (column) => column.notNull())
    .addColumn('time_to_first_token_ms', integer)
    .addColumn('generation_time_ms', integer)
    .addColumn('warnings', text, (column) => column.notNull())
    .addColumn('skipped_events', integer, (column) => column.notNull())
    .addColumn('app_url', text)
    .addColumn('app_title', text)
    .addColumn('user_agent', text)
    .addColumn('region', text, (column) => column.notNull())
    .execute();
}

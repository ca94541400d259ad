import type { SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

const { text, integer } = COLUMN_TYPE;

export async function up(schema: SchemaModule): Promise<void> {
  await createCredentials(schema);
  await createPresets(schema);
  await createCodes(schema);
}

async function createCredentials(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('byok_keys')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('workspace_id', text)
    .addColumn('provider', text, (column) => column.notNull())
    .addColumn('name', text)
    .addColumn('label', text, (column) => column.notNull())
    .addColumn('sealed', text)
    .addColumn('secret_id', text)
    .addColumn('disabled', integer, (column) => column.notNull())
    .addColumn('is_fallback', integer, (column) => column.notNull())
    .addColumn('always_use', integer, (column) => column.notNull())
    .addColumn('sort_order', integer, (column) => column.notNull())
    .addColumn('allowed_models', text)
    .addColumn('allowed_api_key_hashes', text)
    .addColumn('allowed_user_ids', text)
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('updated_at_ms', integer, (column) => column.notNull())
    .addColumn('deleted_at_ms', integer)
    .execute();
  await schema
    .createIndex('byok_keys_provider')
    .on('byok_keys')
    .columns(['provider', 'sort_order', 'created_at_ms', 'id'])
    .execute();
  // What a rotation has still to do is found without opening every row.
  await schema.createIndex('byok_keys_secret').on('byok_keys').column('secret_id').execute();
}

async function createPresets(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('presets')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('workspace_id', text, (column) => column.notNull())
    .addColumn('slug', text, (column) => column.notNull())
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('description', text)
    .addColumn('status', text, (column) => column.notNull())
    .addColumn('status_updated_at_ms', integer)
    .addColumn('creator_user_id', text)
    .addColumn('designated_version_id', text)
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('updated_at_ms', integer, (column) => column.notNull())
    .addUniqueConstraint('presets_workspace_slug', ['workspace_id', 'slug'])
    .execute();
  await schema
    .createIndex('presets_workspace_updated_at')
    .on('presets')
    .columns(['workspace_id', 'updated_at_ms', 'id'])
    .execute();
  await schema
    .createTable('preset_versions')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('preset_id', text, (column) => column.notNull())
    .addColumn('version', integer, (column) => column.notNull())
    .addColumn('creator_id', text, (column) => column.notNull())
    .addColumn('system_prompt', text)
    .addColumn('config', text, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    // Two that write the next version at once cannot both have it.
    .addUniqueConstraint('preset_versions_version', ['preset_id', 'version'])
    .execute();
}

async function createCodes(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('oauth_codes')
    .addColumn('code_hash', text, (column) => column.primaryKey().notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('expires_at_ms', integer, (column) => column.notNull())
    .addColumn('used_at_ms', integer)
    .addColumn('challenge', text)
    .addColumn('challenge_method', text)
    .addColumn('issuer_key_hash', text, (column) => column.notNull())
    .addColumn('issuer_label', text, (column) => column.notNull())
    .addColumn('key_name', text, (column) => column.notNull())
    .addColumn('limit_nano_usd', integer)
    .addColumn('limit_reset', text)
    .addColumn('key_expires_at_ms', integer)
    .addColumn('workspace_id', text, (column) => column.notNull())
    .addColumn('user_id', text)
    .execute();
  await schema.createIndex('oauth_codes_expires_at').on('oauth_codes').column('expires_at_ms').execute();
}

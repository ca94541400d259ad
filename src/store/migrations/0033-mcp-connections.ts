import type { SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

const { text, integer } = COLUMN_TYPE;

/** Programs that people let use `/mcp` for them. Of codes and tokens there are digests alone. */
export async function up(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('mcp_clients')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('redirect_uris', text, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('used_at_ms', integer)
    .execute();
  await schema.createIndex('mcp_clients_unused').on('mcp_clients').columns(['used_at_ms', 'created_at_ms']).execute();
  await schema
    .createTable('mcp_codes')
    .addColumn('code_hash', text, (column) => column.primaryKey().notNull())
    .addColumn('issuer_key_hash', text, (column) => column.notNull())
    .addColumn('user_id', text)
    .addColumn('consent', text, (column) => column.notNull())
    .addColumn('connection_id', text, (column) => column.notNull())
    .addColumn('expires_at_ms', integer, (column) => column.notNull())
    .addColumn('used_at_ms', integer)
    .execute();
  await schema.createIndex('mcp_codes_expires').on('mcp_codes').column('expires_at_ms').execute();
  await schema
    .createTable('mcp_connections')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('key_hash', text, (column) => column.notNull())
    .addColumn('issuer_key_hash', text, (column) => column.notNull())
    .addColumn('user_id', text)
    .addColumn('client_id', text, (column) => column.notNull())
    .addColumn('client_name', text, (column) => column.notNull())
    .addColumn('client_host', text)
    .addColumn('workspace_id', text, (column) => column.notNull())
    .addColumn('scopes', text, (column) => column.notNull())
    .addColumn('resource', text, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('expires_at_ms', integer)
    .addColumn('last_used_at_ms', integer)
    .addColumn('revoked_at_ms', integer)
    .execute();
  const index = (name: string) => schema.createIndex(`mcp_connections_${name}`).on('mcp_connections');
  await index('key').column('key_hash').unique().execute();
  await index('owner').columns(['issuer_key_hash', 'created_at_ms']).execute();
  await index('user').column('user_id').execute();
  await schema
    .createTable('mcp_tokens')
    .addColumn('token_hash', text, (column) => column.primaryKey().notNull())
    .addColumn('connection_id', text, (column) => column.notNull())
    .addColumn('kind', text, (column) => column.notNull())
    .addColumn('expires_at_ms', integer)
    .addColumn('used_at_ms', integer)
    .execute();
  await schema.createIndex('mcp_tokens_connection').on('mcp_tokens').column('connection_id').execute();
  await schema.createIndex('mcp_tokens_expires').on('mcp_tokens').column('expires_at_ms').execute();
}

import type { SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

const { text, integer } = COLUMN_TYPE;

/** Secrets that are bound to hosts, and the hours in which they were released. */
export async function up(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('vault_secrets')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('scope_kind', text, (column) => column.notNull())
    .addColumn('scope_id', text, (column) => column.notNull())
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('hosts', text)
    .addColumn('sealed', text)
    .addColumn('secret_id', text)
    .addColumn('external', text)
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('updated_at_ms', integer, (column) => column.notNull())
    .execute();
  await schema
    .createIndex('vault_secrets_name')
    .on('vault_secrets')
    .columns(['scope_kind', 'scope_id', 'name'])
    .unique()
    .execute();
  await schema
    .createTable('vault_releases')
    .addColumn('hour_ms', integer, (column) => column.notNull())
    .addColumn('scope_kind', text, (column) => column.notNull())
    .addColumn('scope_id', text, (column) => column.notNull())
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('host', text, (column) => column.notNull())
    .addColumn('caller', text, (column) => column.notNull())
    .addColumn('key_hash', text, (column) => column.notNull())
    .addColumn('verdict', text, (column) => column.notNull())
    .addColumn('count', integer, (column) => column.notNull())
    .addColumn('last_at_ms', integer, (column) => column.notNull())
    .addPrimaryKeyConstraint('vault_releases_key', [
      'hour_ms',
      'scope_kind',
      'scope_id',
      'name',
      'host',
      'caller',
      'key_hash',
      'verdict',
    ])
    .execute();
}

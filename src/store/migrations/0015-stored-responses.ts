import type { SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

const { text, integer } = COLUMN_TYPE;

/** Responses that later requests may continue, their items by id, and their large files once each. */
export async function up(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('stored_responses')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('account_id', text, (column) => column.notNull())
    .addColumn('workspace_id', text, (column) => column.notNull())
    .addColumn('key_hash', text, (column) => column.notNull())
    .addColumn('parent_id', text)
    .addColumn('status', text, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('expires_at_ms', integer)
    .addColumn('items_bytes', integer, (column) => column.notNull())
    .addColumn('size_bytes', integer, (column) => column.notNull())
    .addColumn('sealed', text, (column) => column.notNull())
    .addColumn('secret_id', text, (column) => column.notNull())
    .execute();
  // The sums of owners and their oldest rows are read from this index alone.
  await schema
    .createIndex('stored_responses_owner')
    .on('stored_responses')
    .columns(['account_id', 'workspace_id', 'key_hash', 'created_at_ms', 'size_bytes'])
    .execute();
  await schema.createIndex('stored_responses_expires_at').on('stored_responses').column('expires_at_ms').execute();
  await schema
    .createTable('stored_items')
    .addColumn('item_id', text, (column) => column.notNull())
    .addColumn('response_id', text, (column) => column.notNull())
    .addColumn('written_at_ms', integer, (column) => column.notNull())
    .addPrimaryKeyConstraint('stored_items_pk', ['item_id', 'response_id'])
    .execute();
  await schema.createIndex('stored_items_response').on('stored_items').column('response_id').execute();
  await schema
    .createTable('stored_media')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('account_id', text, (column) => column.notNull())
    .addColumn('workspace_id', text, (column) => column.notNull())
    .addColumn('used_at_ms', integer, (column) => column.notNull())
    .addColumn('sealed', text, (column) => column.notNull())
    .addColumn('secret_id', text, (column) => column.notNull())
    .execute();
  await schema
    .createTable('stored_media_uses')
    .addColumn('response_id', text, (column) => column.notNull())
    .addColumn('media_id', text, (column) => column.notNull())
    .addColumn('written_at_ms', integer, (column) => column.notNull())
    .addPrimaryKeyConstraint('stored_media_uses_pk', ['response_id', 'media_id'])
    .execute();
  await schema.createIndex('stored_media_uses_media').on('stored_media_uses').column('media_id').execute();
}

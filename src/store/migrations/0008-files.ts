import type { SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

const { text, integer } = COLUMN_TYPE;

export async function up(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('files')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('workspace_id', text, (column) => column.notNull())
    .addColumn('filename', text, (column) => column.notNull())
    .addColumn('mime_type', text, (column) => column.notNull())
    .addColumn('size_bytes', integer, (column) => column.notNull())
    .addColumn('status', text, (column) => column.notNull())
    .addColumn('made_here', integer, (column) => column.notNull())
    .addColumn('purpose', text, (column) => column.notNull())
    .addColumn('key_hash', text, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('expires_at_ms', integer)
    .execute();
  await schema.createIndex('files_workspace').on('files').columns(['workspace_id', 'id']).execute();
  // What is to be cleared away is found without looking at what is not.
  await schema.createIndex('files_status').on('files').columns(['status', 'created_at_ms']).execute();
  await schema.createIndex('files_expires_at').on('files').column('expires_at_ms').execute();
  // The sum is kept, since two that upload at once would both find room in one that is counted.
  await schema
    .createTable('file_usage')
    .addColumn('workspace_id', text, (column) => column.primaryKey().notNull())
    .addColumn('size_bytes', integer, (column) => column.notNull())
    .addColumn('files', integer, (column) => column.notNull())
    .execute();
}

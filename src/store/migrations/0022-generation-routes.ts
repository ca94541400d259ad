import type { SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

const { text, integer } = COLUMN_TYPE;

/** How requests were routed, as compressed JSON. Deleted when its retention ends. */
export async function up(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('generation_routes')
    .addColumn('generation_id', text, (column) => column.primaryKey().notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('body', text, (column) => column.notNull())
    .execute();
  await schema.createIndex('generation_routes_created_at').on('generation_routes').column('created_at_ms').execute();
}

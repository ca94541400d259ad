import type { SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

export async function up(schema: SchemaModule): Promise<void> {
  await schema.alterTable('generations').addColumn('response_cache_source_id', COLUMN_TYPE.text).execute();
}

import type { SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

/** What made a generation. Null: a request of a caller. */
export async function up(schema: SchemaModule): Promise<void> {
  await schema.alterTable('generations').addColumn('origin', COLUMN_TYPE.text).execute();
}

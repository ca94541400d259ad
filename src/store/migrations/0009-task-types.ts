import type { SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

export async function up(schema: SchemaModule): Promise<void> {
  for (const [column, type] of [
    ['task_type', COLUMN_TYPE.text],
    ['router', COLUMN_TYPE.text],
    ['compared_model', COLUMN_TYPE.text],
    ['saved_nano_usd', COLUMN_TYPE.integer],
  ] as const)
    await schema.alterTable('generations').addColumn(column, type).execute();
}

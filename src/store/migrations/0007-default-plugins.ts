import type { SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

export async function up(schema: SchemaModule): Promise<void> {
  for (const table of ['workspaces', 'keys'])
    await schema.alterTable(table).addColumn('default_plugins', COLUMN_TYPE.text).execute();
}

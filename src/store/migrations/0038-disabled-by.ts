import type { SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

/** Whether an admin disabled a user, or an identity provider did, which alone may enable such a user again. */
export async function up(schema: SchemaModule): Promise<void> {
  await schema.alterTable('users').addColumn('disabled_by', COLUMN_TYPE.text).execute();
}

import type { SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

const { text } = COLUMN_TYPE;

export async function up(schema: SchemaModule): Promise<void> {
  for (const column of ['issuer_key_hash', 'issuer_label', 'root_key_hash'])
    await schema.alterTable('keys').addColumn(column, text).execute();
  // For deletions that cascade, and for the sum of what the keys of one root spent.
  await schema.createIndex('keys_issuer').on('keys').column('issuer_key_hash').execute();
  await schema.createIndex('keys_root').on('keys').column('root_key_hash').execute();
}

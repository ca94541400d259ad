import { sql, type SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

const { text, integer } = COLUMN_TYPE;

/**
 * The second and the fourth migration were edited after they had landed: databases that ran the earlier text have other
 * indexes on the ledger, and codes without the key that issued them. From here on all of them are alike.
 */
export async function up(schema: SchemaModule): Promise<void> {
  for (const index of ['ledger_entries_charge', 'ledger_entries_generation'])
    await schema.dropIndex(index).ifExists().execute();
  for (const kind of ['byok_fee', 'refund'] as const) {
    const index = schema
      .createIndex(`ledger_entries_${kind}`)
      .ifNotExists()
      .on('ledger_entries')
      .column('generation_id');
    await (kind === 'refund' ? index : index.unique()).where(sql.ref('kind'), '=', sql.lit(kind)).execute();
  }
  await makeCodesAnew(schema);
}

/** Codes live ten minutes: those that are under way are asked for again. */
async function makeCodesAnew(schema: SchemaModule): Promise<void> {
  await schema.dropTable('oauth_codes').execute();
  await schema
    .createTable('oauth_codes')
    .addColumn('code_hash', text, (column) => column.primaryKey().notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('expires_at_ms', integer, (column) => column.notNull())
    .addColumn('used_at_ms', integer)
    .addColumn('challenge', text)
    .addColumn('challenge_method', text)
    .addColumn('issuer_key_hash', text, (column) => column.notNull())
    .addColumn('issuer_label', text, (column) => column.notNull())
    .addColumn('key_name', text, (column) => column.notNull())
    .addColumn('limit_nano_usd', integer)
    .addColumn('limit_reset', text)
    .addColumn('key_expires_at_ms', integer)
    .addColumn('workspace_id', text, (column) => column.notNull())
    .addColumn('user_id', text)
    .execute();
  await schema.createIndex('oauth_codes_expires_at').on('oauth_codes').column('expires_at_ms').execute();
}

import { sql, type SchemaModule } from 'kysely';

export async function up(schema: SchemaModule): Promise<void> {
  // The records of one key are found by their time, like those of one model or one session: where many keys are in use,
  // every record of a batch changed another page of this index.
  await schema.dropIndex('generations_key_hash_created_at').execute();
  // A charge is found by its id, which names its generation: that a generation is charged once follows from it.
  // A database that ran an earlier text of the second migration never had it: 0013 makes all of them alike.
  await schema.dropIndex('ledger_entries_usage').ifExists().execute();
  await schema
    .alterTable('ledger_entries')
    .addCheckConstraint('ledger_entries_usage_id', sql`kind <> 'usage' or id = generation_id || ':usage'`)
    .execute();
}

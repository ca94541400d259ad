import { sql, type SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

/** What a response of the responses format continued, and whether it ran in the background, where it may run twice. */
export async function up(schema: SchemaModule): Promise<void> {
  await schema.alterTable('generations').addColumn('background', COLUMN_TYPE.integer).execute();
  await schema.alterTable('generations').addColumn('previous_response_id', COLUMN_TYPE.text).execute();
  await schema
    .createIndex('generations_background_request')
    .on('generations')
    .columns(['request_id', 'created_at_ms'])
    .where(sql.ref('background'), '=', 1)
    .execute();
}

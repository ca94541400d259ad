import { randomUUID } from 'node:crypto';
import type { Kysely, SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';
import type { Tables } from '../tables.ts';

const { text, integer } = COLUMN_TYPE;

/** How far each journal is stored, and by what id a journal names the database that it belongs to. */
export async function up(schema: SchemaModule, rows: Kysely<Tables>): Promise<void> {
  await schema
    .createTable('journal_checkpoints')
    .addColumn('stream', text, (column) => column.primaryKey().notNull())
    .addColumn('position', integer, (column) => column.notNull())
    .execute();
  await schema
    .createTable('database_identity')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .execute();
  await rows.insertInto('database_identity').values({ id: randomUUID() }).execute();
}

import type { SchemaModule } from 'kysely';

/** Lists of jobs are the newest first: without it each page sorts the whole table. */
export async function up(schema: SchemaModule): Promise<void> {
  await schema.createIndex('jobs_created').on('jobs').columns(['created_at_ms', 'id']).execute();
}

import { sql, type SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

const { text, integer } = COLUMN_TYPE;

/** Work that outlives a request: what is to run, when, and which process runs it. */
export async function up(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('jobs')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('kind', text, (column) => column.notNull())
    .addColumn('subject_id', text, (column) => column.notNull())
    .addColumn('state', text, (column) => column.notNull())
    .addColumn('attempt', integer, (column) => column.notNull())
    .addColumn('run_after_ms', integer, (column) => column.notNull())
    .addColumn('lease_owner', text)
    .addColumn('lease_until_ms', integer, (column) => column.notNull())
    .addColumn('is_cancelled', integer, (column) => column.notNull())
    .addColumn('checkpoint', text, (column) => column.notNull())
    .addColumn('error', text)
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('updated_at_ms', integer, (column) => column.notNull())
    .addColumn('finished_at_ms', integer)
    .addColumn('expires_at_ms', integer)
    .execute();
  const index = (name: string) => schema.createIndex(`jobs_${name}`).on('jobs');
  await index('due').columns(['kind', 'state', 'run_after_ms']).execute();
  await index('subject').columns(['kind', 'subject_id']).execute();
  await index('expires').columns(['expires_at_ms']).execute();
  // Two processes that take two jobs of one subject at the same moment: the second is refused.
  await index('running')
    .unique()
    .columns(['kind', 'subject_id'])
    .where(sql.ref('state'), '=', sql.lit('running'))
    .execute();
}

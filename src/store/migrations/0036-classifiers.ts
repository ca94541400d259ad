import { sql, type SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

const { text, integer } = COLUMN_TYPE;

/** What sorts generations by their conversation, each text of it that was in use, the tags that it gave, and its days. */
export async function up(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('classifiers')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('workspace_id', text, (column) => column.notNull())
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('model', text, (column) => column.notNull())
    .addColumn('provider', text)
    .addColumn('payer_key_hash', text, (column) => column.notNull())
    .addColumn('template', text)
    .addColumn('prompt', text, (column) => column.notNull())
    .addColumn('dimensions', text, (column) => column.notNull())
    .addColumn('sampling_ppm', integer, (column) => column.notNull())
    .addColumn('filters', text)
    .addColumn('daily_cost_limit_nano_usd', integer, (column) => column.notNull())
    .addColumn('enabled', integer, (column) => column.notNull())
    .addColumn('version', integer, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('updated_at_ms', integer, (column) => column.notNull())
    .execute();
  await schema.createIndex('classifiers_name').on('classifiers').columns(['workspace_id', 'name']).unique().execute();
  // Two that are enabled at the same moment: the second is refused.
  await schema
    .createIndex('classifiers_enabled')
    .on('classifiers')
    .column('workspace_id')
    .unique()
    .where(sql.ref('enabled'), '=', sql.lit(1))
    .execute();
  await schema
    .createTable('classifier_versions')
    .addColumn('classifier_id', text, (column) => column.notNull())
    .addColumn('version', integer, (column) => column.notNull())
    .addColumn('model', text, (column) => column.notNull())
    .addColumn('prompt', text, (column) => column.notNull())
    .addColumn('dimensions', text, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addPrimaryKeyConstraint('classifier_versions_key', ['classifier_id', 'version'])
    .execute();
  await schema
    .createTable('generation_tags')
    .addColumn('classifier_id', text, (column) => column.notNull())
    .addColumn('generation_id', text, (column) => column.notNull())
    .addColumn('version', integer, (column) => column.notNull())
    .addColumn('dimension', text, (column) => column.notNull())
    .addColumn('value', text, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addPrimaryKeyConstraint('generation_tags_key', ['classifier_id', 'generation_id', 'dimension', 'version'])
    .execute();
  await schema.createIndex('generation_tags_created').on('generation_tags').column('created_at_ms').execute();
  await schema
    .createTable('classifier_days')
    .addColumn('classifier_id', text, (column) => column.notNull())
    .addColumn('day_start_ms', integer, (column) => column.notNull())
    .addColumn('cost_nano_usd', integer, (column) => column.notNull())
    .addColumn('classified', integer, (column) => column.notNull())
    .addColumn('failed', integer, (column) => column.notNull())
    .addColumn('dropped', integer, (column) => column.notNull())
    .addPrimaryKeyConstraint('classifier_days_key', ['classifier_id', 'day_start_ms'])
    .execute();
}

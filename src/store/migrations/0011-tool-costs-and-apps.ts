import type { SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

const { text, integer } = COLUMN_TYPE;

/** Sums of what was stored before are 0: nobody noted it then. */
const SUMS = ['web_nano_usd', 'file_nano_usd', 'tool_calls', 'tool_failures'] as const;

export async function up(schema: SchemaModule): Promise<void> {
  for (const [column, type] of [
    ['web_cost_nano_usd', integer],
    ['file_cost_nano_usd', integer],
    ['tool_calls', integer],
    ['tool_failures', integer],
    ['country', text],
  ] as const)
    await schema.alterTable('generations').addColumn(column, type).execute();
  for (const table of ['usage_hourly', 'usage_daily'])
    for (const sum of SUMS)
      await schema
        .alterTable(table)
        .addColumn(sum, integer, (column) => column.notNull().defaultTo(0))
        .execute();
  await schema
    .createTable('apps')
    .addColumn('url', text, (column) => column.primaryKey().notNull())
    .addColumn('title', text, (column) => column.notNull())
    .execute();
}

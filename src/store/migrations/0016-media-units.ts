import type { SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

const COUNTS = [
  'characters',
  'audio_ms',
  'output_audio_ms',
  'output_pixels',
  'search_units',
  'video_ms',
  'input_count',
  'dimensions',
] as const;

/** Sums of what was stored before are 0: there were no such calls. */
const SUMS = ['characters', 'audio_ms', 'images', 'search_units', 'video_ms'] as const;

export async function up(schema: SchemaModule): Promise<void> {
  for (const column of COUNTS) await schema.alterTable('generations').addColumn(column, COLUMN_TYPE.integer).execute();
  for (const table of ['usage_hourly', 'usage_daily'])
    for (const sum of SUMS)
      await schema
        .alterTable(table)
        .addColumn(sum, COLUMN_TYPE.integer, (column) => column.notNull().defaultTo(0))
        .execute();
}

import { DatabaseError } from '../engine/database-error.ts';
import type { Database } from '../engine/database.ts';
import { fetchPage, type Page, type PageWindow } from '../engine/page.ts';
import { storableText } from '../portable.ts';
import { datasetRows, type DatasetRow } from './columns.ts';

export interface DatasetStore {
  /** `false`: the same content is there under that name. */
  add(row: DatasetRow): Promise<boolean>;
  find(id: string): Promise<DatasetRow | undefined>;
  list(window: PageWindow): Promise<Page<DatasetRow>>;
  /** `busy`: a run that is not over uses it. */
  remove(id: string): Promise<'removed' | 'busy' | 'missing'>;
}

const OPEN = ['queued', 'running', 'paused'] as const;

export function createDatasetStore({ kysely }: Pick<Database, 'kysely'>): DatasetStore {
  return {
    async add(row) {
      try {
        await kysely.insertInto('evaluation_datasets').values(datasetRows.toColumns(row)).execute();
        return true;
      } catch (error) {
        if (error instanceof DatabaseError && error.duplicate) return false;
        throw error;
      }
    },
    async find(id) {
      const row = await kysely
        .selectFrom('evaluation_datasets')
        .selectAll()
        .where('id', '=', storableText(id))
        .executeTakeFirst();
      return row && datasetRows.toRow(row);
    },
    list: (window) =>
      fetchPage(
        kysely.selectFrom('evaluation_datasets'),
        window,
        (found) => found.selectAll().orderBy('created_at_ms', 'desc').orderBy('id', 'desc'),
        datasetRows.toRow,
      ),
    async remove(id) {
      const row = await kysely
        .deleteFrom('evaluation_datasets')
        .where('id', '=', storableText(id))
        .where((is) =>
          is.not(
            is.exists(
              is
                .selectFrom('evaluation_runs')
                .select('evaluation_runs.id')
                .where('dataset_id', '=', storableText(id))
                .where('state', 'in', OPEN),
            ),
          ),
        )
        .returning('id')
        .executeTakeFirst();
      if (row !== undefined) return 'removed';
      return (await this.find(id)) === undefined ? 'missing' : 'busy';
    },
  };
}

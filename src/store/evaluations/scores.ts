import type { Database } from '../engine/database.ts';
import { numberOf, storableText } from '../portable.ts';
import { scoreRows, type ScoreRow } from './columns.ts';

export interface ScoreStore {
  all(): Promise<readonly ScoreRow[]>;
  /** In place of those of the same model and metric. */
  put(rows: readonly ScoreRow[]): Promise<void>;
  /** @returns how many there were */
  removeOfRun(runId: string): Promise<number>;
  removeMetric(metric: string): Promise<number>;
}

/** The catalog holds all of them. */
export const SCORES_MAX = 20_000;

export function createScoreStore({ kysely }: Pick<Database, 'kysely'>): ScoreStore {
  return {
    async all() {
      const rows = await kysely
        .selectFrom('evaluation_scores')
        .selectAll()
        .orderBy('metric')
        .orderBy('model')
        .limit(SCORES_MAX)
        .execute();
      return rows.map(scoreRows.toRow);
    },
    async put(rows) {
      await kysely.transaction().execute(async (transaction) => {
        for (const row of rows) {
          const { id: _id, model: _model, metric: _metric, ...changes } = scoreRows.toColumns(row);
          await transaction
            .insertInto('evaluation_scores')
            .values(scoreRows.toColumns(row))
            .onConflict((conflict) => conflict.columns(['model', 'metric']).doUpdateSet(changes))
            .execute();
        }
      });
    },
    async removeOfRun(runId) {
      const { numDeletedRows } = await kysely
        .deleteFrom('evaluation_scores')
        .where('run_id', '=', storableText(runId))
        .executeTakeFirst();
      return numberOf(numDeletedRows);
    },
    async removeMetric(metric) {
      const { numDeletedRows } = await kysely
        .deleteFrom('evaluation_scores')
        .where('metric', '=', storableText(metric))
        .executeTakeFirst();
      return numberOf(numDeletedRows);
    },
  };
}

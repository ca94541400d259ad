import type { EvaluationState, ItemVerdict } from '../../resources/evaluations.ts';
import type { Database } from '../engine/database.ts';
import { fetchPage, type Page, type PageWindow } from '../engine/page.ts';
import { numberOf, storableText } from '../portable.ts';
import { resultRows, runRows, type ResultRow, type RunRow } from './columns.ts';

/** Where a run stands as it works: it stops where its state or its turn is another one. */
export type RunPlace = Pick<RunRow, 'id' | 'turn'>;

/** What one answer is for. */
export type Unit = Pick<ResultRow, 'item' | 'model' | 'repeatNo'>;

export interface ResultFilter {
  readonly model?: number | undefined;
  readonly verdict?: ItemVerdict | undefined;
  /** The last one that was seen. */
  readonly after?: Unit | undefined;
  readonly limit: number;
}

export interface EvaluationRunStore {
  /** `false`: its dataset is gone by now. */
  add(row: RunRow): Promise<boolean>;
  find(id: string): Promise<RunRow | undefined>;
  list(window: PageWindow, datasetId?: string): Promise<Page<RunRow>>;
  /** Changes it if its state is one of these. @returns the run after the change */
  change(
    id: string,
    from: readonly EvaluationState[],
    changes: Partial<RunRow>,
    place?: RunPlace,
  ): Promise<RunRow | undefined>;
  /** Gives it to another job. */
  requeue(id: string, from: readonly EvaluationState[], nowMs: number): Promise<RunRow | undefined>;
  /** With all its results. `false`: it works. */
  remove(id: string): Promise<boolean>;
  /**
   * Stores an answer, and adds it up, in one commit. One that is there stays, unless that one failed upstream.
   * @returns the run after that
   */
  put(row: ResultRow): Promise<RunRow | undefined>;
  /** Answers that need no further attempt. */
  settled(runId: string, attemptsMax: number): Promise<readonly Unit[]>;
  /** Attempts at answers that failed upstream. */
  failed(runId: string): Promise<readonly (Unit & { readonly attempts: number })[]>;
  results(runId: string): Promise<readonly ResultRow[]>;
  page(runId: string, filter: ResultFilter): Promise<readonly ResultRow[]>;
  /** What all generations of a run cost, its judge's included. */
  spent(runId: string): Promise<number>;
  /** Runs that wait for a job since before that time. */
  stranded(beforeMs: number, limit: number): Promise<readonly RunRow[]>;
}

export function createEvaluationRunStore({ kysely }: Pick<Database, 'kysely'>): EvaluationRunStore {
  return {
    ...results(kysely),
    ...changesOf(kysely),
    async add(row) {
      return kysely.transaction().execute(async (transaction) => {
        // Locks it, so that it is not deleted meanwhile.
        const { numUpdatedRows } = await transaction
          .updateTable('evaluation_datasets')
          .set((set) => ({ name: set.ref('name') }))
          .where('id', '=', row.datasetId)
          .executeTakeFirst();
        if (numberOf(numUpdatedRows) === 0) return false;
        await transaction.insertInto('evaluation_runs').values(runRows.toColumns(row)).execute();
        return true;
      });
    },
    async find(id) {
      const row = await kysely
        .selectFrom('evaluation_runs')
        .selectAll()
        .where('id', '=', storableText(id))
        .executeTakeFirst();
      return row && runRows.toRow(row);
    },
    list(window, datasetId) {
      const all = kysely.selectFrom('evaluation_runs');
      return fetchPage(
        datasetId === undefined ? all : all.where('dataset_id', '=', storableText(datasetId)),
        window,
        (found) => found.selectAll().orderBy('created_at_ms', 'desc').orderBy('id', 'desc'),
        runRows.toRow,
      );
    },
    async stranded(beforeMs, limit) {
      const rows = await kysely
        .selectFrom('evaluation_runs')
        .selectAll()
        .where('state', '=', 'queued')
        .where('updated_at_ms', '<', beforeMs)
        .limit(limit)
        .execute();
      return rows.map(runRows.toRow);
    },
  };
}

type Changes = Pick<EvaluationRunStore, 'change' | 'requeue' | 'remove'>;

function changesOf(kysely: Database['kysely']): Changes {
  return {
    async change(id, from, changed, place) {
      const update = kysely
        .updateTable('evaluation_runs')
        .set(runRows.toChanges(changed))
        .where('id', '=', storableText(id))
        .where('state', 'in', from);
      const row = await (place === undefined ? update : update.where('turn', '=', place.turn))
        .returningAll()
        .executeTakeFirst();
      return row && runRows.toRow(row);
    },
    async requeue(id, from, nowMs) {
      const row = await kysely
        .updateTable('evaluation_runs')
        .set((set) => ({
          state: 'queued',
          reason: null,
          error: null,
          finished_at_ms: null,
          turn: set('turn', '+', 1),
          updated_at_ms: nowMs,
        }))
        .where('id', '=', storableText(id))
        .where('state', 'in', from)
        .returningAll()
        .executeTakeFirst();
      return row && runRows.toRow(row);
    },
    async remove(id) {
      return kysely.transaction().execute(async (transaction) => {
        const { numDeletedRows } = await transaction
          .deleteFrom('evaluation_runs')
          .where('id', '=', storableText(id))
          .where('state', 'not in', ['queued', 'running'])
          .executeTakeFirst();
        if (numberOf(numDeletedRows) === 0) return false;
        await transaction.deleteFrom('evaluation_results').where('run_id', '=', storableText(id)).execute();
        return true;
      });
    },
  };
}

type Results = Pick<EvaluationRunStore, 'put' | 'settled' | 'failed' | 'results' | 'page' | 'spent'>;

const UNIT = ['item', 'model', 'repeat_no'] as const;

function results(kysely: Database['kysely']): Results {
  const of = (runId: string) => kysely.selectFrom('evaluation_results').where('run_id', '=', storableText(runId));
  const unit = (row: { item: unknown; model: unknown; repeat_no: unknown }): Unit => ({
    item: Number(row.item),
    model: Number(row.model),
    repeatNo: Number(row.repeat_no),
  });
  return {
    put: (row) => put(kysely, row),
    async settled(runId, attemptsMax) {
      const rows = await of(runId)
        .select(UNIT)
        .where((is) => is.or([is('verdict', '!=', 'upstream_error'), is('attempts', '>=', attemptsMax)]))
        .execute();
      return rows.map(unit);
    },
    async failed(runId) {
      const rows = await of(runId)
        .select([...UNIT, 'attempts'])
        .where('verdict', '=', 'upstream_error')
        .execute();
      return rows.map((row) => ({ ...unit(row), attempts: numberOf(row.attempts) }));
    },
    async results(runId) {
      const rows = await of(runId).selectAll().orderBy('item').orderBy('model').orderBy('repeat_no').execute();
      return rows.map(resultRows.toRow);
    },
    async page(runId, { model, verdict, after, limit }) {
      let query = of(runId).selectAll();
      if (model !== undefined) query = query.where('model', '=', model);
      if (verdict !== undefined) query = query.where('verdict', '=', verdict);
      if (after !== undefined)
        query = query.where((is) =>
          is.or([
            is('item', '>', after.item),
            is.and([is('item', '=', after.item), is('model', '>', after.model)]),
            is.and([is('item', '=', after.item), is('model', '=', after.model), is('repeat_no', '>', after.repeatNo)]),
          ]),
        );
      const rows = await query.orderBy('item').orderBy('model').orderBy('repeat_no').limit(limit).execute();
      return rows.map(resultRows.toRow);
    },
    async spent(runId) {
      const row = await kysely
        .selectFrom('generations')
        .select(({ fn }) => fn.sum<number>('cost_nano_usd').as('sum'))
        .where('request_id', '=', storableText(runId))
        .where('origin', 'is not', null)
        .executeTakeFirst();
      return numberOf(row?.sum);
    },
  };
}

async function put(kysely: Database['kysely'], row: ResultRow): Promise<RunRow | undefined> {
  return kysely.transaction().execute(async (transaction) => {
    const columns = resultRows.toColumns(row);
    const { run_id: _run, item: _item, model: _model, repeat_no: _repeat, ...changes } = columns;
    const inserted = await transaction
      .insertInto('evaluation_results')
      .values(columns)
      .onConflict((conflict) => conflict.columns(['run_id', 'item', 'model', 'repeat_no']).doNothing())
      .returning('item')
      .executeTakeFirst();
    const isNew = inserted !== undefined;
    if (!isNew)
      await transaction
        .updateTable('evaluation_results')
        .set(changes)
        .where('run_id', '=', row.runId)
        .where('item', '=', row.item)
        .where('model', '=', row.model)
        .where('repeat_no', '=', row.repeatNo)
        .where('verdict', '=', 'upstream_error')
        .execute();
    const run = await transaction
      .updateTable('evaluation_runs')
      .set((set) => ({
        units_done: set('units_done', '+', isNew ? 1 : 0),
        spent_nano_usd: set('spent_nano_usd', '+', row.costNanoUsd + row.judgeCostNanoUsd),
        updated_at_ms: row.createdAtMs,
      }))
      .where('id', '=', row.runId)
      .returningAll()
      .executeTakeFirst();
    return run && runRows.toRow(run);
  });
}

import type { Transaction } from 'kysely';
import type { RunState } from '../../resources/interns.ts';
import type { Database } from '../engine/database.ts';
import type { Tables } from '../tables.ts';
import { internScheduleRows, type InternScheduleRow } from './columns.ts';

export interface ScheduleStore {
  /** Those of running agents that are due, the earliest first. */
  due(nowMs: number, limit: number): Promise<readonly InternScheduleRow[]>;
  ofIntern(internId: string): Promise<readonly InternScheduleRow[]>;
  /** Changes one that is still due at the same time. @returns whether it was */
  moveOn(row: InternScheduleRow, changes: Partial<InternScheduleRow>): Promise<boolean>;
  /** Of the runs that a schedule began since it was made or resumed, and that are over: the newest first. */
  lastStates(row: InternScheduleRow, limit: number): Promise<readonly RunState[]>;
}

export function createScheduleStore({ kysely }: Pick<Database, 'kysely'>): ScheduleStore {
  return {
    async due(nowMs, limit) {
      const rows = await kysely
        .selectFrom('intern_schedules')
        .innerJoin('interns', 'interns.id', 'intern_schedules.intern_id')
        .selectAll('intern_schedules')
        .where('intern_schedules.due_at_ms', '<=', nowMs)
        .where('interns.status', '=', 'running')
        .orderBy('intern_schedules.due_at_ms')
        .limit(limit)
        .execute();
      return rows.map(internScheduleRows.toRow);
    },
    async ofIntern(internId) {
      const rows = await kysely
        .selectFrom('intern_schedules')
        .selectAll()
        .where('intern_id', '=', internId)
        .orderBy('id')
        .execute();
      return rows.map(internScheduleRows.toRow);
    },
    async moveOn({ internId, id, dueAtMs }, changes) {
      const update = kysely
        .updateTable('intern_schedules')
        .set(internScheduleRows.toChanges(changes))
        .where('intern_id', '=', internId)
        .where('id', '=', id);
      const same = dueAtMs === null ? update.where('due_at_ms', 'is', null) : update.where('due_at_ms', '=', dueAtMs);
      const { numUpdatedRows } = await same.executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async lastStates({ internId, id, sinceMs }, limit) {
      const rows = await kysely
        .selectFrom('intern_runs')
        .select('state')
        .where('intern_id', '=', internId)
        .where('schedule_id', '=', id)
        .where('created_at_ms', '>=', sinceMs)
        .where('finished_at_ms', 'is not', null)
        .orderBy('created_at_ms', 'desc')
        .orderBy('id', 'desc')
        .limit(limit)
        .execute();
      return rows.map(({ state }) => state);
    },
  };
}

/** Makes the schedules of an agent these. One whose times are the same stays due when it was, unless it was paused. */
export async function replaceSchedules(
  transaction: Transaction<Tables>,
  internId: string,
  schedules: readonly InternScheduleRow[],
): Promise<void> {
  const found = await transaction
    .selectFrom('intern_schedules')
    .selectAll()
    .where('intern_id', '=', internId)
    .execute();
  const before = new Map(found.map((columns) => [columns.id, internScheduleRows.toRow(columns)]));
  await transaction.deleteFrom('intern_schedules').where('intern_id', '=', internId).execute();
  for (const row of schedules) {
    const old = before.get(row.id);
    const isSame = old !== undefined && old.cron === row.cron && old.tz === row.tz && old.pausedAtMs === null;
    const kept = isSame && old.dueAtMs !== null && row.dueAtMs !== null ? old : row;
    await transaction.insertInto('intern_schedules').values(internScheduleRows.toColumns(kept)).execute();
  }
}

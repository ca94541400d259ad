import type { Transaction } from 'kysely';
import type { InternStatus } from '../../resources/interns.ts';
import { lockWorkspace } from '../accounts/workspaces.ts';
import { DatabaseError } from '../engine/database-error.ts';
import type { Database } from '../engine/database.ts';
import { storableText } from '../portable.ts';
import type { Tables } from '../tables.ts';
import {
  internCallRows,
  internRows,
  internVersionRows,
  type InternCallRow,
  type InternRow,
  type InternScheduleRow,
  type InternVersionRow,
} from './columns.ts';
import { replaceSchedules } from './schedules.ts';

/** `name`: the creator has an agent of this name. `body`: the idempotency key was used with another body. */
export type Created =
  | { readonly outcome: 'created' | 'replayed'; readonly row: InternRow }
  | { readonly outcome: 'name' | 'body' | 'workspace' };

export interface InternFilter {
  readonly workspaceId: string;
  readonly statuses: readonly InternStatus[];
  /** The id of the last one of the page before. */
  readonly after: string | undefined;
  readonly limit: number;
}

export type InternChanges = Partial<Omit<InternRow, 'id' | 'workspaceId'>>;

export interface InternStore {
  create(
    row: InternRow,
    call: InternCallRow,
    nowMs: number,
    schedules?: readonly InternScheduleRow[],
  ): Promise<Created>;
  find(id: string): Promise<InternRow | undefined>;
  /** The newest first. `undefined`: there is no such `after`. */
  list(filter: InternFilter): Promise<readonly InternRow[] | undefined>;
  /**
   * @param changes with a version: that is stored, too, with the model that runs use until the agent is provisioned again
   * @param from the statuses that it may have before
   * @returns the row after the change; `name`: another one has the name
   */
  update(
    id: string,
    changes: InternChanges & {
      readonly modelInUse?: string | null;
      /** Take the place of those that it has. */
      readonly schedules?: readonly InternScheduleRow[];
    },
    from?: readonly InternStatus[],
  ): Promise<InternRow | 'name' | undefined>;
  findVersion(id: string, version: number): Promise<InternVersionRow | undefined>;
  /** With all that belongs to it. */
  remove(id: string): Promise<void>;
}

export function createInternStore({ database }: { readonly database: Database }): InternStore {
  const { kysely } = database;
  const find = async (id: string): Promise<InternRow | undefined> => {
    const row = await kysely.selectFrom('interns').selectAll().where('id', '=', storableText(id)).executeTakeFirst();
    return row && internRows.toRow(row);
  };
  return {
    create: (row, call, nowMs, schedules = []) => create(database, { row, schedules }, call, nowMs),
    find,
    async list({ workspaceId, statuses, after, limit }) {
      let query = kysely.selectFrom('interns').selectAll().where('workspace_id', '=', workspaceId);
      if (statuses.length > 0) query = query.where('status', 'in', statuses);
      if (after !== undefined) {
        const last = await find(after);
        if (last === undefined || last.workspaceId !== workspaceId) return undefined;
        query = query.where((is) =>
          is.or([
            is('created_at_ms', '<', last.createdAtMs),
            is.and([is('created_at_ms', '=', last.createdAtMs), is('id', '<', last.id)]),
          ]),
        );
      }
      const rows = await query.orderBy('created_at_ms', 'desc').orderBy('id', 'desc').limit(limit).execute();
      return rows.map(internRows.toRow);
    },
    async update(id, changes, from) {
      try {
        return await kysely.transaction().execute((transaction) => update(transaction, id, changes, from));
      } catch (error) {
        if (error instanceof DatabaseError && error.duplicate) return 'name';
        throw error;
      }
    },
    async findVersion(id, version) {
      const row = await kysely
        .selectFrom('intern_versions')
        .selectAll()
        .where('intern_id', '=', id)
        .where('version', '=', version)
        .executeTakeFirst();
      return row && internVersionRows.toRow(row);
    },
    remove: (id) => remove(database, id),
  };
}

/** One transaction: of calls with one key that come at the same moment, one creates, and the others find what it made. */
async function create(
  { kysely }: Database,
  { row, schedules }: { readonly row: InternRow; readonly schedules: readonly InternScheduleRow[] },
  call: InternCallRow,
  nowMs: number,
): Promise<Created> {
  try {
    return await kysely.transaction().execute(async (transaction): Promise<Created> => {
      if ((await lockWorkspace(transaction, row.workspaceId)) === undefined) return { outcome: 'workspace' };
      const before = await claimCall(transaction, call, nowMs);
      if (before !== undefined) {
        const made = await transaction
          .selectFrom('interns')
          .selectAll()
          .where('id', '=', before.subjectId)
          .executeTakeFirst();
        if (made !== undefined)
          return before.bodyHash === call.bodyHash
            ? { outcome: 'replayed', row: internRows.toRow(made) }
            : { outcome: 'body' };
        await transaction
          .updateTable('intern_calls')
          .set(internCallRows.toColumns(call))
          .where('id', '=', call.id)
          .execute();
      }
      await transaction.insertInto('interns').values(internRows.toColumns(row)).execute();
      await insertVersion(transaction, row);
      await replaceSchedules(transaction, row.id, schedules);
      return { outcome: 'created', row };
    });
  } catch (error) {
    if (error instanceof DatabaseError && error.duplicate) return { outcome: 'name' };
    throw error;
  }
}

/** @returns the call that had the key before */
export async function claimCall(
  transaction: Transaction<Tables>,
  call: InternCallRow,
  nowMs: number,
): Promise<InternCallRow | undefined> {
  await transaction.deleteFrom('intern_calls').where('expires_at_ms', '<=', nowMs).execute();
  const { numInsertedOrUpdatedRows } = await transaction
    .insertInto('intern_calls')
    .values(internCallRows.toColumns(call))
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows !== 0n) return undefined;
  const before = await transaction
    .selectFrom('intern_calls')
    .selectAll()
    .where('id', '=', call.id)
    .executeTakeFirstOrThrow();
  return internCallRows.toRow(before);
}

async function update(
  transaction: Transaction<Tables>,
  id: string,
  { modelInUse, schedules, ...changes }: Parameters<InternStore['update']>[1],
  from: readonly InternStatus[] | undefined,
): Promise<InternRow | undefined> {
  let query = transaction.updateTable('interns').set(internRows.toChanges(changes)).where('id', '=', storableText(id));
  if (from !== undefined) query = query.where('status', 'in', from);
  // Of two changes at the same moment, one is first.
  if (changes.version !== undefined) query = query.where('version', '=', changes.version - 1);
  const changed = await query.returningAll().executeTakeFirst();
  if (changed === undefined) return undefined;
  const row = internRows.toRow(changed);
  if (changes.version !== undefined)
    await insertVersion(transaction, modelInUse === undefined ? row : { ...row, model: modelInUse });
  if (schedules !== undefined) await replaceSchedules(transaction, row.id, schedules);
  return row;
}

async function insertVersion(transaction: Transaction<Tables>, row: InternRow): Promise<void> {
  const { id: internId, version, instructions, model, settings, updatedAtMs: createdAtMs } = row;
  await transaction
    .insertInto('intern_versions')
    .values(internVersionRows.toColumns({ internId, version, instructions, model, settings, createdAtMs }))
    .execute();
}

/** What belongs to an agent by its id. */
const TABLES = [
  'intern_texts',
  'intern_inputs',
  'intern_runs',
  'intern_sessions',
  'intern_schedules',
  'intern_versions',
] as const;

async function remove({ kysely }: Database, id: string): Promise<void> {
  await kysely.transaction().execute(async (transaction) => {
    await transaction
      .deleteFrom('intern_steps')
      .where('run_id', 'in', (of) => of.selectFrom('intern_runs').select('id').where('intern_id', '=', id))
      .execute();
    for (const table of TABLES) await transaction.deleteFrom(table).where('intern_id', '=', id).execute();
    await transaction.deleteFrom('interns').where('id', '=', id).execute();
  });
}

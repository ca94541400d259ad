import type { Decision } from '../../resources/interns.ts';
import type { Database } from '../engine/database.ts';
import { fetchPage, type Page, type PageWindow } from '../engine/page.ts';
import { storableText } from '../portable.ts';
import { internInputRows, internRunRows, type InternInputRow, type InternRunRow } from './columns.ts';
import type { InternTexts } from './texts.ts';

export interface InputAnswer {
  readonly decision: Decision;
  /** For the model. */
  readonly text: string;
  /** The key that answered. */
  readonly by: string;
  readonly state: 'answered' | 'superseded';
  /** The message of the user that took the place of an answer. */
  readonly message?: string;
}

export interface InputStore {
  /** The run waits for it from now on. `false`: the run does not run any more. */
  ask(input: InternInputRow, request: string, leftMs: number): Promise<boolean>;
  /** Answers it once, and gives its run to the next job. `undefined`: it is not open any more. */
  answer(input: InternInputRow, answer: InputAnswer, nowMs: number): Promise<InternRunRow | undefined>;
  findInput(internId: string, id: string): Promise<InternInputRow | undefined>;
  /** Those of a run, by their step. */
  inputsOf(runId: string): Promise<readonly InternInputRow[]>;
  listInputs(internIds: readonly string[], pendingOnly: boolean, window: PageWindow): Promise<Page<InternInputRow>>;
  /** Whether a person allowed this for the whole session. */
  isAllowedIn(internId: string, sessionId: string, inputHash: string): Promise<boolean>;
  /** Ends what was not answered in time, and its runs. @returns the runs */
  expire(nowMs: number, limit: number): Promise<readonly InternRunRow[]>;
}

export function createInputStore(database: Database, texts: InternTexts): InputStore {
  const { kysely } = database;
  const all = () => kysely.selectFrom('intern_inputs');
  return {
    ask: (input, request, leftMs) => ask(database, texts, { input, request, leftMs }),
    answer: (input, given, nowMs) => answer(database, texts, { input, given, nowMs }),
    async findInput(internId, id) {
      const row = await all()
        .selectAll()
        .where('id', '=', storableText(id))
        .where('intern_id', '=', internId)
        .executeTakeFirst();
      return row && internInputRows.toRow(row);
    },
    async inputsOf(runId) {
      const rows = await all().selectAll().where('run_id', '=', runId).orderBy('step').orderBy('kind').execute();
      return rows.map(internInputRows.toRow);
    },
    async listInputs(internIds, pendingOnly, window) {
      if (internIds.length === 0) return { rows: [], totalCount: 0 };
      const found = all().where('intern_id', 'in', internIds);
      return fetchPage(
        pendingOnly ? found.where('state', '=', 'pending') : found,
        window,
        (rows) => rows.selectAll().orderBy('created_at_ms', 'desc').orderBy('id', 'desc'),
        internInputRows.toRow,
      );
    },
    async isAllowedIn(internId, sessionId, inputHash) {
      const row = await all()
        .select('id')
        .where('intern_id', '=', internId)
        .where('session_id', '=', sessionId)
        .where('input_hash', '=', inputHash)
        .where('state', '=', 'answered')
        .where('decision', '=', 'allow_session')
        .limit(1)
        .executeTakeFirst();
      return row !== undefined;
    },
    expire: (nowMs, limit) => expire(database, nowMs, limit),
  };
}

async function ask(
  { kysely }: Database,
  texts: InternTexts,
  { input, request, leftMs }: { readonly input: InternInputRow; readonly request: string; readonly leftMs: number },
): Promise<boolean> {
  const name = `${input.step} ${input.kind}`;
  const write = await texts.seal({ internId: input.internId, runId: input.runId }, [{ name, text: request }]);
  return kysely.transaction().execute(async (transaction) => {
    const { numUpdatedRows } = await transaction
      .updateTable('intern_runs')
      .set({ state: 'waiting_input', left_ms: leftMs, updated_at_ms: input.createdAtMs })
      .where('id', '=', input.runId)
      .where('state', '=', 'running')
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    await transaction
      .insertInto('intern_inputs')
      .values(internInputRows.toColumns(input))
      .onConflict((conflict) => conflict.columns(['run_id', 'step', 'kind']).doNothing())
      .execute();
    await write(transaction);
    return true;
  });
}

async function answer(
  { kysely }: Database,
  texts: InternTexts,
  {
    input,
    given: { decision, text, by, state, message },
    nowMs,
  }: { readonly input: InternInputRow; readonly given: InputAnswer; readonly nowMs: number },
): Promise<InternRunRow | undefined> {
  const named = [
    { name: `${input.step} ${input.kind} answer`, text },
    ...(message === undefined ? [] : [{ name: `${input.step} message`, text: message }]),
  ];
  const write = await texts.seal({ internId: input.internId, runId: input.runId }, named);
  return kysely.transaction().execute(async (transaction) => {
    const { numUpdatedRows } = await transaction
      .updateTable('intern_inputs')
      .set({ state, decision, answered_by: by, answered_at_ms: nowMs })
      .where('id', '=', input.id)
      .where('state', '=', 'pending')
      .where('expires_at_ms', '>', nowMs)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return undefined;
    const run = await transaction
      .updateTable('intern_runs')
      .set((set) => ({ state: 'queued', turn: set('turn', '+', 1), updated_at_ms: nowMs }))
      .where('id', '=', input.runId)
      .where('state', '=', 'waiting_input')
      .returningAll()
      .executeTakeFirst();
    await write(transaction);
    return run && internRunRows.toRow(run);
  });
}

async function expire({ kysely }: Database, nowMs: number, limit: number): Promise<readonly InternRunRow[]> {
  const due = await kysely
    .selectFrom('intern_inputs')
    .select(['id', 'run_id'])
    .where('state', '=', 'pending')
    .where('expires_at_ms', '<=', nowMs)
    .limit(limit)
    .execute();
  const ended: InternRunRow[] = [];
  for (const { id, run_id: runId } of due)
    await kysely.transaction().execute(async (transaction) => {
      await transaction
        .updateTable('intern_inputs')
        .set({ state: 'expired' })
        .where('id', '=', id)
        .where('state', '=', 'pending')
        .execute();
      const run = await transaction
        .updateTable('intern_runs')
        .set({ state: 'expired', updated_at_ms: nowMs, finished_at_ms: nowMs, error: 'No decision came in time.' })
        .where('id', '=', runId)
        .where('state', '=', 'waiting_input')
        .returningAll()
        .executeTakeFirst();
      if (run !== undefined) ended.push(internRunRows.toRow(run));
    });
  return ended;
}

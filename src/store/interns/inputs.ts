import type { Transaction } from 'kysely';
import type { Decision } from '../../resources/interns.ts';
import type { Database } from '../engine/database.ts';
import { fetchPage, type Page, type PageWindow } from '../engine/page.ts';
import { storableText } from '../portable.ts';
import {
  internInputRows,
  internRunRows,
  type InternCallRow,
  type InternInputRow,
  type InternRunRow,
} from './columns.ts';
import { claimCall } from './interns.ts';
import type { Tables } from '../tables.ts';
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
  /** Absent: the caller sent no idempotency key. */
  readonly call?: InternCallRow | undefined;
}

/** `closed`: it is not open any more. `body`: the idempotency key was used with another body. */
export type Answered =
  | { readonly outcome: 'answered' | 'replayed'; readonly run: InternRunRow }
  | { readonly outcome: 'closed' | 'body' };

export interface InputFilter {
  readonly workspaceId: string;
  /** Absent: of all interns of the workspace. */
  readonly internId?: string | undefined;
  readonly pendingOnly: boolean;
  /** Of sessions that this key began, and of agents of this creator; absent: of all. */
  readonly onlyOf?: { readonly keyHash: string; readonly creatorId: string } | undefined;
}

export interface InputStore {
  /** The run waits for it from now on. `false`: the run is over, or another worker has it. */
  ask(run: InternRunRow, input: InternInputRow, question: { request: string; leftMs: number }): Promise<boolean>;
  /** Answers it once, and gives its run to the next job. */
  answer(input: InternInputRow, answer: InputAnswer, nowMs: number): Promise<Answered>;
  findInput(internId: string, id: string): Promise<InternInputRow | undefined>;
  /** Those of a run, by their step. */
  inputsOf(runId: string): Promise<readonly InternInputRow[]>;
  listInputs(filter: InputFilter, window: PageWindow): Promise<Page<InternInputRow>>;
  /** Whether a person allowed this for the whole session. */
  isAllowedIn(internId: string, sessionId: string, inputHash: string): Promise<boolean>;
  /** Ends what was not answered in time, and its runs. @returns the runs */
  expire(nowMs: number, limit: number): Promise<readonly InternRunRow[]>;
}

export function createInputStore(database: Database, texts: InternTexts): InputStore {
  const { kysely } = database;
  const all = () => kysely.selectFrom('intern_inputs');
  return {
    ask: (run, input, question) => ask(database, texts, { run, input, ...question }),
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
    listInputs: ({ workspaceId, internId, pendingOnly, onlyOf }, window) => {
      let found = all().where((is) =>
        is.exists(
          is
            .selectFrom('interns')
            .innerJoin('intern_sessions as sessions', 'sessions.intern_id', 'interns.id')
            .select('interns.id')
            .whereRef('interns.id', '=', 'intern_inputs.intern_id')
            .whereRef('sessions.id', '=', 'intern_inputs.session_id')
            .where('interns.workspace_id', '=', workspaceId)
            .$if(onlyOf !== undefined, (own) =>
              own.where((either) =>
                either.or([
                  either('sessions.key_hash', '=', onlyOf?.keyHash ?? ''),
                  either('interns.creator_id', '=', onlyOf?.creatorId ?? ''),
                ]),
              ),
            ),
        ),
      );
      if (internId !== undefined) found = found.where('intern_id', '=', internId);
      if (pendingOnly) found = found.where('state', '=', 'pending');
      return fetchPage(
        found,
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
  {
    run,
    input,
    request,
    leftMs,
  }: {
    readonly run: InternRunRow;
    readonly input: InternInputRow;
    readonly request: string;
    readonly leftMs: number;
  },
): Promise<boolean> {
  const name = `${input.step} ${input.kind}`;
  const write = await texts.seal({ internId: input.internId, runId: input.runId }, [{ name, text: request }]);
  return kysely.transaction().execute(async (transaction) => {
    const { numUpdatedRows } = await transaction
      .updateTable('intern_runs')
      .set({ state: 'waiting_input', left_ms: leftMs, updated_at_ms: input.createdAtMs })
      .where('id', '=', input.runId)
      .where('worker', '=', run.worker)
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

/** All or nothing: where the run does not wait any more, nothing is allowed either. */
async function answer(
  { kysely }: Database,
  texts: InternTexts,
  {
    input,
    given: { decision, text, by, state, message, call },
    nowMs,
  }: { readonly input: InternInputRow; readonly given: InputAnswer; readonly nowMs: number },
): Promise<Answered> {
  const named = [
    { name: `${input.step} ${input.kind} answer`, text },
    ...(message === undefined ? [] : [{ name: `${input.step} message`, text: message }]),
  ];
  const write = await texts.seal({ internId: input.internId, runId: input.runId }, named);
  try {
    return await kysely.transaction().execute(async (transaction): Promise<Answered> => {
      const before = call && (await claimCall(transaction, call, nowMs));
      if (before !== undefined) return replay(transaction, before, call?.bodyHash);
      const answered = await transaction
        .updateTable('intern_inputs')
        .set({ state, decision, answered_by: by, answered_at_ms: nowMs })
        .where('id', '=', input.id)
        .where('state', '=', 'pending')
        .where('expires_at_ms', '>', nowMs)
        .executeTakeFirst();
      const run = await transaction
        .updateTable('intern_runs')
        .set((set) => ({ state: 'queued', turn: set('turn', '+', 1), updated_at_ms: nowMs }))
        .where('id', '=', input.runId)
        .where('state', '=', 'waiting_input')
        .returningAll()
        .executeTakeFirst();
      if (answered.numUpdatedRows === 0n || run === undefined) throw new Closed();
      await write(transaction);
      return { outcome: 'answered', run: internRunRows.toRow(run) };
    });
  } catch (error) {
    if (error instanceof Closed) return { outcome: 'closed' };
    throw error;
  }
}

/** Undoes the transaction. */
class Closed extends Error {}

/** What an earlier call with the same idempotency key made. */
export async function replay(
  transaction: Transaction<Tables>,
  { bodyHash, subjectId }: InternCallRow,
  sentHash: string | undefined,
): Promise<{ readonly outcome: 'replayed'; readonly run: InternRunRow } | { readonly outcome: 'body' | 'closed' }> {
  if (bodyHash !== sentHash) return { outcome: 'body' };
  const run = await transaction.selectFrom('intern_runs').selectAll().where('id', '=', subjectId).executeTakeFirst();
  return run === undefined ? { outcome: 'closed' } : { outcome: 'replayed', run: internRunRows.toRow(run) };
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
  for (const { id, run_id: runId } of due) {
    const run = await kysely.transaction().execute(async (transaction) => {
      const { numUpdatedRows } = await transaction
        .updateTable('intern_inputs')
        .set({ state: 'expired' })
        .where('id', '=', id)
        .where('state', '=', 'pending')
        .executeTakeFirst();
      // It was answered at the same moment, and its run may wait for another decision by now.
      if (numUpdatedRows === 0n) return undefined;
      return transaction
        .updateTable('intern_runs')
        .set({ state: 'expired', updated_at_ms: nowMs, finished_at_ms: nowMs, error: 'No decision came in time.' })
        .where('id', '=', runId)
        .where('state', '=', 'waiting_input')
        .returningAll()
        .executeTakeFirst();
    });
    if (run !== undefined) ended.push(internRunRows.toRow(run));
  }
  return ended;
}

import type { Transaction } from 'kysely';
import type { RunState } from '../../resources/interns.ts';
import type { SecretBox } from '../../lib/secret-box.ts';
import { DatabaseError } from '../engine/database-error.ts';
import type { Database } from '../engine/database.ts';
import { fetchPage, type Page, type PageWindow } from '../engine/page.ts';
import { numberOf, storableText } from '../portable.ts';
import type { Tables } from '../tables.ts';
import {
  internRunRows,
  internSessionRows,
  internStepRows,
  type InternCallRow,
  type InternRunRow,
  type InternSessionRow,
  type InternStepRow,
} from './columns.ts';
import { claimCall } from './interns.ts';
import { createInputStore, type InputStore } from './inputs.ts';
import { createInternTexts, type InternTexts, type NewText } from './texts.ts';

const OVER = ['done', 'failed', 'cancelled', 'expired'] as const satisfies readonly RunState[];

/** `busy`: the session has a run that is not over. `full`: so many runs of the agent are not. `stopped`: it does not run. */
export type Begun =
  | { readonly outcome: 'begun' | 'replayed'; readonly run: InternRunRow }
  | { readonly outcome: 'busy' | 'full' | 'stopped' | 'body' };

export interface NewRun {
  readonly run: InternRunRow;
  readonly session: InternSessionRow;
  readonly prompt: string;
  /** Absent: the caller sent no idempotency key. */
  readonly call?: InternCallRow | undefined;
  readonly concurrentMax: number;
}

/** What is known of a run after a step. */
export interface RunProgress {
  readonly costNanoUsd: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly leftMs: number;
}

export interface RunStore extends Pick<InternTexts, 'ofRun'>, InputStore {
  begin(input: NewRun, nowMs: number): Promise<Begun>;
  find(id: string): Promise<InternRunRow | undefined>;
  /** Changes it if its state is one of these. @returns the run after the change */
  change(id: string, from: readonly RunState[], changes: Partial<InternRunRow>): Promise<InternRunRow | undefined>;
  /**
   * Stores a step, with what it brings to its run. `false`: the run does not run any more.
   */
  putStep(run: InternRunRow, step: InternStepRow, texts: readonly NewText[], progress?: RunProgress): Promise<boolean>;
  steps(runId: string): Promise<readonly InternStepRow[]>;
  list(internId: string, window: PageWindow, sessionId?: string): Promise<Page<InternRunRow>>;
  sessions(internId: string, window: PageWindow): Promise<Page<InternSessionRow>>;
  findSession(internId: string, id: string): Promise<InternSessionRow | undefined>;
  /** Those of a session, the newest first. */
  ofSession(internId: string, sessionId: string, limit: number): Promise<readonly InternRunRow[]>;
  openOf(internId: string): Promise<readonly InternRunRow[]>;
  /** Runs that wait for a job since before that time. */
  stranded(beforeMs: number, limit: number): Promise<readonly InternRunRow[]>;
  /** Deletes texts of runs that were over before that time. `true`: there is more. */
  clearAway(beforeMs: number): Promise<boolean>;
}

const CLEAR_AT_ONCE_MAX = 100;

export function createRunStore({
  database,
  box,
}: {
  readonly database: Database;
  readonly box: () => Promise<SecretBox>;
}): RunStore {
  const { kysely } = database;
  const texts = createInternTexts({ database, box });
  return {
    ofRun: (owner) => texts.ofRun(owner),
    ...createInputStore(database, texts),
    begin: (input, nowMs) => begin({ database, texts }, input, nowMs),
    putStep: (run, step, written, progress) => putStep({ database, texts }, { run, step, progress }, written),
    async find(id) {
      const row = await kysely
        .selectFrom('intern_runs')
        .selectAll()
        .where('id', '=', storableText(id))
        .executeTakeFirst();
      return row && internRunRows.toRow(row);
    },
    async change(id, from, changes) {
      const row = await kysely
        .updateTable('intern_runs')
        .set(internRunRows.toChanges(changes))
        .where('id', '=', storableText(id))
        .where('state', 'in', from)
        .returningAll()
        .executeTakeFirst();
      return row && internRunRows.toRow(row);
    },
    ...lists(database),
    async clearAway(beforeMs) {
      const found = await kysely
        .selectFrom('intern_runs')
        .select('id')
        .where('finished_at_ms', '<', beforeMs)
        .where((is) =>
          is.exists(is.selectFrom('intern_texts').select('intern_texts.id').whereRef('run_id', '=', 'intern_runs.id')),
        )
        .limit(CLEAR_AT_ONCE_MAX)
        .execute();
      const ids = found.map(({ id }) => id);
      if (ids.length > 0) await kysely.deleteFrom('intern_texts').where('run_id', 'in', ids).execute();
      return ids.length === CLEAR_AT_ONCE_MAX;
    },
  };
}

type Lists = Pick<RunStore, 'steps' | 'list' | 'sessions' | 'findSession' | 'ofSession' | 'openOf' | 'stranded'>;

function lists({ kysely }: Database): Lists {
  const runsOf = (internId: string) => kysely.selectFrom('intern_runs').where('intern_id', '=', storableText(internId));
  const sessionsOf = (internId: string) =>
    kysely.selectFrom('intern_sessions').where('intern_id', '=', storableText(internId));
  return {
    async steps(runId) {
      const rows = await kysely
        .selectFrom('intern_steps')
        .selectAll()
        .where('run_id', '=', storableText(runId))
        .orderBy('n')
        .execute();
      return rows.map(internStepRows.toRow);
    },
    list(internId, window, sessionId) {
      const runs = runsOf(internId);
      return fetchPage(
        sessionId === undefined ? runs : runs.where('session_id', '=', storableText(sessionId)),
        window,
        (found) => found.selectAll().orderBy('created_at_ms', 'desc').orderBy('id', 'desc'),
        internRunRows.toRow,
      );
    },
    sessions: (internId, window) =>
      fetchPage(
        sessionsOf(internId),
        window,
        (found) => found.selectAll().orderBy('last_at_ms', 'desc').orderBy('id', 'desc'),
        internSessionRows.toRow,
      ),
    async findSession(internId, id) {
      const row = await sessionsOf(internId).selectAll().where('id', '=', storableText(id)).executeTakeFirst();
      return row && internSessionRows.toRow(row);
    },
    async ofSession(internId, sessionId, limit) {
      const rows = await runsOf(internId)
        .selectAll()
        .where('session_id', '=', storableText(sessionId))
        .orderBy('created_at_ms', 'desc')
        .orderBy('id', 'desc')
        .limit(limit)
        .execute();
      return rows.map(internRunRows.toRow);
    },
    async openOf(internId) {
      const rows = await runsOf(internId).selectAll().where('finished_at_ms', 'is', null).execute();
      return rows.map(internRunRows.toRow);
    },
    async stranded(beforeMs, limit) {
      const rows = await kysely
        .selectFrom('intern_runs')
        .selectAll()
        .where('state', '=', 'queued')
        .where('updated_at_ms', '<', beforeMs)
        .limit(limit)
        .execute();
      return rows.map(internRunRows.toRow);
    },
  };
}

interface Context {
  readonly database: Database;
  readonly texts: InternTexts;
}

/** Locks the agent, so that two runs that begin at the same moment count each other. */
async function begin({ database, texts }: Context, input: NewRun, nowMs: number): Promise<Begun> {
  const { run, session, prompt, call, concurrentMax } = input;
  const write = await texts.seal({ internId: run.internId, runId: run.id }, [{ name: 'prompt', text: prompt }]);
  try {
    return await database.kysely.transaction().execute(async (transaction): Promise<Begun> => {
      const isRunning = await lockRunning(transaction, run.internId);
      if (call !== undefined) {
        const before = await claimCall(transaction, call, nowMs);
        if (before !== undefined && before.bodyHash !== call.bodyHash) return { outcome: 'body' };
        const made =
          before === undefined
            ? undefined
            : await transaction
                .selectFrom('intern_runs')
                .selectAll()
                .where('id', '=', before.subjectId)
                .executeTakeFirst();
        if (made !== undefined) return { outcome: 'replayed', run: internRunRows.toRow(made) };
      }
      if (!isRunning) throw new NotBegun('stopped');
      const open = await transaction
        .selectFrom('intern_runs')
        .select(['session_id', 'state'])
        .where('intern_id', '=', run.internId)
        .where('finished_at_ms', 'is', null)
        .execute();
      if (open.some(({ session_id: id }) => id === session.id)) throw new NotBegun('busy');
      // What waits for a person works on nothing.
      if (open.filter(({ state }) => state !== 'waiting_input').length >= concurrentMax) throw new NotBegun('full');
      await transaction
        .insertInto('intern_sessions')
        .values(internSessionRows.toColumns(session))
        .onConflict((conflict) => conflict.columns(['intern_id', 'id']).doUpdateSet({ last_at_ms: nowMs }))
        .execute();
      await transaction.insertInto('intern_runs').values(internRunRows.toColumns(run)).execute();
      await write(transaction);
      return { outcome: 'begun', run };
    });
  } catch (error) {
    if (error instanceof NotBegun) return { outcome: error.outcome };
    if (error instanceof DatabaseError && error.duplicate) return { outcome: 'busy' };
    throw error;
  }
}

/** Undoes the transaction: the idempotency key is free again. */
class NotBegun extends Error {
  readonly outcome: 'busy' | 'full' | 'stopped';

  constructor(outcome: NotBegun['outcome']) {
    super(outcome);
    this.outcome = outcome;
  }
}

async function lockRunning(transaction: Transaction<Tables>, internId: string): Promise<boolean> {
  const row = await transaction
    .updateTable('interns')
    .set((set) => ({ name: set.ref('name') }))
    .where('id', '=', internId)
    .returning('status')
    .executeTakeFirst();
  return row?.status === 'running';
}

async function putStep(
  { database, texts }: Context,
  {
    run,
    step,
    progress,
  }: { readonly run: InternRunRow; readonly step: InternStepRow; readonly progress: RunProgress | undefined },
  written: readonly NewText[],
): Promise<boolean> {
  const write = await texts.seal({ internId: run.internId, runId: run.id }, written);
  return database.kysely.transaction().execute(async (transaction) => {
    const { numUpdatedRows } = await transaction
      .updateTable('intern_runs')
      .set((set) => ({
        step: step.n,
        updated_at_ms: step.updatedAtMs,
        ...(progress !== undefined && {
          spent_nano_usd: set('spent_nano_usd', '+', progress.costNanoUsd),
          prompt_tokens: set('prompt_tokens', '+', progress.promptTokens),
          completion_tokens: set('completion_tokens', '+', progress.completionTokens),
          left_ms: progress.leftMs,
        }),
      }))
      .where('id', '=', run.id)
      .where('state', '=', 'running')
      .executeTakeFirst();
    if (numberOf(numUpdatedRows) === 0) return false;
    const { run_id: _run, n: _n, created_at_ms: _created, ...changes } = internStepRows.toColumns(step);
    await transaction
      .insertInto('intern_steps')
      .values(internStepRows.toColumns(step))
      .onConflict((conflict) => conflict.columns(['run_id', 'n']).doUpdateSet(changes))
      .execute();
    await write(transaction);
    return true;
  });
}

export function isOver(state: RunState): boolean {
  return OVER.some((over) => over === state);
}

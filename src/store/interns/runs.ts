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
import { createInputStore, replay, type InputStore } from './inputs.ts';
import { createInternTexts, type InternTexts, type NewText } from './texts.ts';

const OVER = ['done', 'failed', 'cancelled', 'expired'] as const satisfies readonly RunState[];

/**
 * `busy`: the session has a run that is not over. `full`: so many runs of the agent are not. `stopped`: it does not run.
 * `foreign`: another key began the session. `closed`: what the idempotency key made is gone.
 */
export type Begun =
  | { readonly outcome: 'begun' | 'replayed'; readonly run: InternRunRow }
  | { readonly outcome: 'busy' | 'full' | 'stopped' | 'foreign' | 'body' | 'closed' };

export interface NewRun {
  readonly run: InternRunRow;
  readonly session: InternSessionRow;
  readonly prompt: string;
  /** Absent: the caller sent no idempotency key. */
  readonly call?: InternCallRow | undefined;
  readonly concurrentMax: number;
  /** A session that another key began is not continued. */
  readonly ownSessionOnly: boolean;
}

/** What is known of a run after a step. */
export interface RunProgress {
  readonly costNanoUsd: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly leftMs: number;
}

export interface RunStore extends Pick<InternTexts, 'ofRun' | 'named'>, InputStore {
  begin(input: NewRun, nowMs: number): Promise<Begun>;
  /** What a call with this idempotency key made before. */
  findCalled(id: string, nowMs: number): Promise<{ readonly run: InternRunRow; readonly bodyHash: string } | undefined>;
  find(id: string): Promise<InternRunRow | undefined>;
  /** Changes it if its state is one of these, and its turn is this one. @returns the run after the change */
  change(
    id: string,
    from: readonly RunState[],
    changes: Partial<InternRunRow>,
    turn?: number,
  ): Promise<InternRunRow | undefined>;
  /** Takes a run of this turn: from now on whatever had it before writes nothing to it. `undefined`: it is over, or waits. */
  claim(id: string, turn: number, worker: string, nowMs: number): Promise<InternRunRow | undefined>;
  /** Ends or pauses a run that this worker has. @returns whether it had it */
  leave(run: InternRunRow, changes: Partial<InternRunRow>): Promise<boolean>;
  /** Cancels a run that is not over, with what it waits for. */
  cancel(id: string, nowMs: number): Promise<InternRunRow | undefined>;
  /** Stores a step, with what it brings to its run. `false`: the run is over, or another worker has it. */
  putStep(run: InternRunRow, step: InternStepRow, texts: readonly NewText[], progress?: RunProgress): Promise<boolean>;
  steps(runId: string): Promise<readonly InternStepRow[]>;
  list(internId: string, window: PageWindow, sessionId?: string): Promise<Page<InternRunRow>>;
  /** @param onlyOf those that this key began; absent: all */
  sessions(internId: string, window: PageWindow, onlyOf?: string): Promise<Page<InternSessionRow>>;
  findSession(internId: string, id: string): Promise<InternSessionRow | undefined>;
  /** Those of a session, the newest first. */
  ofSession(internId: string, sessionId: string, limit: number): Promise<readonly InternRunRow[]>;
  openOf(internId: string): Promise<readonly InternRunRow[]>;
  /** Runs that wait for a job since before that time, and paused ones of agents that run again. */
  stranded(beforeMs: number, limit: number): Promise<readonly InternRunRow[]>;
  /** Deletes texts of runs that were over before that time. `true`: there is more. */
  clearAway(beforeMs: number): Promise<boolean>;
}

const CLEAR_AT_ONCE_MAX = 100;
/** Runs of one agent that wait for a person. */
const WAITING_MAX = 200;

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
    named: (internId, ids) => texts.named(internId, ids),
    ...createInputStore(database, texts),
    begin: (input, nowMs) => begin({ database, texts }, input, nowMs),
    putStep: (run, step, written, progress) => putStep({ database, texts }, { run, step, progress }, written),
    async findCalled(id, nowMs) {
      const row = await kysely
        .selectFrom('intern_calls')
        .innerJoin('intern_runs', 'intern_runs.id', 'intern_calls.subject_id')
        .selectAll('intern_runs')
        .select('intern_calls.body_hash as sent_hash')
        .where('intern_calls.id', '=', id)
        .where('intern_calls.expires_at_ms', '>', nowMs)
        .executeTakeFirst();
      return row && { run: internRunRows.toRow(row), bodyHash: row.sent_hash };
    },
    async find(id) {
      const row = await kysely
        .selectFrom('intern_runs')
        .selectAll()
        .where('id', '=', storableText(id))
        .executeTakeFirst();
      return row && internRunRows.toRow(row);
    },
    ...runChanges(database),
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

function runChanges({ kysely }: Database): Pick<RunStore, 'change' | 'claim' | 'leave' | 'cancel'> {
  const change: RunStore['change'] = async (id, from, changed, turn) => {
    const update = kysely
      .updateTable('intern_runs')
      .set(internRunRows.toChanges(changed))
      .where('id', '=', storableText(id))
      .where('state', 'in', from);
    const row = await (turn === undefined ? update : update.where('turn', '=', turn)).returningAll().executeTakeFirst();
    return row && internRunRows.toRow(row);
  };
  return {
    change,
    claim: (id, turn, worker, nowMs) =>
      change(id, ['queued', 'running'], { state: 'running', worker, updatedAtMs: nowMs }, turn),
    async leave({ id, worker }, changed) {
      const { numUpdatedRows } = await kysely
        .updateTable('intern_runs')
        .set(internRunRows.toChanges(changed))
        .where('id', '=', id)
        .where('worker', '=', worker)
        .where('state', '=', 'running')
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    cancel: (id, nowMs) =>
      kysely.transaction().execute(async (transaction) => {
        const row = await transaction
          .updateTable('intern_runs')
          .set({ state: 'cancelled', updated_at_ms: nowMs, finished_at_ms: nowMs })
          .where('id', '=', storableText(id))
          .where('state', 'not in', OVER)
          .returningAll()
          .executeTakeFirst();
        if (row === undefined) return undefined;
        await transaction
          .updateTable('intern_inputs')
          .set({ state: 'cancelled' })
          .where('run_id', '=', row.id)
          .where('state', '=', 'pending')
          .execute();
        return internRunRows.toRow(row);
      }),
  };
}

type Lists = Pick<RunStore, 'steps' | 'list' | 'sessions' | 'findSession' | 'ofSession' | 'openOf' | 'stranded'>;

function lists(database: Database): Lists {
  const { kysely } = database;
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
    sessions: (internId, window, onlyOf) =>
      fetchPage(
        onlyOf === undefined ? sessionsOf(internId) : sessionsOf(internId).where('key_hash', '=', onlyOf),
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
    stranded: (beforeMs, limit) => stranded(database, beforeMs, limit),
  };
}

async function stranded({ kysely }: Database, beforeMs: number, limit: number): Promise<readonly InternRunRow[]> {
  const rows = await kysely
    .selectFrom('intern_runs')
    .selectAll()
    .where('updated_at_ms', '<', beforeMs)
    .where((is) =>
      is.or([
        is('state', '=', 'queued'),
        is.and([
          is('state', '=', 'paused'),
          is.exists(
            is
              .selectFrom('interns')
              .select('interns.id')
              .whereRef('interns.id', '=', 'intern_runs.intern_id')
              .where('interns.status', '=', 'running'),
          ),
        ]),
      ]),
    )
    .limit(limit)
    .execute();
  return rows.map(internRunRows.toRow);
}

interface Context {
  readonly database: Database;
  readonly texts: InternTexts;
}

/** Locks the agent, so that two runs that begin at the same moment count each other. */
async function begin({ database, texts }: Context, input: NewRun, nowMs: number): Promise<Begun> {
  const { run, session, prompt, call, concurrentMax, ownSessionOnly } = input;
  const write = await texts.seal({ internId: run.internId, runId: run.id }, [{ name: 'prompt', text: prompt }]);
  try {
    return await database.kysely.transaction().execute(async (transaction): Promise<Begun> => {
      const isRunning = await lockRunning(transaction, run.internId);
      const before = call && (await claimCall(transaction, call, nowMs));
      if (before !== undefined) return replay(transaction, before, call?.bodyHash);
      if (!isRunning) throw new NotBegun('stopped');
      const open = await transaction
        .selectFrom('intern_runs')
        .select(['session_id', 'state'])
        .where('intern_id', '=', run.internId)
        .where('finished_at_ms', 'is', null)
        .execute();
      if (open.some(({ session_id: id }) => id === session.id)) throw new NotBegun('busy');
      // What waits for a person works on nothing.
      const waiting = open.filter(({ state }) => state === 'waiting_input').length;
      if (open.length - waiting >= concurrentMax || waiting >= WAITING_MAX) throw new NotBegun('full');
      const { key_hash: keyHash } = await transaction
        .insertInto('intern_sessions')
        .values(internSessionRows.toColumns(session))
        .onConflict((conflict) => conflict.columns(['intern_id', 'id']).doUpdateSet({ last_at_ms: nowMs }))
        .returning('key_hash')
        .executeTakeFirstOrThrow();
      if (ownSessionOnly && keyHash !== session.keyHash) throw new NotBegun('foreign');
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
  readonly outcome: 'busy' | 'full' | 'stopped' | 'foreign';

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
      .where('worker', '=', run.worker)
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

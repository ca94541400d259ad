import { sql, type ExpressionBuilder, type RawBuilder } from 'kysely';
import type { JsonObject } from '../../lib/json.ts';
import { DatabaseError } from '../engine/database-error.ts';
import type { Database } from '../engine/database.ts';
import { databaseNow } from '../engine/now.ts';
import { numberOf, storableText } from '../portable.ts';
import type { Tables } from '../tables.ts';
import { jobRows, type Job, type JobState } from './columns.ts';

export interface NewJob {
  readonly id: string;
  readonly kind: string;
  readonly subjectId: string;
  /** From now. */
  readonly delayMs: number;
  readonly checkpoint: JsonObject;
}

/** `known`: a job of this id is there already. `full`: too many of its kind wait. */
export type Added = 'added' | 'known' | 'full';

export interface JobLease {
  readonly owner: string;
  readonly kind: string;
  readonly leaseMs: number;
  readonly limit: number;
}

/** What becomes of a job whose run is over. */
export type JobNext =
  | { readonly state: 'done' | 'failed' | 'cancelled'; readonly error?: string | undefined; readonly keepMs: number }
  | { readonly state: 'waiting' }
  | {
      readonly state: 'queued';
      readonly delayMs: number;
      readonly error?: string | undefined;
      readonly uncounted?: true;
    };

export interface JobFilter {
  readonly kind?: string | undefined;
  readonly state?: JobState | undefined;
  readonly subjectId?: string | undefined;
}

export interface JobWindow {
  readonly offset: number;
  readonly limit: number;
}

export interface JobCount {
  readonly kind: string;
  readonly state: JobState;
  readonly jobs: number;
}

/** Times are those of the database's clock, so that processes agree on them. */
export interface JobStore {
  add(job: NewJob, openMax: number): Promise<Added>;
  find(id: string): Promise<Job | undefined>;
  /** The newest first. */
  ofSubject(kind: string, subjectId: string, limit: number): Promise<readonly Job[]>;
  /** A page of all jobs, the newest first. */
  list(filter: JobFilter, window: JobWindow): Promise<{ readonly rows: readonly Job[]; readonly totalCount: number }>;
  /** How many there are, by kind and state. */
  count(): Promise<readonly JobCount[]>;
  /** Takes jobs whose time has come, or whose process is gone, the oldest first. */
  lease(request: JobLease): Promise<readonly Job[]>;
  /** @returns the jobs that are still the owner's, each with whether it is to stop */
  renew(ids: readonly string[], owner: string, leaseMs: number): Promise<ReadonlyMap<string, { isCancelled: boolean }>>;
  /** Stores progress, from which another process goes on. @returns whether the job is still the owner's */
  save(id: string, owner: string, checkpoint: JsonObject): Promise<boolean>;
  /** The run is over. @returns whether the job was still the owner's */
  end(id: string, owner: string, next: JobNext, checkpoint?: JsonObject): Promise<boolean>;
  /** Deletes the oldest of a subject that wait to run, beyond so many. @returns how many */
  dropOldest(kind: string, subjectId: string, keepMax: number): Promise<number>;
  /** Ends one that waits; one that runs is to stop. @returns whether it was not over */
  cancel(id: string, keepMs: number): Promise<boolean>;
  /** Lets a job run that waits for something outside. @returns whether it waited */
  wake(id: string, checkpoint?: JsonObject): Promise<boolean>;
  /** No process runs anything: the only one that could begins now. */
  forgetRunners(): Promise<void>;
  /** Deletes rows that have expired. `true`: there is more. */
  clearAway(): Promise<boolean>;
}

const OPEN_STATES = ['queued', 'running', 'waiting'] as const satisfies readonly JobState[];

/** Looked at in one turn: several of one subject stand for one. */
const CANDIDATES_MAX = 32;
const CLEAR_AT_ONCE_MAX = 500;
/** A clock that was set back must not keep a job from being taken over. */
const LEASE_AHEAD_MS_MAX = 3_600_000;
const ERROR_CHARS_MAX = 2_000;

/** @param now for tests: the moment in place of the database's */
export function createJobStore(database: Database, now: Now = () => databaseNow(database.engine)): JobStore {
  const context = { database, now };
  return { ...intake(context), ...reports(database), ...leases(context), ...endings(context) };
}

interface Context {
  readonly database: Database;
  readonly now: Now;
}

type Now = () => RawBuilder<number>;
type Is = ExpressionBuilder<Tables, 'jobs'>;

function intake(context: Context): Pick<JobStore, 'add' | 'find' | 'ofSubject' | 'cancel' | 'wake' | 'dropOldest'> {
  const {
    database: { kysely },
    now,
  } = context;
  return {
    add: (job, openMax) => add(context, job, openMax),
    async find(id) {
      const row = await kysely.selectFrom('jobs').selectAll().where('id', '=', storableText(id)).executeTakeFirst();
      return row && jobRows.toRow(row);
    },
    async ofSubject(kind, subjectId, limit) {
      const rows = await kysely
        .selectFrom('jobs')
        .selectAll()
        .where('kind', '=', kind)
        .where('subject_id', '=', storableText(subjectId))
        .orderBy('created_at_ms', 'desc')
        .orderBy('id', 'desc')
        .limit(limit)
        .execute();
      return rows.map(jobRows.toRow);
    },
    async cancel(id, keepMs) {
      const one = kysely.updateTable('jobs').where('id', '=', storableText(id));
      const ended = await one
        .set({ ...over(now, 'cancelled', keepMs), error: null })
        .where('state', 'in', ['queued', 'waiting'])
        .executeTakeFirst();
      if (ended.numUpdatedRows > 0n) return true;
      const stopped = await one.set({ is_cancelled: 1 }).where('state', '=', 'running').executeTakeFirst();
      return stopped.numUpdatedRows > 0n;
    },
    async dropOldest(kind, subjectId, keepMax) {
      const beyond = await kysely
        .selectFrom('jobs')
        .select('id')
        .where('kind', '=', kind)
        .where('subject_id', '=', storableText(subjectId))
        .where('state', '=', 'queued')
        .orderBy('created_at_ms', 'desc')
        .orderBy('id', 'desc')
        .limit(CLEAR_AT_ONCE_MAX)
        .offset(keepMax)
        .execute();
      const ids = beyond.map(({ id }) => id);
      if (ids.length === 0) return 0;
      const { numDeletedRows } = await kysely
        .deleteFrom('jobs')
        .where('id', 'in', ids)
        .where('state', '=', 'queued')
        .executeTakeFirst();
      return Number(numDeletedRows);
    },
    async wake(id, checkpoint) {
      const { numUpdatedRows } = await kysely
        .updateTable('jobs')
        .set({ state: 'queued', run_after_ms: now(), updated_at_ms: now(), ...progress(checkpoint) })
        .where('id', '=', storableText(id))
        .where('state', '=', 'waiting')
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
  };
}

/** For operators: read apart from what runs jobs. */
function reports({ reports: kysely }: Database): Pick<JobStore, 'list' | 'count'> {
  return {
    async list({ kind, state, subjectId }, { offset, limit }) {
      let query = kysely.selectFrom('jobs');
      if (kind !== undefined) query = query.where('kind', '=', storableText(kind));
      if (state !== undefined) query = query.where('state', '=', state);
      if (subjectId !== undefined) query = query.where('subject_id', '=', storableText(subjectId));
      const [rows, { jobs }] = await Promise.all([
        query.selectAll().orderBy('created_at_ms', 'desc').orderBy('id', 'desc').limit(limit).offset(offset).execute(),
        query.select(({ fn }) => fn.countAll().as('jobs')).executeTakeFirstOrThrow(),
      ]);
      return { rows: rows.map(jobRows.toRow), totalCount: numberOf(jobs) };
    },
    async count() {
      const rows = await kysely
        .selectFrom('jobs')
        .select(['kind', 'state', ({ fn }) => fn.countAll().as('jobs')])
        .groupBy(['kind', 'state'])
        .orderBy('kind')
        .orderBy('state')
        .execute();
      return rows.map(({ kind, state, jobs }) => ({ kind, state, jobs: numberOf(jobs) }));
    },
  };
}

async function add(
  { database: { kysely }, now }: Context,
  { id, kind, subjectId, delayMs, checkpoint }: NewJob,
  openMax: number,
): Promise<Added> {
  const { open } = await kysely
    .selectFrom('jobs')
    .select(({ fn }) => fn.countAll().as('open'))
    .where('kind', '=', kind)
    .where('state', 'in', OPEN_STATES)
    .executeTakeFirstOrThrow();
  if (numberOf(open) >= openMax) return 'full';
  const { numInsertedOrUpdatedRows } = await kysely
    .insertInto('jobs')
    .values({
      id: storableText(id),
      kind,
      subject_id: storableText(subjectId),
      state: 'queued',
      attempt: 0,
      run_after_ms: later(now, delayMs),
      lease_owner: null,
      lease_until_ms: 0,
      is_cancelled: 0,
      checkpoint: JSON.stringify(checkpoint),
      error: null,
      created_at_ms: now(),
      updated_at_ms: now(),
      finished_at_ms: null,
      expires_at_ms: null,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 0n ? 'known' : 'added';
}

function leases({ database: { kysely }, now }: Context): Pick<JobStore, 'lease' | 'renew' | 'forgetRunners'> {
  const isLost = (is: Is) =>
    is.and([
      is('state', '=', 'running'),
      is.or([is('lease_until_ms', '<=', now()), is('lease_until_ms', '>', later(now, LEASE_AHEAD_MS_MAX))]),
    ]);
  const isDue = (is: Is) => is.and([is('state', '=', 'queued'), is('run_after_ms', '<=', now())]);
  return {
    async lease({ owner, kind, leaseMs, limit }) {
      // Read first: an update waits for other writers even where it finds nothing.
      const candidates = await kysely
        .selectFrom('jobs')
        .select(['id', 'subject_id'])
        .where('kind', '=', kind)
        .where((is) => is.or([isLost(is), is.and([isDue(is), is.not(is.exists(runningOfSubject(is)))])]))
        .orderBy('run_after_ms')
        .orderBy('id')
        .limit(CANDIDATES_MAX)
        .execute();
      const firsts = new Map(candidates.toReversed().map((row) => [row.subject_id, row.id]));
      const ids = new Set(firsts.values());
      const taken: Job[] = [];
      for (const { id } of candidates) {
        if (taken.length >= limit) break;
        if (!ids.has(id)) continue;
        const job = await kysely
          .updateTable('jobs')
          .set({
            state: 'running',
            lease_owner: owner,
            lease_until_ms: later(now, leaseMs),
            attempt: sql<number>`attempt + 1`,
            updated_at_ms: now(),
          })
          .where('id', '=', id)
          // Once more, for what another process took meanwhile.
          .where((is) => is.or([isLost(is), isDue(is)]))
          .returningAll()
          .executeTakeFirst()
          .catch(unlessOfSubject);
        if (job !== undefined) taken.push(jobRows.toRow(job));
      }
      return taken;
    },
    async renew(ids, owner, leaseMs) {
      if (ids.length === 0) return new Map();
      const rows = await kysely
        .updateTable('jobs')
        .set({ lease_until_ms: later(now, leaseMs) })
        .where('id', 'in', ids)
        .where('lease_owner', '=', owner)
        .where('state', '=', 'running')
        .returning(['id', 'is_cancelled'])
        .execute();
      return new Map(rows.map((row) => [row.id, { isCancelled: row.is_cancelled === 1 }]));
    },
    async forgetRunners() {
      await kysely.updateTable('jobs').set({ lease_until_ms: 0 }).where('state', '=', 'running').execute();
    },
  };
}

function runningOfSubject(is: Is) {
  return is
    .selectFrom('jobs as others')
    .select('others.id')
    .whereRef('others.kind', '=', 'jobs.kind')
    .whereRef('others.subject_id', '=', 'jobs.subject_id')
    .where('others.state', '=', 'running');
}

/** Another process took one of the same subject at the same moment. */
function unlessOfSubject(error: unknown): undefined {
  if (error instanceof DatabaseError && error.duplicate) return undefined;
  throw error;
}

function endings({ database: { kysely }, now }: Context): Pick<JobStore, 'save' | 'end' | 'clearAway'> {
  const mine = (id: string, owner: string) =>
    kysely.updateTable('jobs').where('id', '=', id).where('lease_owner', '=', owner).where('state', '=', 'running');
  return {
    async save(id, owner, checkpoint) {
      const { numUpdatedRows } = await mine(id, owner)
        .set({ ...progress(checkpoint), attempt: 1, updated_at_ms: now() })
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async end(id, owner, next, checkpoint) {
      const { numUpdatedRows } = await mine(id, owner)
        .set({ ...progress(checkpoint), ...columnsOf(now, next) })
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async clearAway() {
      const expired = await kysely
        .selectFrom('jobs')
        .select('id')
        .where('expires_at_ms', '<=', now())
        .limit(CLEAR_AT_ONCE_MAX)
        .execute();
      const ids = expired.map(({ id }) => id);
      if (ids.length > 0) await kysely.deleteFrom('jobs').where('id', 'in', ids).execute();
      return ids.length === CLEAR_AT_ONCE_MAX;
    },
  };
}

function columnsOf(now: Now, next: JobNext) {
  const released = { lease_owner: null, lease_until_ms: 0, updated_at_ms: now() };
  if (next.state === 'waiting') return { ...released, state: next.state, attempt: 0 };
  if (next.state === 'queued')
    return {
      ...released,
      state: next.state,
      run_after_ms: later(now, next.delayMs),
      ...(next.error !== undefined && { error: errorText(next.error) }),
      ...(next.uncounted === true && { attempt: sql<number>`attempt - 1` }),
    };
  return {
    ...over(now, next.state, next.keepMs),
    error: next.error === undefined ? null : errorText(next.error),
  };
}

function over(now: Now, state: 'done' | 'failed' | 'cancelled', keepMs: number) {
  return {
    state,
    lease_owner: null,
    lease_until_ms: 0,
    updated_at_ms: now(),
    finished_at_ms: now(),
    expires_at_ms: later(now, keepMs),
  };
}

function progress(checkpoint: JsonObject | undefined) {
  return checkpoint === undefined ? {} : { checkpoint: JSON.stringify(checkpoint) };
}

function errorText(error: string): string {
  return storableText(error.slice(0, ERROR_CHARS_MAX));
}

function later(now: Now, ms: number): RawBuilder<number> {
  return sql<number>`${now()} + ${sql.lit(Math.round(ms))}`;
}

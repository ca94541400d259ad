import type { ExpressionBuilder } from 'kysely';
import type { Clock } from '../../lib/clock.ts';
import type { SecretBox } from '../../lib/secret-box.ts';
import type { Database } from '../engine/database.ts';
import { encodeGeneration, framesOf, GENERATION_COLUMNS } from '../journal/record.ts';
import type { GenerationRow } from '../generations/columns.ts';
import { numberOf, storableText } from '../portable.ts';
import { createSealing, type Sealing } from '../responses/sealing.ts';
import type { Tables } from '../tables.ts';
import { searchJobs, type SeenVideoJob, type VideoJobSearch } from './search-jobs.ts';
import { OPEN_STATUSES, videoJobRows, type VideoJob, type VideoJobChanges, type VideoJobsTable } from './columns.ts';

/** Jobs are seen by the keys of their workspace. */
export interface VideoJobOwner {
  readonly accountId: string;
  readonly workspaceId: string;
}

export interface VideoJobWindow {
  readonly limit: number;
  /** Only jobs that are older than this one. */
  readonly afterId?: string | undefined;
  readonly status?: VideoJob['status'] | undefined;
}

/** Which jobs a process takes to work on. */
export interface LeaseRequest {
  readonly owner: string;
  readonly leaseMs: number;
  readonly limit: number;
  /** Providers that are busy enough. */
  readonly except: readonly string[];
}

export interface VideoJobStore {
  insert(job: VideoJob): Promise<void>;
  find(owner: VideoJobOwner, id: string): Promise<VideoJob | undefined>;
  /** The newest first. */
  list(owner: VideoJobOwner, window: VideoJobWindow): Promise<readonly VideoJob[]>;
  /** The newest first, of all workspaces that the caller sees. */
  search(search: VideoJobSearch): Promise<readonly SeenVideoJob[]>;
  /** Jobs that are not over. */
  countOpen(of: { readonly keyHash: string; readonly accountId: string }): Promise<{ key: number; account: number }>;
  /** Changes a job that is not over and is this process's. @returns whether it was */
  change(
    job: Pick<VideoJob, 'id' | 'accountId' | 'workspaceId'>,
    owner: string,
    changes: VideoJobChanges,
  ): Promise<boolean>;
  /** Takes a submitted job from whichever process has it, to end it. @returns `undefined`: it is over, or not there */
  take(owner: VideoJobOwner, id: string, lease: Pick<LeaseRequest, 'owner' | 'leaseMs'>): Promise<VideoJob | undefined>;
  /** Takes jobs whose time has come and that no live process has. */
  leaseDue(request: LeaseRequest): Promise<readonly VideoJob[]>;
  /** Takes jobs whose end is to be reported. */
  leaseCallbacks(request: Omit<LeaseRequest, 'except'>): Promise<readonly VideoJob[]>;
  /** What became of the report. */
  noteCallback(id: string, owner: string, next: Pick<VideoJob, 'callbackAtMs' | 'callbackTries'>): Promise<void>;
  /**
   * Ends a job, once: its row, and the generation with its charge, in one transaction.
   * @returns whether it ended now: another process may have been faster
   */
  end(job: VideoJob, changes: VideoJobChanges, generation: GenerationRow, facts?: string): Promise<boolean>;
  /** Deletes a job that is over. @returns whether it was there */
  remove(owner: VideoJobOwner, id: string): Promise<boolean>;
  /** Deletes rows that have expired, or whose workspace is gone. `true`: there is more. */
  clearAway(): Promise<boolean>;
}

export interface VideoJobStoreDeps {
  readonly database: Database;
  readonly box: () => Promise<SecretBox>;
  readonly clock: Clock;
  /** Records of an earlier time may be of hours that were summed up without them. */
  readonly lagMs: number;
}

const CLEAR_AT_ONCE_MAX = 500;
/** A clock that was set back must not keep jobs from being looked at: no look and no lease is further ahead. */
const AHEAD_MS_MAX = 3_600_000;

export function videoJobPurpose(context: string): string {
  return `video job ${context}`;
}

export function createVideoJobStore(deps: VideoJobStoreDeps): VideoJobStore {
  const { database, clock } = deps;
  const sealing = createSealing({
    box: deps.box,
    monotonicMs: () => clock.monotonicMs(),
    purpose: videoJobPurpose,
  });
  const open = (rows: readonly VideoJobsTable[]): Promise<readonly VideoJob[]> =>
    Promise.all(rows.map((row) => toJob(sealing, row)));
  const context = { database, clock, sealing, open, lagMs: deps.lagMs };
  return {
    ...writers(context),
    ...leases(context),
    ...readers(database, open),
    clearAway: () => clearAway(database, Math.floor(clock.nowMs())),
  };
}

interface Context {
  readonly database: Database;
  readonly clock: Clock;
  readonly sealing: Sealing;
  readonly open: (rows: readonly VideoJobsTable[]) => Promise<readonly VideoJob[]>;
  readonly lagMs: number;
}

function writers({
  database,
  clock,
  sealing,
  lagMs,
}: Context): Pick<VideoJobStore, 'insert' | 'change' | 'noteCallback' | 'end' | 'remove'> {
  const { kysely } = database;
  return {
    async insert(job) {
      await kysely
        .insertInto('video_jobs')
        .values(videoJobRows.toColumns(await toRow(sealing, job)))
        .execute();
    },
    async change(job, owner, changes) {
      const { numUpdatedRows } = await kysely
        .updateTable('video_jobs')
        .set(await toChanges(sealing, job, changes))
        .where('id', '=', job.id)
        .where('lease_owner', '=', owner)
        .where('status', 'in', OPEN_STATUSES)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async noteCallback(id, owner, { callbackAtMs, callbackTries }) {
      await kysely
        .updateTable('video_jobs')
        .set({ callback_at_ms: callbackAtMs, callback_tries: callbackTries, lease_owner: null, lease_until_ms: 0 })
        .where('id', '=', id)
        .where('lease_owner', '=', owner)
        .execute();
    },
    async end(job, changes, generation, facts) {
      const { isJobEnded, refused } = await database.applyBatch({
        source: { frames: framesOf([encodeGeneration(generation, job.accountId, facts)]) },
        columns: GENERATION_COLUMNS,
        lateBeforeMs: clock.nowMs() - lagMs,
        jobEnd: { id: job.id, columns: storable(await toChanges(sealing, job, changes)) },
      });
      if (refused.length > 0) throw new Error(`The record of a job is refused: ${refused[0]?.message ?? ''}`);
      return isJobEnded === true;
    },
    async remove({ accountId, workspaceId }, id) {
      const { numDeletedRows } = await kysely
        .deleteFrom('video_jobs')
        .where('id', '=', storableText(id))
        .where('account_id', '=', accountId)
        .where('workspace_id', '=', workspaceId)
        .where('status', 'not in', OPEN_STATUSES)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}

function leases({
  database: { kysely },
  clock,
  open,
}: Context): Pick<VideoJobStore, 'take' | 'leaseDue' | 'leaseCallbacks'> {
  const lease = async (
    request: Omit<LeaseRequest, 'except'>,
    orderBy: 'next_poll_ms' | 'callback_at_ms',
    isDue: (is: Is) => ReturnType<Is['and']>,
  ): Promise<readonly VideoJob[]> => {
    const nowMs = Math.floor(clock.nowMs());
    const isFree = (is: Is) =>
      is.and([isDue(is), is.or([is('lease_until_ms', '<=', nowMs), is('lease_until_ms', '>', nowMs + AHEAD_MS_MAX)])]);
    // Read first: an update waits for other writers even where it finds nothing, and all reads of its thread wait behind it.
    const due = await kysely
      .selectFrom('video_jobs')
      .select('id')
      .where(isFree)
      .orderBy(orderBy)
      .limit(request.limit)
      .execute();
    if (due.length === 0) return [];
    const ids = due.map(({ id }) => id);
    const rows = await kysely
      .updateTable('video_jobs')
      .set({ lease_owner: request.owner, lease_until_ms: nowMs + request.leaseMs })
      .where('id', 'in', ids)
      // Once more, for what another process took while this statement waited.
      .where(isFree)
      .returningAll()
      .execute();
    return open(rows);
  };
  return {
    async take({ accountId, workspaceId }, id, { owner, leaseMs }) {
      const rows = await kysely
        .updateTable('video_jobs')
        .set({ lease_owner: owner, lease_until_ms: Math.floor(clock.nowMs()) + leaseMs })
        .where('id', '=', storableText(id))
        .where('account_id', '=', accountId)
        .where('workspace_id', '=', workspaceId)
        // The process that submits a job is the only one that knows whether it was accepted.
        .where('is_submitted', '=', 1)
        .where('status', 'in', OPEN_STATUSES)
        .returningAll()
        .execute();
      return (await open(rows))[0];
    },
    leaseDue: (request) =>
      lease(request, 'next_poll_ms', (is) => {
        const nowMs = Math.floor(clock.nowMs());
        return is.and([
          is('status', 'in', OPEN_STATUSES),
          is.or([is('next_poll_ms', '<=', nowMs), is('next_poll_ms', '>', nowMs + AHEAD_MS_MAX)]),
          ...(request.except.length === 0
            ? []
            : [is.or([is('provider', 'is', null), is('provider', 'not in', request.except)])]),
        ]);
      }),
    leaseCallbacks: (request) =>
      lease(request, 'callback_at_ms', (is) => is.and([is('callback_at_ms', '<=', Math.floor(clock.nowMs()))])),
  };
}

type Is = ExpressionBuilder<Tables, 'video_jobs'>;

function readers(
  database: Database,
  open: (rows: readonly VideoJobsTable[]) => Promise<readonly VideoJob[]>,
): Pick<VideoJobStore, 'find' | 'list' | 'search' | 'countOpen'> {
  const { kysely, reports } = database;
  return {
    search: (search) => searchJobs(database, open, search),
    async find({ accountId, workspaceId }, id) {
      const rows = await kysely
        .selectFrom('video_jobs')
        .selectAll()
        .where('id', '=', storableText(id))
        .where('account_id', '=', accountId)
        .where('workspace_id', '=', workspaceId)
        .where('is_listed', '=', 1)
        .execute();
      return (await open(rows))[0];
    },
    async list({ accountId, workspaceId }, { limit, afterId, status }) {
      let query = kysely
        .selectFrom('video_jobs')
        .selectAll()
        .where('account_id', '=', accountId)
        .where('workspace_id', '=', workspaceId)
        .where('is_listed', '=', 1);
      if (afterId !== undefined) query = query.where('id', '<', storableText(afterId));
      if (status !== undefined) query = query.where('status', '=', status);
      return open(await query.orderBy('id', 'desc').limit(limit).execute());
    },
    async countOpen({ keyHash, accountId }) {
      const counted = reports
        .selectFrom('video_jobs')
        .select(({ fn }) => fn.countAll().as('jobs'))
        .where('status', 'in', OPEN_STATUSES);
      const [key, account] = await Promise.all([
        counted.where('key_hash', '=', keyHash).executeTakeFirst(),
        counted.where('account_id', '=', accountId).executeTakeFirst(),
      ]);
      return { key: numberOf(key?.jobs), account: numberOf(account?.jobs) };
    },
  };
}

async function toRow(sealing: Sealing, { facts, ...job }: VideoJob) {
  const { sealed, secretId } = await sealing.seal(facts, job);
  return { ...job, sealed, secretId };
}

async function toJob(sealing: Sealing, columns: VideoJobsTable): Promise<VideoJob> {
  const { sealed, secretId: _secretId, ...job } = videoJobRows.toRow(columns);
  return { ...job, facts: await sealing.open(sealed, job) };
}

async function toChanges(
  sealing: Sealing,
  of: VideoJobOwner,
  { facts, ...changes }: VideoJobChanges,
): Promise<Partial<VideoJobsTable>> {
  const sealed = facts === undefined ? {} : await sealing.seal(facts, of);
  return videoJobRows.toChanges({ ...changes, ...sealed });
}

function storable(columns: Partial<VideoJobsTable>): Readonly<Record<string, string | number | null>> {
  return Object.fromEntries(
    Object.entries(columns).map(([name, value]) => [name, typeof value === 'string' ? storableText(value) : value]),
  );
}

async function clearAway({ kysely }: Database, nowMs: number): Promise<boolean> {
  const over = await kysely
    .selectFrom('video_jobs')
    .select('id')
    .where('status', 'not in', OPEN_STATUSES)
    .where((is) =>
      is.or([
        is('expires_at_ms', '<=', nowMs),
        is.exists(
          is
            .selectFrom('workspaces')
            .select('workspaces.id')
            .whereRef('workspaces.id', '=', 'video_jobs.workspace_id')
            .where('workspaces.deleted_at_ms', 'is not', null),
        ),
      ]),
    )
    .limit(CLEAR_AT_ONCE_MAX)
    .execute();
  if (over.length > 0)
    await kysely
      .deleteFrom('video_jobs')
      .where(
        'id',
        'in',
        over.map(({ id }) => id),
      )
      .execute();
  return over.length === CLEAR_AT_ONCE_MAX;
}

/** Also for the tests of other folders: what of a job's columns is null when it is made. */
export const NEW_JOB = {
  isListed: true,
  isSubmitted: false,
  provider: null,
  progress: null,
  error: null,
  costNanoUsd: null,
  isByok: false,
  assets: [],
  finishedAtMs: null,
  polls: 0,
  missingSinceMs: null,
  missing: 0,
  callbackAtMs: null,
  callbackTries: 0,
  assetsUntilMs: null,
  expiresAtMs: null,
} as const satisfies Partial<VideoJob>;

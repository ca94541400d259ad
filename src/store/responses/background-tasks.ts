import type { Clock } from '../../lib/clock.ts';
import type { ResponseOwner } from '../../state/contract.ts';
import type { Database } from '../engine/database.ts';
import { numberOf, storableText } from '../portable.ts';
import { backgroundResponseRows, type BackgroundResponsesTable } from './columns.ts';
import type { Sealing } from './sealing.ts';

export type BackgroundState = 'queued' | 'running' | 'ended';

/** A response that is to run in the background. */
export interface NewBackgroundTask {
  readonly id: string;
  readonly owner: ResponseOwner;
  readonly createdAtMs: number;
  /** What it takes to run it, as JSON. */
  readonly request: string;
  /** Under which its first run is recorded. */
  readonly generationId: string;
}

/** One that a process has claimed. */
export interface BackgroundTask extends NewBackgroundTask {
  /** How often it began to run, this time included. */
  readonly runs: number;
  /** Another process ran it before, and is gone. */
  readonly wasLost: boolean;
  readonly isCancelled: boolean;
}

export interface BackgroundStatus {
  readonly state: BackgroundState;
}

export interface ClaimBounds {
  /** Running of one key at a time. */
  readonly perKey: number;
  readonly leaseMs: number;
}

/** Which process runs which background response. Every process that shares the database sees the same. */
export interface BackgroundTasks {
  /** `false`: so many of the key wait already. */
  add(task: NewBackgroundTask, waitingMax: number): Promise<boolean>;
  status(id: string): Promise<BackgroundStatus | undefined>;
  /** The oldest that may run, or whose process is gone. */
  claim(runner: string, bounds: ClaimBounds): Promise<BackgroundTask | undefined>;
  /** One that waits, to end it without a run. */
  claimWaiting(id: string, runner: string, leaseMs: number): Promise<BackgroundTask | undefined>;
  /** @returns whether it is still the runner's */
  renew(id: string, runner: string, leaseMs: number): Promise<boolean>;
  /** The charge of its next run is recorded under this id. */
  record(id: string, runner: string, generationId: string): Promise<void>;
  /** Those of the ids that are to stop: cancelled, or of another runner by now. */
  toStop(ids: readonly string[], runner: string): Promise<ReadonlyMap<string, 'cancelled' | 'lost'>>;
  /** Cancels it, unless it has ended. */
  cancel(id: string): Promise<void>;
  /** It waits again. */
  release(id: string, runner: string): Promise<void>;
  end(id: string, runner: string): Promise<void>;
  /** No process runs anything: the only one that could begins now. */
  forgetRunners(): Promise<void>;
}

/** Of keys that may run more, looked at in one claim. */
const CANDIDATES_MAX = 16;

interface Deps {
  readonly database: Database;
  readonly sealing: Sealing;
  readonly clock: Clock;
}

export function createBackgroundTasks(deps: Deps): BackgroundTasks {
  const { kysely } = deps.database;
  const { clock } = deps;
  const mine = (id: string, runner: string) =>
    kysely
      .updateTable('background_responses')
      .where('id', '=', storableText(id))
      .where('runner', '=', runner)
      .where('state', '=', 'running');
  return {
    add: (task, waitingMax) => add(deps, task, waitingMax),
    status: (id) => readStatus(deps, id),
    claim: (runner, bounds) => claim(deps, runner, bounds),
    claimWaiting: (id, runner, leaseMs) => claimWaiting(deps, id, runner, leaseMs),
    async renew(id, runner, leaseMs) {
      const renewed = { lease_until_ms: clock.nowMs() + leaseMs };
      const { numUpdatedRows } = await mine(id, runner).set(renewed).executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async record(id, runner, generationId) {
      await mine(id, runner).set({ generation_id: generationId }).execute();
    },
    toStop: (ids, runner) => findStops(deps, ids, runner),
    async cancel(id) {
      await kysely
        .updateTable('background_responses')
        .set({ cancelled_at_ms: clock.nowMs() })
        .where('id', '=', storableText(id))
        .where('state', '<>', 'ended')
        .where('cancelled_at_ms', 'is', null)
        .execute();
    },
    async release(id, runner) {
      await mine(id, runner).set({ state: 'queued', runner: null, lease_until_ms: null }).execute();
    },
    async end(id, runner) {
      const ended = { state: 'ended', ended_at_ms: clock.nowMs(), lease_until_ms: null };
      await mine(id, runner).set(ended).execute();
    },
    async forgetRunners() {
      await kysely
        .updateTable('background_responses')
        .set({ lease_until_ms: 0 })
        .where('state', '=', 'running')
        .execute();
    },
  };
}

async function add(
  { database: { kysely }, sealing }: Deps,
  { id, owner, createdAtMs, request, generationId }: NewBackgroundTask,
  waitingMax: number,
): Promise<boolean> {
  const { waiting } = await kysely
    .selectFrom('background_responses')
    .select(({ fn }) => fn.countAll().as('waiting'))
    .where('key_hash', '=', owner.keyHash)
    .where('state', '=', 'queued')
    .executeTakeFirstOrThrow();
  if (numberOf(waiting) >= waitingMax) return false;
  const columns = backgroundResponseRows.toColumns({
    id,
    ...owner,
    state: 'queued',
    createdAtMs,
    claimedAtMs: null,
    endedAtMs: null,
    runner: null,
    leaseUntilMs: null,
    runs: 0,
    generationId,
    cancelledAtMs: null,
    ...(await sealing.seal(request, owner)),
  });
  await kysely.insertInto('background_responses').values(columns).execute();
  // Of many at the same moment each has counted before the others were there.
  const before = await kysely
    .selectFrom('background_responses')
    .select(({ fn }) => fn.countAll().as('waiting'))
    .where('key_hash', '=', owner.keyHash)
    .where('state', '=', 'queued')
    .where((is) =>
      is.or([
        is('created_at_ms', '<', createdAtMs),
        is.and([is('created_at_ms', '=', createdAtMs), is('id', '<', id)]),
      ]),
    )
    .executeTakeFirstOrThrow();
  if (numberOf(before.waiting) < waitingMax) return true;
  const { numDeletedRows } = await kysely
    .deleteFrom('background_responses')
    .where('id', '=', id)
    .where('state', '=', 'queued')
    .executeTakeFirst();
  return numDeletedRows === 0n;
}

async function readStatus({ database: { kysely } }: Deps, id: string): Promise<BackgroundStatus | undefined> {
  const row = await kysely
    .selectFrom('background_responses')
    .select('state')
    .where('id', '=', storableText(id))
    .executeTakeFirst();
  return row && { state: stateOf(row.state) };
}

async function claimWaiting(
  deps: Deps,
  id: string,
  runner: string,
  leaseMs: number,
): Promise<BackgroundTask | undefined> {
  const row = await deps.database.kysely
    .selectFrom('background_responses')
    .selectAll()
    .where('id', '=', storableText(id))
    .where('state', '=', 'queued')
    .executeTakeFirst();
  return row && (await take(deps, row, runner, leaseMs));
}

async function findStops(
  { database: { kysely } }: Deps,
  ids: readonly string[],
  runner: string,
): Promise<ReadonlyMap<string, 'cancelled' | 'lost'>> {
  const stops = new Map<string, 'cancelled' | 'lost'>();
  if (ids.length === 0) return stops;
  const rows = await kysely
    .selectFrom('background_responses')
    .select(['id', 'runner', 'state', 'cancelled_at_ms'])
    .where('id', 'in', ids)
    .execute();
  const found = new Map(rows.map((row) => [row.id, row]));
  for (const id of ids) {
    const row = found.get(id);
    if (row?.runner !== runner || row.state !== 'running') stops.set(id, 'lost');
    else if (row.cancelled_at_ms !== null) stops.set(id, 'cancelled');
  }
  return stops;
}

function stateOf(state: string): BackgroundState {
  return state === 'queued' || state === 'running' ? state : 'ended';
}

async function claim(
  deps: Deps,
  runner: string,
  { perKey, leaseMs }: ClaimBounds,
): Promise<BackgroundTask | undefined> {
  const { kysely } = deps.database;
  const nowMs = deps.clock.nowMs();
  const busy = await kysely
    .selectFrom('background_responses')
    .select('key_hash')
    .where('state', '=', 'running')
    .where('lease_until_ms', '>', nowMs)
    .groupBy('key_hash')
    .having(({ fn }) => fn.countAll(), '>=', perKey)
    .execute();
  const busyKeys = busy.map((row) => row.key_hash);
  const candidates = await kysely
    .selectFrom('background_responses')
    .selectAll()
    .where((is) =>
      is.or([
        is.and([is('state', '=', 'queued'), ...(busyKeys.length === 0 ? [] : [is('key_hash', 'not in', busyKeys)])]),
        is.and([is('state', '=', 'running'), is('lease_until_ms', '<=', nowMs)]),
      ]),
    )
    .orderBy('created_at_ms')
    .limit(CANDIDATES_MAX)
    .execute();
  for (const row of candidates) {
    const task = await take(deps, row, runner, leaseMs);
    if (task === undefined) continue;
    // Another process may have claimed one of the same key at the same moment.
    if (await isAmongFirst(deps, row, perKey)) return task;
    await kysely
      .updateTable('background_responses')
      .set({ state: 'queued', runner: null, lease_until_ms: null, runs: task.runs - 1 })
      .where('id', '=', row.id)
      .where('runner', '=', runner)
      .execute();
  }
  return undefined;
}

/** `undefined`: another process was faster. */
async function take(
  { database: { kysely }, clock, sealing }: Deps,
  row: BackgroundResponsesTable,
  runner: string,
  leaseMs: number,
): Promise<BackgroundTask | undefined> {
  const nowMs = clock.nowMs();
  const runs = numberOf(row.runs) + 1;
  const { numUpdatedRows } = await kysely
    .updateTable('background_responses')
    .set({ state: 'running', runner, lease_until_ms: nowMs + leaseMs, claimed_at_ms: nowMs, runs })
    .where('id', '=', row.id)
    .where('state', '=', row.state)
    .where('runs', '=', row.runs)
    .where('runner', row.runner === null ? 'is' : '=', row.runner)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return undefined;
  const owner = { accountId: row.account_id, workspaceId: row.workspace_id, keyHash: row.key_hash };
  return {
    id: row.id,
    owner,
    createdAtMs: numberOf(row.created_at_ms),
    generationId: row.generation_id,
    request: await sealing.open(row.sealed, owner),
    runs,
    wasLost: row.state === 'running',
    isCancelled: row.cancelled_at_ms !== null,
  };
}

async function isAmongFirst(
  { database: { kysely }, clock }: Deps,
  { id, key_hash: keyHash }: BackgroundResponsesTable,
  perKey: number,
): Promise<boolean> {
  const rows = await kysely
    .selectFrom('background_responses')
    .select('id')
    .where('key_hash', '=', keyHash)
    .where('state', '=', 'running')
    .where('lease_until_ms', '>', clock.nowMs())
    .orderBy('claimed_at_ms')
    .orderBy('id')
    .limit(perKey)
    .execute();
  return rows.some((row) => row.id === id);
}

import { hash, randomUUID } from 'node:crypto';
import type { InternSchedule } from '../resources/interns.ts';
import type { InternRow, InternRunRow, InternScheduleRow } from '../store/interns/columns.ts';
import type { ScheduleStore } from '../store/interns/schedules.ts';
import { addJob, type LifecycleDeps } from './lifecycle.ts';
import { newRun, newSession } from './new-run.ts';
import { nextDueMs } from './schedule-rows.ts';

export interface ScheduleNotices {
  /** As many runs as the agent may have were under way. */
  skipped(intern: InternRow, scheduleId: string): void;
  /** So many runs have failed one after the other that it begins none any more. */
  paused(intern: InternRow, scheduleId: string): void;
}

export interface SchedulesDeps extends Pick<LifecycleDeps, 'runs' | 'jobs' | 'clock' | 'selfDrive'> {
  readonly interns: Pick<LifecycleDeps['store'], 'find'>;
  readonly schedules: ScheduleStore;
  readonly notices: ScheduleNotices;
}

export interface Schedules {
  /** Begins the runs that are due. @returns whether there may be more */
  runDue(): Promise<boolean>;
  /** A run failed: after too many of its schedule, that pauses. */
  failed(run: Pick<InternRunRow, 'internId' | 'scheduleId'>): Promise<void>;
}

const AT_ONCE_MAX = 100;
/** Later than this a run has been missed: the gateway or the agent was stopped. */
const LATE_MS = 120_000;
/** Schedules of one minute do not all begin in the same second. */
const SPREAD_MS = 30_000;
const FAILURES_MAX = 5;
/** How long it is known that a run of this time was begun: longer than any two schedules of the same time are apart. */
const BEGUN_KEPT_MS = 3_456_000_000;
const HASH_DIGITS = 8;

export function createSchedules(deps: SchedulesDeps): Schedules {
  const { schedules, interns, clock } = deps;
  const pauseIfFailing = async (intern: InternRow, row: InternScheduleRow): Promise<boolean> => {
    const states = await schedules.lastStates(row, FAILURES_MAX);
    if (states.length < FAILURES_MAX || states.some((state) => state !== 'failed' && state !== 'expired')) return false;
    const isPaused = await schedules.moveOn(row, { dueAtMs: null, pausedAtMs: clock.nowMs() });
    if (isPaused && row.pausedAtMs === null) deps.notices.paused(intern, row.id);
    return true;
  };
  return {
    async runDue() {
      const due = await schedules.due(clock.nowMs(), AT_ONCE_MAX);
      let settled = 0;
      for (const row of due) {
        const intern = await interns.find(row.internId);
        if (intern === undefined || row.dueAtMs === null) continue;
        const isSettled = (await pauseIfFailing(intern, row)) || (await runOne(deps, intern, row, row.dueAtMs));
        if (isSettled) settled++;
      }
      // Those that wait for their second stay due, and are no reason to look again at once.
      return due.length === AT_ONCE_MAX && settled > 0;
    },
    async failed({ internId, scheduleId }) {
      if (scheduleId === null) return;
      const row = (await schedules.ofIntern(internId)).find(({ id }) => id === scheduleId);
      const intern = await interns.find(internId);
      if (row?.pausedAtMs === null && intern !== undefined) await pauseIfFailing(intern, row);
    },
  };
}

/**
 * Begins the run of a due time, and then moves the schedule on: whatever ends in between, another process finds the same run
 * by the id of its time, and begins no second one. @spec intern-22
 * @returns whether it is due no more
 */
async function runOne(
  deps: SchedulesDeps,
  intern: InternRow,
  row: InternScheduleRow,
  dueAtMs: number,
): Promise<boolean> {
  const { schedules, clock, notices } = deps;
  const nowMs = clock.nowMs();
  const schedule = intern.settings.schedules.find(({ id }) => id === row.id);
  const next = schedule?.enabled === true ? nextDueMs(schedule, nowMs) : null;
  const isMissed = nowMs - dueAtMs > LATE_MS;
  if (schedule?.enabled !== true || (isMissed && schedule.catch_up === 'none')) {
    await schedules.moveOn(row, { dueAtMs: next });
    return true;
  }
  if (nowMs < dueAtMs + spreadMs(row)) return false;
  const outcome = await begin(deps, intern, schedule, dueAtMs);
  if (outcome === 'stopped') return false;
  const isMine = await schedules.moveOn(row, { dueAtMs: next });
  if (isMine && outcome === 'full') notices.skipped(intern, row.id);
  return true;
}

async function begin(
  { runs, jobs, clock, selfDrive }: SchedulesDeps,
  intern: InternRow,
  { id, prompt }: InternSchedule,
  dueAtMs: number,
): Promise<string> {
  const nowMs = clock.nowMs();
  const { approval, limits } = intern.settings;
  const approvalMode = approval.mode === 'self-drive' && selfDrive ? 'self-drive' : 'manual';
  const runTrigger = 'schedule';
  const run = newRun(intern, { sessionId: randomUUID(), runTrigger, approvalMode, scheduleId: id }, nowMs);
  const callId = hash('sha256', `schedule\0${intern.id}\0${id}\0${dueAtMs}`, 'hex');
  const begun = await runs.begin(
    {
      run,
      // Its questions are answered, and its texts read, as in a session of the creator's.
      session: newSession(run, intern.creatorKeyHash),
      prompt,
      call: { id: callId, bodyHash: '', subjectId: run.id, expiresAtMs: nowMs + BEGUN_KEPT_MS },
      concurrentMax: limits.max_concurrent_runs,
      ownSessionOnly: true,
    },
    nowMs,
  );
  if (begun.outcome === 'begun' || begun.outcome === 'replayed') await addJob(jobs, begun.run);
  return begun.outcome;
}

/** The same for each time of a schedule, so that two processes agree. */
function spreadMs({ internId, id }: InternScheduleRow): number {
  return Number.parseInt(hash('sha256', `${internId} ${id}`, 'hex').slice(0, HASH_DIGITS), 16) % SPREAD_MS;
}

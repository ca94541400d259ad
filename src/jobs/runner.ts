import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '../lib/json.ts';
import type { Job } from '../store/jobs/columns.ts';
import type { JobNext } from '../store/jobs/jobs.ts';
import { JobLost, type JobKind, type JobOutcome } from './contract.ts';
import { KEEP_MS, RUNS_MAX, type JobsDeps, type JobTimes } from './engine-deps.ts';

export interface RunnerDeps extends Omit<JobsDeps, 'times'> {
  readonly times: JobTimes;
  readonly kinds: ReadonlyMap<string, JobKind>;
  /** The name of this process among those that share the database. */
  readonly owner: string;
}

interface Underway {
  readonly kind: string;
  readonly controller: AbortController;
  readonly over: Promise<void>;
  /** By the monotonic clock: from then on another process may run it. */
  leaseEndsMs: number;
  end?: 'cancelled' | 'lost' | 'closing';
}

/** What a checkpoint may have as JSON: it is a place in the work, and not its result. */
export const CHECKPOINT_CHARS_MAX = 65_536;
/** After which a job is leased again whose earlier run in this process has lost it and not ended. */
const AFTER_LOST_MS = 1_000;

/** Jobs under way in this process. A class because they outlive the round that began them. */
export class Runner {
  readonly #deps: RunnerDeps;
  readonly #underway = new Map<string, Underway>();
  #looking: Promise<void> | undefined;
  #looksAgain = false;
  #isStarted = false;
  #isClosing = false;

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#isStarted = true;
  }

  /** Takes jobs that are due, and begins to run them. */
  async round(): Promise<boolean> {
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    await this.#looking;
    return false;
  }

  /** A job may run now: it does not wait for the next round. */
  nudge(): void {
    if (!this.#isStarted || this.#isClosing) return;
    if (this.#looking !== undefined) this.#looksAgain = true;
    else this.round().catch(this.#deps.onHousekeepingFailed);
  }

  /** Keeps the leases of what runs, and ends what is cancelled or another process's by now. */
  async renew(): Promise<boolean> {
    const { store, owner, times, clock } = this.#deps;
    const ids = [...this.#underway.keys()];
    if (ids.length === 0) return false;
    const sinceMs = clock.monotonicMs();
    try {
      const mine = await store.renew(ids, owner, times.leaseMs);
      for (const id of ids) {
        const state = mine.get(id);
        if (state === undefined) this.#abort(id, 'lost');
        else if (state.isCancelled) this.#abort(id, 'cancelled');
        else this.#extend(id, sinceMs + times.leaseMs);
      }
    } finally {
      // The database is away: by now another process may have them.
      for (const [id, { leaseEndsMs }] of this.#underway)
        if (leaseEndsMs <= clock.monotonicMs()) this.#abort(id, 'lost');
    }
    return false;
  }

  /** Ends the run of a job that was cancelled here. */
  stop(id: string): void {
    this.#abort(id, 'cancelled');
  }

  /** Ends all runs. What takes longer than a moment is left to the next process. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#looking?.catch(() => undefined);
    for (const id of this.#underway.keys()) this.#abort(id, 'closing');
    const all = Promise.all([...this.#underway.values()].map(({ over }) => over));
    await Promise.race([all, delay(this.#deps.times.closeMs, undefined, { ref: false })]);
  }

  async #look(): Promise<void> {
    const { store, owner, kinds, clock, times } = this.#deps;
    do {
      this.#looksAgain = false;
      for (const { kind, runsMax = RUNS_MAX } of kinds.values()) {
        const limit = Math.min(runsMax, RUNS_MAX) - this.#countOf(kind);
        if (limit <= 0 || this.#isClosing) continue;
        const sinceMs = clock.monotonicMs();
        const leased = await store.lease({ owner, kind, leaseMs: times.leaseMs, limit });
        for (const job of leased) await this.#begin(job, sinceMs + times.leaseMs);
      }
    } while (this.#looksAgain && !this.#isClosing);
  }

  #countOf(kind: string): number {
    return [...this.#underway.values()].filter((run) => run.kind === kind).length;
  }

  #extend(id: string, leaseEndsMs: number): void {
    const run = this.#underway.get(id);
    if (run !== undefined) run.leaseEndsMs = leaseEndsMs;
  }

  #abort(id: string, end: NonNullable<Underway['end']>): void {
    const run = this.#underway.get(id);
    if (run === undefined || run.end !== undefined) return;
    run.end = end;
    run.controller.abort(new JobLost());
  }

  async #begin(job: Job, leaseEndsMs: number): Promise<void> {
    const { store, owner, kinds, onFailed } = this.#deps;
    const kind = kinds.get(job.kind);
    // Its lease was lost here, and the run that had it has not ended yet.
    if (kind === undefined || this.#underway.has(job.id)) {
      await store.end(job.id, owner, { state: 'queued', delayMs: AFTER_LOST_MS, uncounted: true });
      return;
    }
    const controller = new AbortController();
    const over = this.#run(kind, job, controller.signal)
      .catch((error: unknown) => onFailed(error, job))
      .finally(() => {
        this.#underway.delete(job.id);
        this.nudge();
      });
    this.#underway.set(job.id, { kind: job.kind, controller, over, leaseEndsMs });
  }

  async #run(kind: JobKind, job: Job, signal: AbortSignal): Promise<void> {
    const { store, owner } = this.#deps;
    // In the next turn of the loop: by then the run is known as under way.
    await Promise.resolve();
    if (job.isCancelled) return this.#end(kind, job, { state: 'cancelled', keepMs: kind.keepMs ?? KEEP_MS });
    // Its process ended while it ran, again and again.
    if (job.attempt > kind.retryDelaysMs.length + 1)
      return this.#giveUp(kind, job, job.error ?? 'Each process that ran it ended before it did.');
    let attempt = job.attempt;
    try {
      const save = async (checkpoint: JsonObject): Promise<void> => {
        if (!(await store.save(job.id, owner, bounded(checkpoint)))) throw new JobLost();
        attempt = 1;
      };
      const outcome = await kind.run({ job, signal, save });
      await this.#conclude(kind, job, outcome);
    } catch (error) {
      await this.#afterError(kind, job, attempt, error);
    }
  }

  async #conclude(kind: JobKind, job: Job, outcome: JobOutcome): Promise<void> {
    const { checkpoint } = outcome;
    if (outcome.state === 'failed') return this.#giveUp(kind, job, outcome.error, checkpoint);
    const keepMs = kind.keepMs ?? KEEP_MS;
    if (outcome.state === 'done') return this.#end(kind, job, { state: 'done', keepMs }, checkpoint);
    // A run that says "again" is not over: a cancel meanwhile ends it.
    if (this.#underway.get(job.id)?.end === 'cancelled')
      return this.#end(kind, job, { state: 'cancelled', keepMs }, checkpoint);
    if (outcome.state === 'waiting') return this.#end(kind, job, { state: 'waiting' }, checkpoint);
    return this.#end(kind, job, { state: 'queued', delayMs: outcome.afterMs, error: outcome.error }, checkpoint);
  }

  async #afterError(kind: JobKind, job: Job, attempt: number, error: unknown): Promise<void> {
    const end = this.#underway.get(job.id)?.end;
    if (end === 'lost') return undefined;
    if (end === 'cancelled') return this.#end(kind, job, { state: 'cancelled', keepMs: kind.keepMs ?? KEEP_MS });
    if (end === 'closing') return this.#end(kind, job, { state: 'queued', delayMs: 0, uncounted: true });
    if (error instanceof JobLost) return undefined;
    this.#deps.onFailed(error, job);
    const message = error instanceof Error ? error.message : String(error);
    const delayMs = kind.retryDelaysMs[attempt - 1];
    if (delayMs === undefined) return this.#giveUp(kind, job, message);
    return this.#end(kind, job, { state: 'queued', delayMs, error: message });
  }

  async #giveUp(kind: JobKind, job: Job, error: string, checkpoint?: JsonObject): Promise<void> {
    const { store, owner, times } = this.#deps;
    // Another process that has it by now decides. The fresh lease keeps it here while its area ends the work.
    if (!(await store.renew([job.id], owner, times.leaseMs)).has(job.id)) return undefined;
    await kind.onGivenUp?.(job, error);
    return this.#end(kind, job, { state: 'failed', error, keepMs: kind.keepMs ?? KEEP_MS }, checkpoint);
  }

  async #end(kind: JobKind, job: Job, next: JobNext, checkpoint?: JsonObject): Promise<void> {
    const { store, owner, onEnded } = this.#deps;
    const isMine = await store.end(job.id, owner, next, checkpoint && bounded(checkpoint));
    if (isMine) onEnded(kind.kind, next.state === 'queued' ? 'again' : next.state);
  }
}

function bounded(checkpoint: JsonObject): JsonObject {
  const { length } = JSON.stringify(checkpoint);
  if (length > CHECKPOINT_CHARS_MAX)
    throw new Error(`The checkpoint of the job has ${length} characters, more than ${CHECKPOINT_CHARS_MAX}.`);
  return checkpoint;
}

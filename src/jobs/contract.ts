import type { JsonObject } from '../lib/json.ts';
import type { Job } from '../store/jobs/columns.ts';

/** What a run knows of its job. */
export interface JobRun {
  readonly job: Job;
  /** The job was cancelled, another process has it, or the gateway stops: the run ends soon. */
  readonly signal: AbortSignal;
  /**
   * Stores how far the run is: another process goes on from there, and failures count from there.
   * @throws JobLost when the job is not this run's any more: the run ends without any further effect
   */
  readonly save: (checkpoint: JsonObject) => Promise<void>;
}

/** What a run left. */
export type JobOutcome =
  | { readonly state: 'done'; readonly checkpoint?: JsonObject }
  /** For good. */
  | { readonly state: 'failed'; readonly error: string; readonly checkpoint?: JsonObject }
  /** Once more, after a time that the kind chose; it counts as an attempt, but is never the last. */
  | { readonly state: 'again'; readonly afterMs: number; readonly error?: string; readonly checkpoint?: JsonObject }
  /** Until `Jobs.wake`. */
  | { readonly state: 'waiting'; readonly checkpoint?: JsonObject };

/**
 * A kind of job, which its area registers. A run may begin again at any moment of an earlier one: what it does, it does
 * under an id, or looks first whether it is done.
 */
export interface JobKind {
  readonly kind: string;
  /** @throws Error to be tried again after the next of `retryDelaysMs`, and to fail when none is left */
  run(run: JobRun): Promise<JobOutcome>;
  readonly retryDelaysMs: readonly number[];
  /** It failed for good, whatever the reason; called before the row says so, maybe more than once. */
  onGivenUp?(job: Job, error: string): Promise<void>;
  /** Runs of this kind at a time in one process. Default and most: `RUNS_MAX`. */
  readonly runsMax?: number;
  /** Jobs of this kind that are not over, beyond which none is added. Default: `OPEN_MAX`. */
  readonly openMax?: number;
  /** How long the row of a job that is over stays. Default: `KEEP_MS`. */
  readonly keepMs?: number;
}

/** The job is not this run's any more: it was cancelled, or another process has it. */
export class JobLost extends Error {
  constructor() {
    super('The job is not run by this process any more.');
    this.name = 'JobLost';
  }
}

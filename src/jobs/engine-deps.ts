import type { Clock } from '../lib/clock.ts';
import type { Job } from '../store/jobs/columns.ts';
import type { JobStore } from '../store/jobs/jobs.ts';

/** Times of the engine; tests have shorter ones. */
export interface JobTimes {
  /** Between two looks for jobs that are due. */
  readonly tickMs: number;
  readonly leaseMs: number;
  readonly renewMs: number;
  /** What a run that is to end may still take. */
  readonly closeMs: number;
}

export interface JobsDeps {
  readonly store: JobStore;
  readonly clock: Clock;
  /** Whether no other process can have the database. */
  readonly isAlone: boolean;
  /** Whether this process runs jobs; one process of a gateway does. Every process may add them. */
  readonly runs: boolean;
  readonly times?: Partial<JobTimes> | undefined;
  readonly onEnded: (kind: string, outcome: string) => void;
  /** A run failed, or what became of it could not be stored. */
  readonly onFailed: (error: unknown, job: Pick<Job, 'id' | 'kind'>) => void;
  readonly onHousekeepingFailed: (error: unknown) => void;
}

/** Runs of one kind at a time in a process. Each kind has its own places: one whose runs take hours holds up no other. */
export const RUNS_MAX = 4;
export const OPEN_MAX = 10_000;
export const KEEP_MS = 604_800_000;

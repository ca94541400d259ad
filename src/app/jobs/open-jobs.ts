import type { Clock } from '../../lib/clock.ts';
import type { JobTimes } from '../../jobs/engine-deps.ts';
import { createJobs, type Jobs } from '../../jobs/jobs.ts';
import type { Database } from '../../store/engine/database.ts';
import { createJobStore } from '../../store/jobs/jobs.ts';
import type { Log } from '../../telemetry/logs.ts';
import type { Metrics } from '../../telemetry/metrics.ts';

interface JobsParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly keepsStore: boolean;
  /** For tests. */
  readonly jobTimes?: Partial<JobTimes> | undefined;
}

/** The engine for work that outlives a request. Areas register their kinds before it is started. */
export function openJobs({ database, clock, log, metrics, keepsStore, jobTimes }: JobsParts): Jobs {
  return createJobs({
    store: createJobStore(database),
    clock,
    isAlone: database.engine === 'sqlite',
    runs: keepsStore,
    times: jobTimes,
    onEnded: (kind, outcome) => metrics.jobEnded(kind, outcome),
    onFailed: (error, { id, kind }) =>
      log.general.warn({ err: error, id, kind }, 'a job failed, or could not be stored'),
    onHousekeepingFailed: (error) => log.general.warn({ err: error }, 'jobs could not be looked at: tried again later'),
  });
}

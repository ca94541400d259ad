import type { VideoJob } from '../store/video-jobs/columns.ts';
import { pollJob, type PollDeps } from './poll-job.ts';

export interface PollerDeps extends PollDeps {
  /** Looks at one provider that run at a time. */
  readonly pollAtOnce: number;
  /** A look failed in a way that no provider explains: the job is looked at again once its lease is over. */
  readonly onFailed: (error: unknown, jobId: string) => void;
}

/** Looks under way. A class because they outlive the round that began them. */
export class Poller {
  readonly #deps: PollerDeps;
  readonly #underWay = new Map<string, { readonly provider: string; readonly look: Promise<void> }>();

  constructor(deps: PollerDeps) {
    this.#deps = deps;
  }

  /** Takes jobs that are due and begins to look at them. @returns whether there may be more */
  async round(): Promise<boolean> {
    const { pollAtOnce, jobs, owner, times } = this.#deps;
    const counts = new Map<string, number>();
    for (const { provider } of this.#underWay.values()) counts.set(provider, (counts.get(provider) ?? 0) + 1);
    const except = [...counts].filter(([, count]) => count >= pollAtOnce).map(([provider]) => provider);
    // Whichever provider the jobs are of, it gets no more than its number.
    const most = Math.max(0, ...[...counts.values()].filter((count) => count < pollAtOnce));
    const limit = pollAtOnce - most;
    const due = await jobs.leaseDue({ owner, leaseMs: times.leaseMs, limit, except });
    for (const job of due) this.#begin(job);
    if (due.length < limit) return false;
    await Promise.race([...this.#underWay.values()].map(({ look }) => look));
    return true;
  }

  /** Settles when all looks under way are over. */
  async idle(): Promise<void> {
    await Promise.all([...this.#underWay.values()].map(({ look }) => look));
  }

  #begin(job: VideoJob): void {
    const look = pollJob(this.#deps, job)
      .catch((error: unknown) => this.#deps.onFailed(error, job.id))
      .finally(() => this.#underWay.delete(job.id));
    this.#underWay.set(job.id, { provider: job.provider ?? '', look });
  }
}

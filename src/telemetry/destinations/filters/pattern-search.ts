import { createJobThreads } from '../../../lib/threads/job-threads.ts';
import type { PatternJob } from './pattern-job.ts';

/** Looks for the patterns of filter rules beside the process's streams. */
export interface PatternSearch {
  /** @throws JobError when it takes too long, or too many wait */
  search(job: PatternJob): Promise<readonly boolean[]>;
  close(): Promise<void>;
}

const WAITING_MAX = 64;
const MEMORY_BYTES_MAX = 134_217_728;
const IDLE_MS = 60_000;
/** Time for all patterns of a destination on one generation, including the start of a thread. No request waits for it. */
const SEARCH_MS_MAX = 2_000;

export function createPatternSearch({
  searchMsMax = SEARCH_MS_MAX,
}: { readonly searchMsMax?: number } = {}): PatternSearch {
  const threads = createJobThreads<PatternJob, readonly boolean[]>({
    script: new URL('./pattern-thread.ts', import.meta.url),
    threadsMax: 1,
    waitingMax: WAITING_MAX,
    memoryBytesMax: MEMORY_BYTES_MAX,
    idleMs: IDLE_MS,
  });
  const never = new AbortController().signal;
  return {
    search: (job) => threads.run(job, searchMsMax, never),
    close: () => threads.close(),
  };
}

import { createJobThreads, JobError, type JobFault } from '../lib/job-threads.ts';
import type { FileFault, TextJob, TextResult } from './job.ts';

/** Threads that make text of files, whoever sent them. */
const THREADS_MAX = 2;
const WAITING_MAX = 64;
/** Of one thread: a file of the largest size, what it unpacks to page by page, and the libraries. */
const MEMORY_BYTES_MAX = 768 * 1_024 * 1_024;
const IDLE_MS = 60_000;
/** Most files take a tenth of it. Whoever sends one that takes all of its time keeps others from a thread for no longer. */
const SHARE_MS = 5_000;

/** Why there is no text: the file's fault, or that of whoever was to read it. */
export type TextFault = FileFault | JobFault;

export type TextOutcome =
  | Extract<TextResult, { status: 'read' }>
  | { readonly status: 'failed'; readonly fault: TextFault };

/** Makes text of pages and PDFs beside the thread that serves requests. */
export interface TextMaker {
  /** Never rejects. */
  read(job: TextJob, timeoutMs: number, signal: AbortSignal): Promise<TextOutcome>;
  close(): Promise<void>;
}

export function createTextMaker(): TextMaker {
  const threads = createJobThreads<TextJob, TextResult>({
    script: new URL('./text-thread.ts', import.meta.url),
    threadsMax: THREADS_MAX,
    waitingMax: WAITING_MAX,
    memoryBytesMax: MEMORY_BYTES_MAX,
    idleMs: IDLE_MS,
    shareMs: SHARE_MS,
  });
  return {
    async read(job, timeoutMs, signal) {
      try {
        // A copy is handed over: the caller's bytes may be part of something larger, and are still needed.
        const bytes = Uint8Array.from(job.bytes);
        return await threads.run({ ...job, bytes }, timeoutMs, [bytes.buffer], signal);
      } catch (error) {
        if (error instanceof JobError) return { status: 'failed', fault: error.fault };
        throw error;
      }
    },
    close: () => threads.close(),
  };
}

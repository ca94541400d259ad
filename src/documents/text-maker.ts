import { createJobThreads, JobError, type JobFault } from '../lib/threads/job-threads.ts';
import type { FileFault, TextJob, TextResult, TextThreadData } from './job.ts';

/** Threads that extract text, shared by all callers. */
const THREADS_MAX = 2;
const WAITING_MAX = 64;
/** Of one thread: a file of the largest size, what it unpacks to page by page, and the libraries. */
const THREAD_BYTES_MAX = 768 * 1_024 * 1_024;
/** With less for each of them, one thread has all of it. */
const THREAD_BYTES_USUAL_MIN = 512 * 1_024 * 1_024;
/** More than a file of the largest size, and than any stream of a file that people read. */
const BUFFER_BYTES_MAX = 64 * 1_024 * 1_024;
/** The largest buffer, as a part of what its thread may hold: the same bytes are there three times while they are unpacked. */
const BUFFER_SHARE_MAX = 0.25;
/** Of what the process may use: beyond that no file is worth the process. */
const PROCESS_SHARE_MAX = 0.85;
const IDLE_MS = 60_000;
/** Most files take a tenth of it. A file that takes all of its time occupies a thread for no longer. */
const SHARE_MS = 5_000;

/** Why there is no text: a fault of the file, or of its reader. */
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

export interface TextMakerOptions {
  /** What all threads together may hold. */
  readonly memoryBytes: number;
  /** What the process may use as a whole. */
  readonly processBytes: number;
}

export function createTextMaker({ memoryBytes, processBytes }: TextMakerOptions): TextMaker {
  const threadsMax = memoryBytes < THREADS_MAX * THREAD_BYTES_USUAL_MIN ? 1 : THREADS_MAX;
  const memoryBytesMax = Math.min(THREAD_BYTES_MAX, memoryBytes / threadsMax);
  const threadData: TextThreadData = {
    bufferBytesMax: Math.floor(Math.min(BUFFER_BYTES_MAX, memoryBytesMax * BUFFER_SHARE_MAX)),
  };
  const threads = createJobThreads<TextJob, TextResult>({
    script: new URL('./text-thread.ts', import.meta.url),
    threadsMax,
    waitingMax: WAITING_MAX,
    memoryBytesMax,
    processBytesMax: processBytes * PROCESS_SHARE_MAX,
    threadData,
    idleMs: IDLE_MS,
    shareMs: SHARE_MS,
    pack(job) {
      // A copy is handed over: the caller's bytes may be part of something larger, and are still needed.
      const bytes = new Uint8Array(job.bytes);
      return { job: { ...job, bytes }, transfer: [bytes.buffer] };
    },
  });
  return {
    async read(job, timeoutMs, signal) {
      try {
        return await threads.run(job, timeoutMs, signal);
      } catch (error) {
        if (error instanceof JobError) return { status: 'failed', fault: error.fault };
        throw error;
      }
    },
    close: () => threads.close(),
  };
}

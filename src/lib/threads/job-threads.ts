import { Worker, type Transferable } from 'node:worker_threads';
import { THREAD_READY } from './thread-ready.ts';

/** Why a job gave no result. `displaced`: it had used up its share of time while other jobs waited. */
export type JobFault = 'busy' | 'timeout' | 'displaced' | 'memory' | 'aborted' | 'crashed';

export class JobError extends Error {
  readonly fault: JobFault;

  constructor(fault: JobFault, options?: ErrorOptions) {
    super(`The job ended without a result: ${fault}`, options);
    this.name = 'JobError';
    this.fault = fault;
  }
}

export interface JobThreadsOptions<Job> {
  /**
   * The module that each thread runs. It says `THREAD_READY` once it is loaded, and answers every message of its parent
   * with one message, in order.
   */
  readonly script: URL;
  /** How long a thread may take until it is ready. Default: `START_MS_MAX`. */
  readonly startMsMax?: number;
  readonly threadsMax: number;
  /** Jobs that may wait for a thread; a further job is refused. */
  readonly waitingMax: number;
  /** The memory of one thread: its heap, and buffers outside of the heap. */
  readonly memoryBytesMax: number;
  /** While the process holds more than this, threads that hold much of their memory are ended. Absent: no such limit. */
  readonly processBytesMax?: number;
  /** Given to each thread as its `workerData`. */
  readonly threadData?: unknown;
  /** Makes the message when a thread takes the job, so that nothing is copied for jobs that wait. Absent: the job itself. */
  readonly pack?: (job: Job) => PackedJob<Job>;
  /** A thread without a job ends after this. */
  readonly idleMs: number;
  /**
   * A job that has run for this time continues only while no other job waits for a thread, so that a job that never ends
   * takes no more than this from others. Absent: every job may use its whole time limit.
   */
  readonly shareMs?: number;
}

export interface PackedJob<Job> {
  readonly job: Job;
  /** Objects of the job that are transferred to the thread instead of copied. */
  readonly transfer: readonly Transferable[];
}

export interface JobThreads<Job, Result> {
  /**
   * @param timeoutMs from when a thread that is ready takes the job
   * @throws JobError
   */
  run(job: Job, timeoutMs: number, signal: AbortSignal): Promise<Result>;
  /** Ends every thread, also in the middle of a job. */
  close(): Promise<void>;
}

interface QueuedJob<Job, Result> {
  readonly job: Job;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Takes the job out of the queue when its caller aborts. */
  readonly leave: () => void;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: JobError) => void;
}

/** Until a thread is ready. A start takes some 50 ms of a processor. */
const START_MS_MAX = 10_000;
/** Interval between two measurements of a thread's memory: in that time it can write some 20 MB. */
const WATCH_MS = 5;
/** A thread that held more than this part of its memory ends with its job, which frees the memory at once. */
const REUSED_SHARE_MAX = 0.5;
/** A part of its memory. Ending a thread that holds less does not help a process that holds too much. */
const SHED_SHARE_MIN = 0.25;
/**
 * V8's own heap limit, as a multiple of ours, for a thread that does not answer. V8 gives a thread that reaches it 16 MB to
 * end itself; a garbage collection that needs more ends the whole process instead.
 * @source node `Worker::NearHeapLimit`, 24.x; seen 2026-11: 199 MB held at a limit of 128 MB
 */
const HEAP_LIMITS_MAX = 8;

/**
 * Threads for long work and for input from callers. Each job has a time limit and a memory limit, and a thread that exceeds
 * one of them is terminated in the middle of its work.
 */
export function createJobThreads<Job, Result>(options: JobThreadsOptions<Job>): JobThreads<Job, Result> {
  const waiting = new Set<QueuedJob<Job, Result>>();
  const all = new Set<Worker>();
  const idle = createIdleThreads(options.idleMs, (thread) => void drop(thread));
  const shares = createShares(options.shareMs, () => waiting.size);
  let isClosed = false;

  function serve(): void {
    for (const queued of waiting) {
      if (idle.count() === 0 && all.size >= options.threadsMax) return shares.makeRoom();
      waiting.delete(queued);
      // A signal may outlive many jobs and must not keep them in memory.
      queued.signal.removeEventListener('abort', queued.leave);
      void work(takeThread(), queued);
    }
  }

  function takeThread(): TakenThread {
    const known = idle.take();
    if (known !== undefined) return { thread: known, isReady: true };
    const made: Worker = startThread(options).once('exit', () => {
      idle.remove(made);
      all.delete(made);
    });
    all.add(made);
    return { thread: made, isReady: false };
  }

  async function work(taken: TakenThread, queued: QueuedJob<Job, Result>): Promise<void> {
    const share = shares.begin();
    const { thread } = taken;
    try {
      const { result, peakBytes } = await runOn<Job, Result>(taken, queued, options, share.displaced);
      queued.resolve(result);
      if (peakBytes > options.memoryBytesMax * REUSED_SHARE_MAX) await drop(thread);
      else if (!isClosed) idle.add(thread);
    } catch (error) {
      queued.reject(error instanceof JobError ? error : new JobError('crashed', { cause: error }));
      await drop(thread);
    }
    share.end();
    serve();
  }

  /** The thread counts until it has ended and its memory is free: a new thread beside it would need as much again. */
  async function drop(thread: Worker): Promise<void> {
    idle.remove(thread);
    await thread.terminate();
    all.delete(thread);
  }

  return {
    run(job, timeoutMs, signal) {
      if (signal.aborted) return Promise.reject(new JobError('aborted'));
      if (isClosed || waiting.size >= options.waitingMax) return Promise.reject(new JobError('busy'));
      const result = enqueue(waiting, { job, timeoutMs, signal });
      serve();
      return result;
    },
    async close() {
      isClosed = true;
      rejectAll(waiting);
      await Promise.all([...all].map((thread) => thread.terminate()));
    },
  };
}

/** Threads without a job. Each ends after `idleMs`. */
function createIdleThreads(idleMs: number, end: (thread: Worker) => void) {
  const timers = new Map<Worker, NodeJS.Timeout>();
  const remove = (thread: Worker): void => {
    clearTimeout(timers.get(thread));
    timers.delete(thread);
  };
  return {
    count: () => timers.size,
    add(thread: Worker): void {
      // An idle thread must not keep the process alive.
      thread.unref();
      timers.set(thread, setTimeout(end, idleMs, thread).unref());
    },
    remove,
    take(): Worker | undefined {
      const [thread] = timers.keys();
      if (thread === undefined) return undefined;
      remove(thread);
      thread.ref();
      return thread;
    },
  };
}

function rejectAll<Job, Result>(waiting: Set<QueuedJob<Job, Result>>): void {
  for (const { reject } of waiting) reject(new JobError('aborted'));
  waiting.clear();
}

function enqueue<Job, Result>(
  waiting: Set<QueuedJob<Job, Result>>,
  request: Pick<QueuedJob<Job, Result>, 'job' | 'timeoutMs' | 'signal'>,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const leave = (): void => void (waiting.delete(queued) && reject(new JobError('aborted')));
    const queued: QueuedJob<Job, Result> = { ...request, leave, resolve, reject };
    waiting.add(queued);
    request.signal.addEventListener('abort', leave, { once: true });
  });
}

interface Share {
  /** Aborts when another job needs the thread. */
  readonly displaced: AbortSignal;
  /** The job has ended. */
  end(): void;
}

/** Ends jobs that have run for `shareMs` while others wait, the longest-running first. */
function createShares(shareMs: number | undefined, countWaiting: () => number) {
  const overdue = new Set<AbortController>();
  /** Threads that are about to become free for waiting jobs. */
  let emptying = 0;

  function makeRoom(): void {
    for (const place of overdue) {
      if (countWaiting() <= emptying) return;
      overdue.delete(place);
      emptying++;
      place.abort();
    }
  }

  return {
    makeRoom,
    begin(): Share {
      const place = new AbortController();
      const hadShare = (): void => {
        overdue.add(place);
        makeRoom();
      };
      const timer = shareMs === undefined ? undefined : setTimeout(hadShare, shareMs);
      return {
        displaced: place.signal,
        end() {
          clearTimeout(timer);
          overdue.delete(place);
          if (place.signal.aborted) emptying--;
        },
      };
    },
  };
}

const BYTES_PER_MB = 1_048_576;

function startThread<Job>({ script, memoryBytesMax, threadData }: JobThreadsOptions<Job>): Worker {
  // Output of libraries in the thread is discarded.
  const worker = new Worker(script, {
    workerData: threadData,
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: Math.floor((HEAP_LIMITS_MAX * memoryBytesMax) / BYTES_PER_MB) },
  });
  // A thread that is being terminated may still fail, and an error without a listener ends the process.
  worker.on('error', () => undefined);
  worker.stdout.resume();
  worker.stderr.resume();
  return worker;
}

interface TakenThread {
  readonly thread: Worker;
  /** It has served a job before. */
  readonly isReady: boolean;
}

interface Done<Result> {
  readonly result: Result;
  /** The highest memory use that was measured. */
  readonly peakBytes: number;
}

/** @throws JobError, and what the thread threw */
function runOn<Job, Result>(
  { thread, isReady }: TakenThread,
  { job, timeoutMs, signal }: QueuedJob<Job, Result>,
  options: JobThreadsOptions<Job>,
  displaced: AbortSignal,
): Promise<Done<Result>> {
  const { promise, resolve, reject } = Promise.withResolvers<Done<Result>>();
  const fail = (fault: JobFault) => (): void => reject(new JobError(fault));
  const onError = (error: Error): void =>
    reject(new JobError(isOutOfMemory(error) ? 'memory' : 'crashed', { cause: error }));
  const onExit = fail('crashed');
  const onAbort = fail('aborted');
  const startClock = (ms: number): NodeJS.Timeout => setTimeout(fail('timeout'), ms);
  const onMessage = (message: Result | typeof THREAD_READY): void => {
    if (message !== THREAD_READY) return resolve({ result: message, peakBytes: watch.peakBytes() });
    clearTimeout(timer);
    timer = startClock(timeoutMs);
  };
  let timer = startClock(isReady ? timeoutMs : (options.startMsMax ?? START_MS_MAX));
  const watch = watchMemory(thread, options, (fault) => fail(fault)());
  thread.on('message', onMessage).on('error', onError).on('exit', onExit);
  signal.addEventListener('abort', onAbort, { once: true });
  displaced.addEventListener('abort', fail('displaced'), { once: true });
  try {
    const packed = options.pack?.(job) ?? { job, transfer: [] };
    thread.postMessage(packed.job, packed.transfer);
  } catch (error) {
    // A job that cannot be sent must not occupy the thread.
    reject(error);
  }
  return promise.finally(() => {
    clearTimeout(timer);
    watch.stop();
    signal.removeEventListener('abort', onAbort);
    thread.off('message', onMessage).off('error', onError).off('exit', onExit);
  });
}

function isOutOfMemory(error: Error): boolean {
  return 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

interface MemoryWatch {
  peakBytes(): number;
  stop(): void;
}

/** Measures the memory of a thread every few milliseconds while its job runs. */
function watchMemory<Job>(
  thread: Worker,
  { memoryBytesMax, processBytesMax = Infinity }: JobThreadsOptions<Job>,
  onExceeded: (fault: 'memory' | 'busy') => void,
): MemoryWatch {
  let heldBytes = 0;
  let peakBytes = 0;
  let isPending = false;
  const measure = async (): Promise<void> => {
    isPending = true;
    heldBytes = await measureHeldBytes(thread);
    isPending = false;
    peakBytes = Math.max(peakBytes, heldBytes);
    if (heldBytes > memoryBytesMax) onExceeded('memory');
  };
  const timer = setInterval(() => {
    // A thread that does not answer is busy with something large, such as a copy of a buffer.
    const isLarge = isPending || heldBytes > memoryBytesMax * SHED_SHARE_MIN;
    if (isLarge && processBytesMax < Infinity && process.memoryUsage.rss() > processBytesMax) onExceeded('busy');
    else if (!isPending) void measure();
  }, WATCH_MS);
  return { peakBytes: () => peakBytes, stop: () => clearInterval(timer) };
}

/** The heap of the thread and its buffers outside of the heap, such as unpacked files. */
async function measureHeldBytes(thread: Worker): Promise<number> {
  try {
    const { used_heap_size: heap, external_memory: beside } = await thread.getHeapStatistics();
    return heap + beside;
  } catch {
    // The thread has just ended.
    return 0;
  }
}

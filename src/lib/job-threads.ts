import { Worker, type Transferable } from 'node:worker_threads';

/** Why a job gave no result. `displaced`: it had run for its share, and others waited. */
export type JobFault = 'busy' | 'timeout' | 'displaced' | 'memory' | 'aborted' | 'crashed';

export class JobError extends Error {
  readonly fault: JobFault;

  constructor(fault: JobFault, options?: ErrorOptions) {
    super(`The job ended without a result: ${fault}`, options);
    this.name = 'JobError';
    this.fault = fault;
  }
}

export interface JobThreadsOptions {
  /** The module that each thread runs: it answers every message of its parent with one of its own, in order. */
  readonly script: URL;
  readonly threadsMax: number;
  /** Jobs that wait for a thread; one more is refused. */
  readonly waitingMax: number;
  /** What a thread may hold, on its heap and beside it. */
  readonly memoryBytesMax: number;
  /** A thread without a job ends after this. */
  readonly idleMs: number;
  /**
   * A job that has run this long goes on only as long as nobody waits for a thread: who sends a job that never ends takes
   * no more than this from others. Absent: every job has all of its time.
   */
  readonly shareMs?: number;
}

export interface JobThreads<Job, Result> {
  /**
   * @param timeoutMs from when a thread takes the job
   * @param transfer what of the job is handed over, not copied
   * @throws JobError
   */
  run(job: Job, timeoutMs: number, transfer: readonly Transferable[], signal: AbortSignal): Promise<Result>;
  /** Ends every thread, whatever it is doing. */
  close(): Promise<void>;
}

interface Asked<Job, Result> {
  readonly job: Job;
  readonly timeoutMs: number;
  readonly transfer: readonly Transferable[];
  readonly signal: AbortSignal;
  /** Takes it out of the queue when nobody waits any more. */
  readonly leave: () => void;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: JobError) => void;
}

/** How often a thread is asked what it holds. A bomb that unpacks a gigabyte takes longer. */
const WATCH_MS = 25;
/**
 * V8's own limit, in sizes of ours: it is for a thread that cannot be asked. V8 gives a thread that reaches it 16 MB to end
 * itself, and one collection of garbage that needs more ends the whole process instead.
 * @source node `Worker::NearHeapLimit`, 24.x; seen 2026-11: 199 MB held at a limit of 128 MB
 */
const HEAP_LIMITS_MAX = 8;

/**
 * Threads for work that takes long or that strangers shape: each job has a limit of time and of memory, and a thread that
 * breaks one is ended, in the middle of whatever it computes.
 */
export function createJobThreads<Job, Result>(options: JobThreadsOptions): JobThreads<Job, Result> {
  const waiting = new Set<Asked<Job, Result>>();
  const all = new Set<Worker>();
  const idle = new Map<Worker, NodeJS.Timeout>();
  const shares = createShares(options.shareMs, () => waiting.size);
  let isClosed = false;

  function serve(): void {
    for (const asked of waiting) {
      if (idle.size === 0 && all.size >= options.threadsMax) return shares.makeRoom();
      waiting.delete(asked);
      // A signal may outlive many jobs, and must not keep what they were about.
      asked.signal.removeEventListener('abort', asked.leave);
      void work(takeThread(), asked);
    }
  }

  function takeThread(): Worker {
    const [known] = idle.keys();
    if (known === undefined) {
      const made: Worker = startThread(options).once('exit', () => forget(made));
      all.add(made);
      return made;
    }
    clearTimeout(idle.get(known));
    idle.delete(known);
    known.ref();
    return known;
  }

  async function work(thread: Worker, asked: Asked<Job, Result>): Promise<void> {
    try {
      asked.resolve(await runOn<Job, Result>(thread, asked, options.memoryBytesMax, shares.begin()));
      rest(thread);
    } catch (error) {
      drop(thread);
      asked.reject(error instanceof JobError ? error : new JobError('crashed', { cause: error }));
    }
    serve();
  }

  function rest(thread: Worker): void {
    if (isClosed) return;
    // It must not keep the process alive.
    thread.unref();
    idle.set(thread, setTimeout(drop, options.idleMs, thread).unref());
  }

  function drop(thread: Worker): void {
    forget(thread);
    void thread.terminate();
  }

  function forget(thread: Worker): void {
    clearTimeout(idle.get(thread));
    idle.delete(thread);
    all.delete(thread);
  }

  return {
    run(job, timeoutMs, transfer, signal) {
      if (signal.aborted) return Promise.reject(new JobError('aborted'));
      if (isClosed || waiting.size >= options.waitingMax) return Promise.reject(new JobError('busy'));
      return new Promise((resolve, reject) => {
        const leave = (): void => void (waiting.delete(asked) && reject(new JobError('aborted')));
        const asked: Asked<Job, Result> = { job, timeoutMs, transfer, signal, leave, resolve, reject };
        waiting.add(asked);
        signal.addEventListener('abort', leave, { once: true });
        serve();
      });
    },
    async close() {
      isClosed = true;
      for (const { reject } of waiting) reject(new JobError('aborted'));
      waiting.clear();
      await Promise.all([...all].map((thread) => thread.terminate()));
    },
  };
}

interface Share {
  /** Aborts when somebody else needs the thread. */
  readonly displaced: AbortSignal;
  /** The job has ended. */
  end(): void;
}

/** Who has run for as long as `shareMs` is ended where others wait, the longest first. */
function createShares(shareMs: number | undefined, countWaiting: () => number) {
  const overdue = new Set<AbortController>();
  /** Threads that come free for those who wait. */
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

function startThread({ script, memoryBytesMax }: JobThreadsOptions): Worker {
  // What is written there by a library is for nobody.
  const worker = new Worker(script, {
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: Math.floor((HEAP_LIMITS_MAX * memoryBytesMax) / BYTES_PER_MB) },
  });
  // A thread that is being ended may still fail, which is an error of the process where nobody listens.
  worker.on('error', () => undefined);
  worker.stdout.resume();
  worker.stderr.resume();
  return worker;
}

/** @throws JobError, and what the thread threw */
function runOn<Job, Result>(
  thread: Worker,
  { job, timeoutMs, transfer, signal }: Asked<Job, Result>,
  memoryBytesMax: number,
  share: Share,
): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const fail = (fault: JobFault) => (): void => reject(new JobError(fault));
  const onError = (error: Error): void =>
    reject(new JobError(isOutOfMemory(error) ? 'memory' : 'crashed', { cause: error }));
  const onExit = fail('crashed');
  const onAbort = fail('aborted');
  const timer = setTimeout(fail('timeout'), timeoutMs);
  const watch = setInterval(() => void exceeds(thread, memoryBytesMax).then((is) => is && fail('memory')()), WATCH_MS);
  thread.on('message', resolve).on('error', onError).on('exit', onExit);
  signal.addEventListener('abort', onAbort, { once: true });
  share.displaced.addEventListener('abort', fail('displaced'), { once: true });
  try {
    thread.postMessage(job, transfer);
  } catch (error) {
    // What cannot be sent must not keep its place.
    reject(error);
  }
  return promise.finally(() => {
    clearTimeout(timer);
    clearInterval(watch);
    share.end();
    signal.removeEventListener('abort', onAbort);
    thread.off('message', resolve).off('error', onError).off('exit', onExit);
  });
}

function isOutOfMemory(error: Error): boolean {
  return 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

/** Its heap, and what lies beside that, as what files unpack to does. */
async function exceeds(thread: Worker, memoryBytesMax: number): Promise<boolean> {
  try {
    const { used_heap_size: heap, external_memory: beside } = await thread.getHeapStatistics();
    return heap + beside > memoryBytesMax;
  } catch {
    // It has just ended.
    return false;
  }
}

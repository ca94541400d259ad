import { Worker } from 'node:worker_threads';
import { DatabaseError, permanentFault } from '../database-error.ts';
import type { SqliteJob, SqliteJobDone, SqliteMessage, SqliteReply, SqliteResult } from './protocol.ts';

/** More waiting jobs than this means that the disk has stalled; a new job is refused at once. */
const WAITING_JOBS_MAX = 50_000;
const GROUP_JOBS_MAX = 1_000;
/** A transaction delays every other query, so only queries may be awaited inside one. */
const TRANSACTION_MS_MAX = 10_000;

/** An open transaction. No other statements run until `commit` or `rollback`. */
export interface SqliteTransaction {
  run(job: SqliteJob): Promise<SqliteJobDone>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

export interface BeginOptions {
  readonly isReadOnly: boolean;
  /** The transaction is rolled back after this; default: seconds. */
  readonly msMax: number | undefined;
}

/**
 * The embedded database, in a thread of its own. Jobs that queue up while a group commits form the next group: one
 * message, one transaction, one sync of the disk, and no timer. A job's promise settles after its own commit.
 */
export interface SqliteThread {
  run(job: SqliteJob): Promise<SqliteJobDone>;
  begin(options: BeginOptions): Promise<SqliteTransaction>;
  /** Finishes accepted jobs, then closes the file. New jobs are refused from here on. */
  close(): Promise<void>;
}

interface Waiter<Value> {
  readonly resolve: (value: Value) => void;
  readonly reject: (error: Error) => void;
}

interface WaitingJob extends Waiter<SqliteJobDone> {
  readonly job: SqliteJob;
}

/** Threads whose file was closed, for the next file. */
const spareWorkers: Worker[] = [];
let spareWorkersMax = 0;

/**
 * Keeps so many threads for further files: starting a thread takes more CPU time than opening a file. For processes
 * that open one file after another; spare threads do not keep a process running.
 */
export function keepSpareThreads(count: number): void {
  spareWorkersMax = count;
}

/** @throws DatabaseError when the file cannot be opened */
export async function startSqliteThread(path: string): Promise<SqliteThread> {
  const worker = spareWorkers.pop() ?? new Worker(new URL('./worker.ts', import.meta.url));
  worker.ref();
  await new Promise<void>((resolve, reject) => {
    worker.once('error', reject);
    worker.once('message', (reply: SqliteReply) => {
      worker.off('error', reject);
      if (reply.kind === 'open' && reply.fault !== undefined) reject(new DatabaseError(reply.fault));
      else resolve();
    });
    worker.postMessage({ kind: 'open', path } satisfies SqliteMessage, []);
  });
  return new Thread(worker);
}

/** A thread that ends while it is spare must not be given a file. */
function keepSpare(worker: Worker): void {
  // Names the events: a call without names would also remove the worker's own listeners, by which it counts its
  // messages.
  for (const event of ['message', 'error', 'exit']) worker.removeAllListeners(event);
  worker.unref();
  worker.once('exit', () => {
    const index = spareWorkers.indexOf(worker);
    if (index !== -1) spareWorkers.splice(index, 1);
  });
  spareWorkers.push(worker);
}

class Thread implements SqliteThread {
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  #waiting: WaitingJob[] = [];
  /** Transactions that wait for their turn, in order. */
  #claims: Waiter<void>[] = [];
  /** Messages under way, in order. */
  #expected: Waiter<readonly SqliteResult[]>[] = [];
  /** A group is under way, or a transaction is open. */
  #busy = false;
  #flushPlanned = false;
  #refusal: DatabaseError | undefined;
  #closing: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;
  #onClosed: ((isGood: boolean) => void) | undefined;

  constructor(worker: Worker) {
    this.#worker = worker;
    this.#exited = new Promise((resolve) => {
      worker.once('exit', () => {
        this.#fail('The database thread has ended.');
        resolve();
      });
    });
    worker.on('message', (reply: SqliteReply) => this.#receive(reply));
    worker.on('error', (error) => this.#fail(`The database thread failed: ${String(error)}`));
  }

  run(job: SqliteJob): Promise<SqliteJobDone> {
    return new Promise((resolve, reject) => {
      const refusal = this.#findRefusal();
      if (refusal !== undefined) return reject(refusal);
      this.#waiting.push({ job, resolve, reject });
      this.#planFlush();
    });
  }

  async begin(options: BeginOptions): Promise<SqliteTransaction> {
    await new Promise<void>((resolve, reject) => {
      const refusal = this.#findRefusal();
      if (refusal !== undefined) return reject(refusal);
      this.#claims.push({ resolve, reject });
      this.#planFlush();
    });
    return beginTransaction(
      (message) => this.#post(message),
      () => this.#release(),
      options,
    );
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#refusal ??= new DatabaseError(permanentFault('The database is closed.'));
    if (this.#busy || this.#waiting.length > 0 || this.#claims.length > 0)
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    const isReused = spareWorkers.length < spareWorkersMax;
    const closed = new Promise<boolean>((resolve) => {
      this.#onClosed = resolve;
      void this.#exited.then(() => resolve(false));
    });
    this.#worker.postMessage({ kind: 'close', isReused } satisfies SqliteMessage, []);
    if ((await closed) && isReused) keepSpare(this.#worker);
    else await this.#exited;
  }

  #findRefusal(): DatabaseError | undefined {
    if (this.#refusal !== undefined) return this.#refusal;
    if (this.#waiting.length + this.#claims.length < WAITING_JOBS_MAX) return undefined;
    return new DatabaseError({
      message: 'Too many queries wait for the database.',
      transient: true,
      duplicate: false,
    });
  }

  /** Sends queries of one synchronous stretch, and of the promises that it settles, together. */
  #planFlush(): void {
    if (this.#busy || this.#flushPlanned) return;
    this.#flushPlanned = true;
    queueMicrotask(() => {
      this.#flushPlanned = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#busy) return;
    const claim = this.#claims.shift();
    if (claim !== undefined) {
      this.#busy = true;
      claim.resolve();
    } else if (this.#waiting.length > 0) {
      this.#busy = true;
      const group = this.#waiting;
      this.#waiting = group.splice(GROUP_JOBS_MAX);
      void this.#runGroup(group);
    } else {
      this.#onIdle?.();
    }
  }

  async #runGroup(group: readonly WaitingJob[]): Promise<void> {
    try {
      const results = await this.#post({ kind: 'group', jobs: group.map(({ job }) => job) });
      for (const [index, waiting] of group.entries()) {
        const result = results[index];
        if (result !== undefined && 'done' in result) waiting.resolve(result.done);
        else waiting.reject(new DatabaseError(result?.fault ?? NO_RESULT));
      }
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      for (const waiting of group) waiting.reject(failure);
    } finally {
      this.#release();
    }
  }

  #release(): void {
    this.#busy = false;
    this.#flush();
  }

  #post(message: SqliteMessage): Promise<readonly SqliteResult[]> {
    return new Promise((resolve, reject) => {
      if (this.#worker.threadId === -1) return reject(this.#refusal ?? new DatabaseError(NO_RESULT));
      this.#worker.postMessage(message, []);
      this.#expected.push({ resolve, reject });
    });
  }

  #receive(reply: SqliteReply): void {
    if (reply.kind === 'results') this.#expected.shift()?.resolve(reply.results);
    else if (reply.kind === 'closed') this.#onClosed?.(reply.fault === undefined);
  }

  /** Fails every waiting job: the thread is gone, and no answer will come. */
  #fail(message: string): void {
    const failure = new DatabaseError(permanentFault(message));
    this.#refusal ??= failure;
    const left = [...this.#expected, ...this.#claims, ...this.#waiting];
    this.#expected = [];
    this.#claims = [];
    this.#waiting = [];
    for (const { reject } of left) reject(failure);
    this.#onIdle?.();
  }
}

const NO_RESULT = permanentFault('The database gave no result.');

async function beginTransaction(
  post: (message: SqliteMessage) => Promise<readonly SqliteResult[]>,
  release: () => void,
  { isReadOnly, msMax = TRANSACTION_MS_MAX }: BeginOptions,
): Promise<SqliteTransaction> {
  let open = true;
  const end = (): void => {
    if (!open) return;
    open = false;
    clearTimeout(limit);
    release();
  };
  const rollback = async (): Promise<void> => {
    if (!open) return;
    try {
      await post({ kind: 'rollback' });
    } finally {
      end();
    }
  };
  const run = async (job: SqliteJob): Promise<SqliteJobDone> => {
    if (!open) throw new DatabaseError(permanentFault('The transaction has ended; it may have taken too long.'));
    const [result] = await post({ kind: 'inside', jobs: [job] });
    if (result === undefined || 'fault' in result) throw new DatabaseError(result?.fault ?? NO_RESULT);
    return result.done;
  };
  const commit = async (): Promise<void> => {
    await run({ kind: 'write', sql: 'commit', values: [] });
    end();
  };
  const limit = setTimeout(() => void rollback().catch(end), msMax);
  try {
    // A transaction that only reads keeps no other process from writing.
    await run({ kind: 'write', sql: isReadOnly ? 'begin' : 'begin immediate', values: [] });
  } catch (error) {
    end();
    throw error;
  }
  return { run, commit, rollback };
}

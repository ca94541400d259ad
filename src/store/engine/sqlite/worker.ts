// The thread that owns the embedded database. A slow disk stalls this thread and no stream.
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { parentPort } from 'node:worker_threads';
import { assert } from '../../../lib/assert.ts';
import { createLruCache } from '../../../lib/cache/lru-cache.ts';
import type { DatabaseFault } from '../database-error.ts';
import { decodeBatch } from '../../journal/decode-batch.ts';
import type { AppliedBatch, JournalBatch, RefusedRecord } from '../../../journal/batch.ts';
import { endJob, storeFeedback, storeGenerations, storeProgress } from './apply-batch.ts';
import { isBusy, classifyFault } from './fault.ts';
import type { SqliteJob, SqliteJobDone, SqliteMessage, SqliteReply, SqliteResult } from './protocol.ts';

/** How long a statement waits for another process, such as the command line, to finish its write. */
const BUSY_TIMEOUT_MS = 2_000;
/** The same for a journal, whose batches are sent again: every read that comes meanwhile waits with them. */
const APPLY_BUSY_TIMEOUT_MS = 100;
/** Statements are few and fixed; lists of bound values (`in (?, ?)`) make variants of them. */
const STATEMENTS_MAX = 256;
/** Some ten milliseconds, in which reads wait. */
const RECORDS_MAX = 2_000;
const WAL_ATTEMPTS_MAX = 100;
const WAL_RETRY_MS = 20;
const NOTHING: SqliteJobDone = { rows: [], changes: 0 };

assert(parentPort !== null, 'the database file runs as a worker thread');
const port = parentPort;
const statements = createLruCache<string, StatementSync>(STATEMENTS_MAX);

function openFile(path: string): DatabaseSync {
  const opened = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
  try {
    enterWalMode(opened);
    // FULL: a commit is on the disk before it is acknowledged, since rows are money.
    opened.exec('pragma synchronous = full');
    // 16 MB of pages in memory, and of log before it is folded into the file: fewer stalls at a few thousand rows/s.
    opened.exec('pragma cache_size = -16000; pragma wal_autocheckpoint = 4000; pragma journal_size_limit = 67108864');
    opened.exec('pragma temp_store = memory');
    return opened;
  } catch (error) {
    opened.close();
    throw error;
  }
}

/**
 * Retries by itself: when two processes open a new file together, SQLite refuses the change of mode without calling the
 * busy handler.
 */
function enterWalMode(opened: DatabaseSync): void {
  for (let attempt = 1; ; attempt++) {
    try {
      opened.exec('pragma journal_mode = wal');
      return;
    } catch (error) {
      if (attempt === WAL_ATTEMPTS_MAX || !isBusy(error)) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAL_RETRY_MS);
    }
  }
}

function prepare(sql: string): StatementSync {
  const known = statements.get(sql);
  if (known !== undefined) return known;
  const statement = database.prepare(sql);
  statements.set(sql, statement);
  return statement;
}

/** How a batch of a journal is stored. */
type Apply = (batch: JournalBatch) => AppliedBatch;

function runJob(job: SqliteJob, apply: Apply): SqliteJobDone {
  if (job.kind === 'apply') return { ...NOTHING, applied: apply(job.batch) };
  const statement = prepare(job.sql);
  if (statement.columns().length > 0) return { ...NOTHING, rows: statement.all(...job.values) };
  return { ...NOTHING, changes: Number(statement.run(...job.values).changes) };
}

/**
 * Stores a batch without a savepoint, which would copy every page that is changed after it.
 * @throws when a record is refused: some are stored
 */
function applyAtOnce(batch: JournalBatch): AppliedBatch {
  const decoded = decodeBatch(batch, RECORDS_MAX);
  const { generations, feedback, unknown, damaged, end } = decoded;
  const { jobEnd } = batch;
  const isJobEnded = jobEnd === undefined ? undefined : endJob(prepare, jobEnd);
  if (isJobEnded === false) return { end: 0, records: 0, refused: [], damaged: [], isJobEnded };
  storeGenerations(
    prepare,
    batch.columns,
    generations.map(({ row }) => row),
  );
  for (const { row } of feedback) storeFeedback(prepare, row);
  storeProgress(prepare, batch, decoded);
  const records = generations.length + feedback.length;
  return { end, records, refused: unknown, damaged, ...(isJobEnded !== undefined && { isJobEnded }) };
}

/** A job and its charge are stored together or not at all. @throws what SQLite throws: nothing of it is left behind */
function applyJobEnd(batch: JournalBatch): AppliedBatch {
  prepare('savepoint job').run();
  try {
    return applyAtOnce(batch);
  } catch (error) {
    if (database.isTransaction) prepare('rollback to job').run();
    throw error;
  } finally {
    if (database.isTransaction) prepare('release job').run();
  }
}

/** Stores each record by itself, so that refused ones leave nothing behind. @throws what spoils the transaction around them */
function applyOneByOne(batch: JournalBatch): AppliedBatch {
  if (batch.jobEnd !== undefined) return applyJobEnd(batch);
  const decoded = decodeBatch(batch, RECORDS_MAX);
  const { generations, feedback, unknown, damaged, end } = decoded;
  const refused: RefusedRecord[] = [...unknown];
  const tryOne = (payload: string, store: () => void): void => {
    prepare('savepoint record').run();
    try {
      store();
    } catch (error) {
      const fault = classifyFault(error);
      if (spoilsTransaction(fault)) throw error;
      prepare('rollback to record').run();
      refused.push({ payload, message: fault.message });
    }
    prepare('release record').run();
  };
  for (const { row, payload } of generations) tryOne(payload, () => storeGenerations(prepare, batch.columns, [row]));
  for (const { row, payload } of feedback) tryOne(payload, () => storeFeedback(prepare, row));
  storeProgress(prepare, batch, decoded);
  const records = generations.length + feedback.length + unknown.length - refused.length;
  return { end, records, refused, damaged };
}

/**
 * A refused value ends its own statement only. A full disk or a failing one may or may not have rolled the transaction
 * back, and SQLite advises to roll back in any case. @source sqlite.org/lang_transaction.html, "Response To Errors"
 */
function spoilsTransaction(fault: DatabaseFault): boolean {
  return fault.transient || !database.isTransaction;
}

function tryJob(job: SqliteJob): SqliteResult {
  try {
    return { done: runJob(job, applyOneByOne) };
  } catch (error) {
    return { fault: classifyFault(error) };
  }
}

/** @throws what spoils the transaction */
function tryWrite(job: SqliteJob, apply: Apply): SqliteResult {
  try {
    return { done: runJob(job, apply) };
  } catch (error) {
    const fault = classifyFault(error);
    if (spoilsTransaction(fault)) throw error;
    return { fault };
  }
}

/** Commits all writes together. When the transaction itself fails, none is committed and each job gets the error. */
function runGroup(jobs: readonly SqliteJob[]): readonly SqliteResult[] {
  const reads: readonly SqliteResult[] = jobs.map((job) => (job.kind === 'read' ? tryJob(job) : { done: NOTHING }));
  if (!jobs.some((job) => job.kind !== 'read')) return reads;
  try {
    let results = runWrites(jobs, reads, applyAtOnce);
    if (results.some((result, index) => jobs[index]?.kind === 'apply' && 'fault' in result)) {
      prepare('rollback').run();
      results = runWrites(jobs, reads, applyOneByOne);
    }
    prepare('commit').run();
    return results;
  } catch (error) {
    return failWrites(jobs, reads, classifyFault(error));
  }
}

/** Begins a transaction and leaves it open. @throws what spoils the transaction */
function runWrites(jobs: readonly SqliteJob[], reads: readonly SqliteResult[], apply: Apply): SqliteResult[] {
  const results = [...reads];
  if (jobs.some((job) => job.kind === 'write')) prepare('begin immediate').run();
  else beginSoon();
  for (const [index, job] of jobs.entries()) {
    if (job.kind === 'read') continue;
    results[index] = tryWrite(job, apply);
  }
  return results;
}

/** @throws when another process writes for longer than a journal, or a write that is sent again, may wait */
function beginSoon(): void {
  prepare(`pragma busy_timeout = ${APPLY_BUSY_TIMEOUT_MS}`).get();
  try {
    prepare('begin immediate').run();
  } finally {
    prepare(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`).get();
  }
}

/**
 * Rolls back. A failed statement may have ended the transaction already: then there is nothing to do, which is success.
 */
function rollBack(): SqliteResult {
  if (!database.isTransaction) return { done: NOTHING };
  return tryJob({ kind: 'write', sql: 'rollback', values: [] });
}

function failWrites(
  jobs: readonly SqliteJob[],
  results: readonly SqliteResult[],
  fault: DatabaseFault,
): readonly SqliteResult[] {
  if (database.isTransaction) database.exec('rollback');
  return results.map((result, index) => (jobs[index]?.kind === 'read' ? result : { fault }));
}

function open(path: string): SqliteReply & { readonly kind: 'open' } {
  try {
    database = openFile(path);
    return { kind: 'open' };
  } catch (error) {
    return { kind: 'open', fault: classifyFault(error) };
  }
}

function close(): SqliteReply & { readonly kind: 'closed' } {
  statements.clear();
  try {
    database.exec('pragma optimize');
    database.close();
    return { kind: 'closed' };
  } catch (error) {
    return { kind: 'closed', fault: classifyFault(error) };
  }
}

function reply(message: SqliteReply): void {
  port.postMessage(message);
}

function answer(message: SqliteMessage): void {
  if (message.kind === 'open') {
    const opened = open(message.path);
    reply(opened);
    if (opened.fault !== undefined) port.close();
  } else if (message.kind === 'close') {
    const closed = close();
    reply(closed);
    if (!message.isReused || closed.fault !== undefined) port.close();
  } else if (message.kind === 'group') {
    reply({ kind: 'results', results: runGroup(message.jobs) });
  } else if (message.kind === 'inside') {
    reply({ kind: 'results', results: message.jobs.map(tryJob) });
  } else {
    reply({ kind: 'results', results: [rollBack()] });
  }
}

/** Set by the first message. */
let database: DatabaseSync;
port.on('message', answer);

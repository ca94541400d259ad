// The thread that owns the embedded database. A slow disk stalls this thread and no stream.
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../../lib/assert.ts';
import type { DatabaseFault } from '../database-error.ts';
import type { RefusedSettlement } from '../settlement.ts';
import { isBusy, readFault } from './fault.ts';
import type {
  SettlementValues,
  SqliteJob,
  SqliteJobDone,
  SqliteMessage,
  SqliteReply,
  SqliteResult,
} from './protocol.ts';

/** How long a statement waits for another process, the command line for one, to finish its write. */
const BUSY_TIMEOUT_MS = 2_000;
/** Statements are few and fixed; lists of bound values (`in (?, ?)`) make variants of them. */
const STATEMENTS_MAX = 256;
const WAL_ATTEMPTS_MAX = 100;
const WAL_RETRY_MS = 20;
const NOTHING: SqliteJobDone = { rows: [], changes: 0, refused: [] };

assert(parentPort !== null, 'the database file runs as a worker thread');
const port = parentPort;
const statements = new Map<string, StatementSync>();

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

/** Two processes that open a new file together: SQLite refuses the change of mode without asking the busy handler. */
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
  if (statements.size === STATEMENTS_MAX) {
    const [oldest] = statements.keys();
    if (oldest !== undefined) statements.delete(oldest);
  }
  statements.set(sql, statement);
  return statement;
}

function runJob(job: SqliteJob): SqliteJobDone {
  if (job.kind === 'settle') return settle(job);
  const statement = prepare(job.sql);
  if (statement.columns().length > 0) return { ...NOTHING, rows: statement.all(...job.values) };
  return { ...NOTHING, changes: Number(statement.run(...job.values).changes) };
}

type SettleJob = Extract<SqliteJob, { kind: 'settle' }>;

/** All at once and, when one of them is refused, each by itself. */
function settle(job: SettleJob): SqliteJobDone {
  const settlements: readonly SettlementValues[] = JSON.parse(job.settlements);
  if (trySettle(job, settlements) === undefined) return { ...NOTHING, changes: settlements.length };
  const refused: RefusedSettlement[] = [];
  for (const [index, settlement] of settlements.entries()) {
    const fault = trySettle(job, [settlement]);
    if (fault !== undefined) refused.push({ index, fault });
  }
  return { ...NOTHING, changes: settlements.length - refused.length, refused };
}

/** Stores these or, with a fault for the reason, none. @throws what spoils the transaction around it */
function trySettle(job: SettleJob, settlements: readonly SettlementValues[]): DatabaseFault | undefined {
  prepare('savepoint settlements').run();
  try {
    storeSettlements(job, settlements);
  } catch (error) {
    const fault = readFault(error);
    if (spoilsTransaction(fault)) throw error;
    prepare('rollback to settlements').run();
    prepare('release settlements').run();
    return fault;
  }
  prepare('release settlements').run();
  return undefined;
}

/** What a batch adds to one row of `spend`. */
interface Sum {
  readonly subject: string;
  readonly dayStartMs: number;
  readonly isByok: number;
  nanoUsd: number;
  requests: number;
}

function storeSettlements(job: SettleJob, settlements: readonly SettlementValues[]): void {
  const addGeneration = prepare(job.addGeneration);
  const addEntry = prepare(job.addEntry);
  const sums = new Map<string, Sum>();
  for (const { generation, entries, spend } of settlements) {
    // Stored before: so is everything that follows from it.
    if (Number(addGeneration.run(...generation).changes) === 0) continue;
    for (const entry of entries) addEntry.run(...entry);
    for (const [subject, dayStartMs, isByok, nanoUsd] of spend) {
      const name = `${dayStartMs} ${isByok} ${subject}`;
      const sum = sums.get(name) ?? { subject, dayStartMs, isByok, nanoUsd: 0, requests: 0 };
      sum.nanoUsd += nanoUsd;
      sum.requests++;
      sums.set(name, sum);
    }
  }
  const addSpend = prepare(job.addSpend);
  for (const { subject, dayStartMs, isByok, nanoUsd, requests } of sums.values())
    addSpend.run(subject, dayStartMs, isByok, nanoUsd, requests);
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
    return { done: runJob(job) };
  } catch (error) {
    return { fault: readFault(error) };
  }
}

/** All writes commit together or, when the transaction itself fails, none does and each learns why. */
function runGroup(jobs: readonly SqliteJob[]): readonly SqliteResult[] {
  const results: SqliteResult[] = jobs.map((job) => (job.kind === 'read' ? tryJob(job) : { done: NOTHING }));
  if (!jobs.some((job) => job.kind !== 'read')) return results;
  try {
    database.exec('begin immediate');
    for (const [index, job] of jobs.entries()) {
      if (job.kind === 'read') continue;
      const result = tryJob(job);
      if ('fault' in result && spoilsTransaction(result.fault)) return failWrites(jobs, results, result.fault);
      results[index] = result;
    }
    database.exec('commit');
    return results;
  } catch (error) {
    return failWrites(jobs, results, readFault(error));
  }
}

/** A failed statement may have ended the transaction already: rolling back nothing is success. */
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

function close(): SqliteReply {
  try {
    database.exec('pragma optimize');
    database.close();
    return { kind: 'closed' };
  } catch (error) {
    return { kind: 'closed', fault: readFault(error) };
  }
}

function reply(message: SqliteReply): void {
  port.postMessage(message);
}

function answer(message: SqliteMessage): void {
  if (message.kind === 'close') {
    reply(close());
    port.close();
  } else if (message.kind === 'group') {
    reply({ kind: 'results', results: runGroup(message.jobs) });
  } else if (message.kind === 'inside') {
    reply({ kind: 'results', results: message.jobs.map(tryJob) });
  } else {
    reply({ kind: 'results', results: [rollBack()] });
  }
}

let database: DatabaseSync;
try {
  database = openFile(String(workerData));
  port.on('message', answer);
  reply({ kind: 'open' });
} catch (error) {
  reply({ kind: 'open', fault: readFault(error) });
}

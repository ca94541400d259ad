import type { StatementSync } from 'node:sqlite';
import type { JobEnd, JournalBatch } from '../../../journal/batch.ts';
import { columnList, type DecodedBatch } from '../../journal/decode-batch.ts';
import type { ExportedFacts, SettledGeneration } from '../../journal/record.ts';
import type { GenerationFeedbackTable, LedgerEntriesTable } from '../../tables.ts';
import { daysToSumUpAgain } from '../../usage/hours.ts';

const ENTRY_COLUMNS = [
  'id',
  'at_ms',
  'account_id',
  'kind',
  'amount_nano_usd',
  'generation_id',
  'key_hash',
  'workspace_id',
  'note',
  'author',
] as const satisfies readonly (keyof LedgerEntriesTable)[];
const FEEDBACK_COLUMNS = [
  'id',
  'generation_id',
  'at_ms',
  'author_key_hash',
  'category',
  'comment',
] as const satisfies readonly (keyof GenerationFeedbackTable)[];

const EXPORT_COLUMNS = [
  'record_id',
  'workspace_id',
  'ended_ms',
  'size_bytes',
  'facts',
] as const satisfies readonly (keyof ExportedFacts)[];

const ADD_ENTRY = insertInto('ledger_entries', ENTRY_COLUMNS);
const ADD_EXPORT = insertInto('export_rows', EXPORT_COLUMNS);
const ADD_FEEDBACK = `${insertInto('generation_feedback', FEEDBACK_COLUMNS)} on conflict (id) do nothing`;
const ADD_SPEND = `insert into spend (subject, day_start_ms, is_byok, nano_usd, requests) values (?, ?, ?, ?, ?)
  on conflict (subject, day_start_ms, is_byok)
  do update set nano_usd = nano_usd + excluded.nano_usd, requests = requests + excluded.requests`;
const SET_CHECKPOINT = `insert into journal_checkpoints (stream, position) values (?, ?)
  on conflict (stream) do update set position = excluded.position`;
const SET_BACK = `update usage_progress set done_until_ms = min(done_until_ms, ?) where name = ?`;
const COUNT_SET_BACK = `insert into usage_progress (name, done_until_ms) values ('set_back_count', 1)
  on conflict (name) do update set done_until_ms = done_until_ms + 1`;

type Prepare = (sql: string) => StatementSync;

/** What a batch adds to one row of `spend`. */
interface Sum {
  readonly subject: string;
  readonly dayStartMs: number;
  readonly isByok: number;
  nanoUsd: number;
  requests: number;
}

/** @throws what SQLite throws at the first row that it refuses: the rows before it are stored */
export function storeGenerations(
  prepare: Prepare,
  columns: readonly string[],
  generations: readonly SettledGeneration[],
): void {
  const addGeneration = prepare(`${insertInto('generations', columns)} on conflict (id) do nothing`);
  const addEntry = prepare(ADD_ENTRY);
  const sums = new Map<string, Sum>();
  for (const { values, entries, spend, exported } of generations) {
    // The generation is stored already, and so is everything that follows from it.
    if (Number(addGeneration.run(...values).changes) === 0) continue;
    for (const entry of entries) addEntry.run(...ENTRY_COLUMNS.map((column) => entry[column]));
    if (exported !== undefined) prepare(ADD_EXPORT).run(...EXPORT_COLUMNS.map((column) => exported[column]));
    for (const { subject, day_start_ms: dayStartMs, is_byok: isByok, nano_usd } of spend) {
      // A batch writes each sum once.
      const name = `${isByok} ${dayStartMs} ${subject}`;
      const sum = sums.get(name) ?? { subject, dayStartMs, isByok, nanoUsd: 0, requests: 0 };
      sum.nanoUsd += nano_usd;
      sum.requests++;
      sums.set(name, sum);
    }
  }
  const addSpend = prepare(ADD_SPEND);
  for (const { subject, dayStartMs, isByok, nanoUsd, requests } of sums.values())
    addSpend.run(subject, dayStartMs, isByok, nanoUsd, requests);
}

/** Ends a job, once. @returns whether it did: another process may have been faster */
export function endJob(prepare: Prepare, { id, columns }: JobEnd): boolean {
  const names = Object.keys(columns);
  const changes = names.map((name) => `${columnList([name])} = ?`).join(', ');
  const update = prepare(`update video_jobs set ${changes} where id = ? and status in ('pending', 'in_progress')`);
  return Number(update.run(...names.map((name) => columns[name] ?? null), id).changes) > 0;
}

/** @throws what SQLite throws when it refuses the row */
export function storeFeedback(prepare: Prepare, feedback: GenerationFeedbackTable): void {
  prepare(ADD_FEEDBACK).run(...FEEDBACK_COLUMNS.map((column) => feedback[column]));
}

/** Stores how far the journal is, and what must be summed up again. */
export function storeProgress(
  prepare: Prepare,
  { checkpoint }: JournalBatch,
  { end, lateSinceMs }: DecodedBatch,
): void {
  if (lateSinceMs !== undefined) {
    const { hourlyMs, dailyMs } = daysToSumUpAgain(lateSinceMs);
    prepare(SET_BACK).run(hourlyMs, 'hourly');
    prepare(SET_BACK).run(dailyMs, 'daily');
    prepare(COUNT_SET_BACK).run();
  }
  if (checkpoint !== undefined) prepare(SET_CHECKPOINT).run(checkpoint.stream, checkpoint.base + end);
}

function insertInto(table: string, columns: readonly string[]): string {
  return `insert into ${table} (${columnList(columns)}) values (${columns.map(() => '?').join(', ')})`;
}

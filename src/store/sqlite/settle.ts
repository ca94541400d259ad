import { storableText } from '../portable.ts';
import type { Settlement } from '../settlement.ts';
import type { GenerationsTable } from '../tables.ts';
import type { SettledValue, SettlementValues, SqliteJob } from './protocol.ts';

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
] as const;

/** The worker adds up what a batch adds to one sum, so that it is written once. */
const ADD_SPEND = `insert into spend (subject, day_start_ms, is_byok, nano_usd, requests) values (?, ?, ?, ?, ?)
  on conflict (subject, day_start_ms, is_byok)
  do update set nano_usd = nano_usd + excluded.nano_usd, requests = requests + excluded.requests`;

/**
 * One message and one commit for a batch: values only, in the order of the columns of its statements. They travel as one
 * text: to write and to read it takes half of what it takes to clone the lists.
 */
export function settleJob(batch: readonly Settlement[]): SqliteJob {
  const [first] = batch;
  const columns = first === undefined ? [] : columnsOf(first.generation);
  const settlements = batch.map(({ generation, entries, spend }): SettlementValues => ({
    generation: columns.map((column) => settledValue(generation[column])),
    entries: entries.map((entry) => ENTRY_COLUMNS.map((column) => settledValue(entry[column]))),
    spend: spend.map(({ subject, day_start_ms, is_byok, nano_usd }) => [subject, day_start_ms, is_byok, nano_usd]),
  }));
  return {
    kind: 'settle',
    addGeneration: `${insertInto('generations', columns)} on conflict (id) do nothing`,
    addEntry: insertInto('ledger_entries', ENTRY_COLUMNS),
    addSpend: ADD_SPEND,
    settlements: JSON.stringify(settlements),
  };
}

function settledValue(value: SettledValue): SettledValue {
  return typeof value === 'string' ? storableText(value) : value;
}

function columnsOf(generation: GenerationsTable): readonly (keyof GenerationsTable)[] {
  return Object.keys(generation).filter((name): name is keyof GenerationsTable => name in generation);
}

function insertInto(table: string, columns: readonly string[]): string {
  const names = columns.map((column) => `"${column}"`).join(', ');
  return `insert into ${table} (${names}) values (${columns.map(() => '?').join(', ')})`;
}

import type { StatementSync } from 'node:sqlite';
import { decodeChanges, type Changes } from './list-changes.ts';
import type { SettledLists, SettledValue, SqliteJob } from './protocol.ts';

export type SettleJob = Extract<SqliteJob, { kind: 'settle' }>;
type Values = readonly SettledValue[];
type Settled = SettledLists<Values>;

/** The number of values of one sum in `spend`. */
const SPEND_WIDTH = 4;

/** Decodes the settlements in the order of the batch. */
export function decodeSettlements({ settlements }: SettleJob): readonly Settled[] {
  const changes: readonly SettledLists<Changes>[] = JSON.parse(settlements);
  let before: Settled = { generation: [], entries: [], spend: [] };
  return changes.map(({ generation, entries, spend }) => {
    before = {
      generation: decodeChanges(before.generation, generation),
      entries: decodeChanges(before.entries, entries),
      spend: decodeChanges(before.spend, spend),
    };
    return before;
  });
}

/** What a batch adds to one row of `spend`. */
interface Sum {
  readonly subject: SettledValue;
  readonly dayStartMs: SettledValue;
  readonly isByok: SettledValue;
  nanoUsd: number;
  requests: number;
}

/** @throws what SQLite throws at the first row that it refuses: the rows before it are stored */
export function storeSettlements(
  prepare: (sql: string) => StatementSync,
  job: SettleJob,
  settlements: readonly Settled[],
): void {
  const addGeneration = prepare(job.addGeneration);
  const addEntry = prepare(job.addEntry);
  const sums = new Map<SettledValue, Sum[]>();
  for (const { generation, entries, spend } of settlements) {
    // The generation is stored already, and so is everything that follows from it.
    if (Number(addGeneration.run(...generation).changes) === 0) continue;
    for (let at = 0; at < entries.length; at += job.entryWidth) addEntry.run(...entries.slice(at, at + job.entryWidth));
    for (let at = 0; at < spend.length; at += SPEND_WIDTH) addTo(sums, spend.slice(at, at + SPEND_WIDTH));
  }
  const addSpend = prepare(job.addSpend);
  for (const { subject, dayStartMs, isByok, nanoUsd, requests } of [...sums.values()].flat())
    addSpend.run(subject, dayStartMs, isByok, nanoUsd, requests);
}

function addTo(
  sums: Map<SettledValue, Sum[]>,
  [subject = null, dayStartMs = null, isByok = null, nanoUsd]: Values,
): void {
  const known = sums.get(subject) ?? [];
  let sum = known.find((one) => one.dayStartMs === dayStartMs && one.isByok === isByok);
  if (sum === undefined) {
    sum = { subject, dayStartMs, isByok, nanoUsd: 0, requests: 0 };
    sums.set(subject, [...known, sum]);
  }
  sum.nanoUsd += Number(nanoUsd);
  sum.requests++;
}

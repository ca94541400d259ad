import assert from 'node:assert/strict';
import type { Database } from '../../../src/store/engine/database.ts';
import type { GenerationsTable } from '../../../src/store/generations/columns.ts';
import type { LedgerEntriesTable } from '../../../src/store/tables.ts';
import type { KillLoop } from './kill-loop.ts';

/** What a database holds after gateways died on it. */
export interface Stored {
  readonly generations: readonly Pick<GenerationsTable, 'id' | 'upstream_id' | 'cost_nano_usd'>[];
  readonly entries: readonly Pick<LedgerEntriesTable, 'generation_id' | 'amount_nano_usd'>[];
  /** What each key spent, by the counters. */
  readonly spentNanoUsd: ReadonlyMap<string, number>;
}

export async function readStored({ kysely }: Database): Promise<Stored> {
  const [generations, entries, spent] = await Promise.all([
    kysely.selectFrom('generations').select(['id', 'upstream_id', 'cost_nano_usd']).execute(),
    kysely.selectFrom('ledger_entries').select(['generation_id', 'amount_nano_usd']).execute(),
    kysely.selectFrom('spend').select(['subject', 'nano_usd']).where('subject', 'like', 'key:%').execute(),
  ]);
  const spentNanoUsd = new Map<string, number>();
  for (const { subject, nano_usd: nanoUsd } of spent)
    spentNanoUsd.set(subject, (spentNanoUsd.get(subject) ?? 0) + nanoUsd);
  return { generations, entries, spentNanoUsd };
}

/** For so long records of living processes may wait for the database; much longer means that they are lost. */
const STORED_MS_MAX = 10_000;
const LOOK_EVERY_MS = 50;

/** As `readStored`, once processes that still run have stored the responses that have ended, or had the time for it. */
export async function readOnceStored(database: Database, finished: KillLoop['finished']): Promise<Stored> {
  for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
    const stored = await readStored(database);
    const ids = new Set(stored.generations.map(({ id }) => id));
    if (waitedMs >= STORED_MS_MAX || finished.every(({ id }) => ids.has(id))) return stored;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** Compares callers, records, ledger, counters and upstream, which must agree. */
export function reconcile(
  { finished, upstreamIds }: Pick<KillLoop, 'finished' | 'upstreamIds'>,
  { generations, entries, spentNanoUsd }: Stored,
): void {
  const costs = new Map(generations.map(({ id, cost_nano_usd: cost }) => [id, cost]));
  const charges = new Map(entries.map((entry) => [entry.generation_id, -entry.amount_nano_usd]));
  assert.equal(charges.size, entries.length, 'one charge a generation');
  const lost = finished.filter(({ id, nanoUsd }) => costs.get(id) !== nanoUsd || charges.get(id) !== nanoUsd);
  assert.deepEqual(lost, [], 'every response whose end was seen is charged what it reported');
  const charged = generations.flatMap(({ id, upstream_id, cost_nano_usd: cost }) =>
    cost === null || cost === 0 ? [] : [{ id, upstream_id, cost_nano_usd: cost }],
  );
  assert.deepEqual(
    charged.filter(({ id, cost_nano_usd: cost }) => charges.get(id) !== cost),
    [],
    'every generation that cost something has its charge',
  );
  assert.equal(charges.size, charged.length, 'no charge without its generation');
  const answered = charged.map(({ upstream_id: id }) => id);
  assert.equal(new Set(answered).size, answered.length, 'no answer of the upstream is charged twice');
  assert.deepEqual(
    answered.filter((id) => id === null || !upstreamIds.has(id)),
    [],
    'nothing is charged that the upstream never began',
  );
  const total = charged.reduce((sum, { cost_nano_usd: cost }) => sum + cost, 0);
  const counted = [...spentNanoUsd.values()].reduce((sum, nanoUsd) => sum + nanoUsd, 0);
  assert.equal(counted, total, 'the counters agree with the records');
}

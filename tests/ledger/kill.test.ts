import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/lib/clock.ts';
import { openDatabase, type Database } from '../../src/store/database.ts';
import { createLedgerStore } from '../../src/store/ledger.ts';
import type { GenerationsTable, LedgerEntriesTable } from '../../src/store/tables.ts';
import { ENGINES } from '../../src/store/test-engines.ts';
import { killAgainAndAgain, type KillLoop } from '../support/kill-loop.ts';
import { makeFolder } from '../support/spawn-cli.ts';

/** `npm run test:crash` asks for more. */
const KILLS = Number(process.env['CRASH_KILLS'] ?? 10);
const SEED = Number(process.env['CRASH_SEED'] ?? 1);

interface Stored {
  readonly generations: readonly Pick<GenerationsTable, 'id' | 'upstream_id' | 'cost_nano_usd'>[];
  readonly entries: readonly Pick<LedgerEntriesTable, 'generation_id' | 'amount_nano_usd'>[];
  /** What the key spent, by the counters. */
  readonly spentNanoUsd: number;
}

for (const { name, makePlace } of ENGINES)
  test(`${KILLS} times kill -9 under load lose no finished charge and make none twice, ${name}, CRASH_SEED=${SEED}`, async (t) => {
    const place = await makePlace();
    t.after(() => place.remove());
    const { path, url } = place;
    const dataDir = url === undefined ? dirname(path) : makeFolder(t);
    const loop = await killAgainAndAgain(t, {
      kills: KILLS,
      seed: SEED,
      dataDir,
      ...(url !== undefined && { env: { DATABASE_URL: url } }),
    });
    const database = await openDatabase({ path, url, clock: systemClock });
    t.after(() => database.close());
    reconcile(loop, await readAll(database));
    assert.deepEqual(await createLedgerStore({ database }).verify('default'), []);
    t.diagnostic(`${loop.finished.length} answers finished, the upstream began ${loop.upstreamIds.size}`);
  });

function reconcile({ finished, upstreamIds }: KillLoop, { generations, entries, spentNanoUsd }: Stored): void {
  assert.ok(finished.length >= KILLS, 'the load was real');
  const costs = new Map(generations.map(({ id, cost_nano_usd: cost }) => [id, cost]));
  const charges = new Map(entries.map((entry) => [entry.generation_id, -entry.amount_nano_usd]));
  assert.equal(charges.size, entries.length, 'one charge a generation');
  const lost = finished.filter(({ id, nanoUsd }) => costs.get(id) !== nanoUsd || charges.get(id) !== nanoUsd);
  assert.deepEqual(lost, [], 'whoever saw an end was charged what it said');
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
  assert.equal(spentNanoUsd, total, 'the counters agree with the records');
}

async function readAll({ kysely }: Database): Promise<Stored> {
  const [generations, entries, spent] = await Promise.all([
    kysely.selectFrom('generations').select(['id', 'upstream_id', 'cost_nano_usd']).execute(),
    kysely.selectFrom('ledger_entries').select(['generation_id', 'amount_nano_usd']).execute(),
    kysely.selectFrom('spend').select('nano_usd').where('subject', 'like', 'key:%').execute(),
  ]);
  return { generations, entries, spentNanoUsd: spent.reduce((sum, { nano_usd: nanoUsd }) => sum + nanoUsd, 0) };
}

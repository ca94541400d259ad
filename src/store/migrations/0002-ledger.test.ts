import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { systemClock as clock } from '../../lib/clock.ts';
import { openDatabase } from '../engine/database.ts';
import { createLedgerStore } from '../usage/ledger.ts';
import { migrate, MIGRATIONS } from '../engine/migrate.ts';
import { openPostgres } from '../engine/postgres/engine.ts';
import { sumSpend } from '../usage/spend.ts';
import { openSqlite } from '../engine/sqlite/engine.ts';
import { ENGINES, type Place } from '../../../tests/support/store/engines.ts';

const DAY_MS = 86_400_000;

/** Makes a database as the first version left it. */
async function makeOldDatabase({ path, url }: Place): Promise<void> {
  const engine = url === undefined ? await openSqlite(path) : await openPostgres(url);
  await migrate(engine.runAlone, clock, MIGRATIONS.slice(0, 1));
  const generation = (id: string, atMs: number, nanoUsd: number | null, isByok: 0 | 1) =>
    sql`insert into generations (id, request_id, created_at_ms, key_hash, api_type, model_requested, model, streamed,
        cancelled, status, attempts, strategy, tokens_prompt, tokens_completion, tokens_cache_read, tokens_cache_write,
        usage_source, cost_nano_usd, is_byok, latency_ms, warnings, skipped_events, region)
      values (${id}, 'r', ${atMs}, 'k', 'chat', 'm', 'm', 0, 0, 200, '[]', 's', 1, 1, 0, 0, 'upstream', ${nanoUsd},
        ${isByok}, 1, '[]', 0, 'local')`.execute(engine.kysely);
  await generation('gen-1', 9 * DAY_MS + 5, 100, 0);
  await generation('gen-2', 9 * DAY_MS + 6, 20, 0);
  await generation('gen-3', 10 * DAY_MS, 3, 1);
  await generation('gen-4', 10 * DAY_MS, null, 0);
  await engine.close();
}

for (const { name, makePlace } of ENGINES)
  test(`enters generations from before the ledger into it: ${name}`, async (t) => {
    const place = await makePlace();
    await makeOldDatabase(place);
    const database = await openDatabase({ ...place, clock });
    t.after(async () => {
      await database.close();
      await place.remove();
    });
    const ledger = createLedgerStore({ database });
    assert.deepEqual((await ledger.verify('default')).differences, []);
    assert.deepEqual(await ledger.totals('default'), { credits: 0, usage: 120 });
    const windows = { dayStartMs: 10 * DAY_MS, weekStartMs: 0, monthStartMs: 0 };
    const spend = (await sumSpend(database, ['key:k'], windows)).get('key:k');
    assert.deepEqual([spend?.own.total, spend?.own.day, spend?.byok.day], [120, 0, 3]);
  });

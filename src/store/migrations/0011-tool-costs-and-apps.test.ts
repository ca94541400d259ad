import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { systemClock as clock } from '../../lib/clock.ts';
import { openDatabase } from '../engine/database.ts';
import { migrate, MIGRATIONS } from '../engine/migrate.ts';
import { openPostgres } from '../engine/postgres/engine.ts';
import { openSqlite } from '../engine/sqlite/engine.ts';
import { ENGINES, type Place } from '../../../tests/support/store/engines.ts';
import { createUsageReports } from '../usage/usage-reports.ts';

const DAY_MS = 86_400_000;

/** Makes a database of the version before, with the sums of one day. */
async function makeOldDatabase({ path, url }: Place): Promise<void> {
  const engine = url === undefined ? await openSqlite(path) : await openPostgres(url);
  const before = MIGRATIONS.findIndex(({ name }) => name.startsWith('0011'));
  await migrate(engine.runAlone, clock, MIGRATIONS.slice(0, before));
  const measures = Array.from({ length: 24 }, (_, index) => [`first_token_${index}`, `throughput_${index}`]).flat();
  const sums = `failures cancelled unpriced tokens_prompt tokens_completion tokens_reasoning tokens_cache_read
    tokens_cache_write web_searches cost_nano_usd byok_nano_usd cache_discount_nano_usd`.split(/\s+/);
  await sql`insert into usage_daily (start_ms, workspace_id, key_hash, member_id, model, provider, upstream_model, app_url,
      requests, ${sql.join([...sums, ...measures].map((name) => sql.ref(name)))})
    values (0, 'w', 'k', '', 'm', 'p', 'u', '', 5, ${sql.join([...sums, ...measures].map(() => sql.lit(0)))})`.execute(
    engine.kysely,
  );
  for (const name of ['hourly', 'daily'])
    await sql`insert into usage_progress (name, done_until_ms) values (${name}, ${DAY_MS})`.execute(engine.kysely);
  await engine.close();
}

for (const { name, makePlace } of ENGINES)
  test(`keeps the sums of the version before, with 0 for what it did not record: ${name}`, async (t) => {
    const place = await makePlace();
    await makeOldDatabase(place);
    const database = await openDatabase({ ...place, clock });
    t.after(async () => {
      await database.close();
      await place.remove();
    });
    const measures = ['requests', 'web_nano_usd', 'file_nano_usd', 'tool_calls', 'tool_failures'] as const;
    const { groups } = await createUsageReports({ database }).read(
      { fromMs: 0, toMs: DAY_MS, by: [], measures, filters: [] },
      { groupsMax: 10, isLate: () => false },
    );
    assert.deepEqual(groups[0]?.sums, [5, 0, 0, 0, 0]);
  });

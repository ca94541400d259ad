/**
 * Measures analytics over many records: fills an embedded database, sums the records up as the gateway does, and
 * queries them. `node bench/analytics.ts [--records 10000000] [--minutes 20] [--dir DIR] [--keep]`
 */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../src/lib/clock.ts';
import { openDatabase } from '../src/store/engine/database.ts';
import { createUsageReports } from '../src/store/usage/usage-reports.ts';
import { createUsageRollup } from '../src/store/usage/usage-rollup.ts';
import { createAnalytics } from '../src/telemetry/analytics/analytics.ts';
import { serializeActivity } from '../src/telemetry/analytics/activity.ts';
import type { AnalyticsQuery } from '../src/telemetry/analytics/query.ts';

const DAY_MS = 86_400_000;
const DAYS = 90;
const ROWS_AT_ONCE = 50_000;
const KEYS = 200;
const MODELS = 40;
const ROUNDS = 5;

const { values: options } = parseArgs({
  options: {
    records: { type: 'string', default: '10000000' },
    /** Filling and summing up stop after this, with as many records as there are then. */
    minutes: { type: 'string', default: '20' },
    dir: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});

const wanted = Number(options.records);
const deadlineMs = performance.now() + Number(options.minutes) * 60_000;
const folder = options.dir ?? (await mkdtemp(join(tmpdir(), 'analytics-')));
const path = join(folder, 'analytics.db');
const endMs = Date.now();
const startMs = endMs - DAYS * DAY_MS;

const seconds = (sinceMs: number): string => ((performance.now() - sinceMs) / 1_000).toFixed(1);
const emit = (text: string): void => void process.stdout.write(`${text}\n`);

/** Each key uses three models of its own, each at two providers, from one application. */
function fill(count: number): number {
  const database = new DatabaseSync(path);
  database.exec('pragma journal_mode = wal; pragma synchronous = off; pragma cache_size = -262144');
  const insert = database.prepare(`
    with recursive numbers (n) as (select ? union all select n + 1 from numbers where n < ?)
    insert into generations (id, request_id, created_at_ms, key_hash, api_type, model_requested, model, provider,
      provider_name, upstream_id, upstream_model, streamed, cancelled, finish_reason, status, attempts, strategy,
      tokens_prompt, tokens_completion, tokens_reasoning, tokens_cache_read, tokens_cache_write, usage_source, cost_nano_usd,
      is_byok, latency_ms, time_to_first_token_ms, generation_time_ms, warnings, skipped_events, app_url, region)
    select printf('gen-%010d-%020d', n / 1000, n), printf('req-%010d', n), ${startMs} + cast(n * ${(DAYS * DAY_MS) / wanted} as integer),
      printf('%064d', n * 7919 % ${KEYS}), 'chat', 'model', 'author/model-' || ((n * 7919 % ${KEYS} * 3 + n % 3) % ${MODELS}),
      'provider-' || (n % 2), 'Provider', 'chatcmpl-' || n, 'model-upstream-' || ((n * 7919 % ${KEYS} * 3 + n % 3) % ${MODELS}),
      n % 2, 0, 'stop', case when n % 50 = 0 then 502 else 200 end, '[]', 'direct',
      n % 5000, n % 900, 0, n % 3000, 0, 'upstream', n % 100000, 0, n % 4000, n % 1500, n % 6000, '[]', 0,
      'https://app-' || (n * 7919 % ${KEYS} % 25) || '.example', 'local'
    from numbers`);
  let filled = 0;
  while (filled < count && performance.now() < deadlineMs) {
    const last = Math.min(count, filled + ROWS_AT_ONCE);
    insert.run(filled, last - 1);
    filled = last;
  }
  database.exec('pragma wal_checkpoint(truncate); analyze');
  database.close();
  return filled;
}

const QUERIES: readonly (readonly [name: string, query: AnalyticsQuery])[] = [
  [
    'spend of 90 days by key',
    { metrics: ['total_usage', 'request_count'], dimensions: ['api_key_id'], time_range: range(DAYS) },
  ],
  [
    'tokens of 90 days by day and model',
    { metrics: ['tokens_total'], dimensions: ['model'], granularity: 'day', limit: 10_000, time_range: range(DAYS) },
  ],
  [
    'everything of 90 days by month',
    {
      metrics: ['request_count', 'total_usage', 'cache_hit_rate', 'error_rate'],
      granularity: 'month',
      time_range: range(DAYS),
    },
  ],
  [
    'speeds of 30 days by provider',
    { metrics: ['ttft_p50', 'ttft_p95', 'throughput_p50'], dimensions: ['provider'], time_range: range(30) },
  ],
  [
    '7 days by hour and model',
    { metrics: ['request_count'], dimensions: ['model'], granularity: 'hour', limit: 10_000, time_range: range(7) },
  ],
  [
    'one key, 30 days, by model and application',
    {
      metrics: ['total_usage'],
      dimensions: ['model', 'app'],
      filters: [{ field: 'api_key_id', operator: 'eq', value: '7'.padStart(64, '0') }],
      time_range: range(30),
    },
  ],
  [
    'last hour by minute, from the records',
    { metrics: ['request_count'], granularity: 'minute', time_range: range(1 / 24) },
  ],
];

function range(days: number): { readonly start: string; readonly end: string } {
  return { start: new Date(endMs - days * DAY_MS).toISOString(), end: new Date(endMs).toISOString() };
}

async function timed(work: () => Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return times.toSorted((one, other) => one - other);
}

// The schema comes from the migrations.
await (await openDatabase({ path, clock: systemClock })).close();
const fillStart = performance.now();
const filled = fill(wanted);
emit(
  `${filled.toLocaleString('en')} records in ${seconds(fillStart)} s, ${((await stat(path)).size / 1e9).toFixed(1)} GB`,
);

const database = await openDatabase({ path, clock: systemClock });
try {
  const rollup = createUsageRollup({ database, lagMs: 25 * 60_000 });
  const rollupStart = performance.now();
  let steps = 0;
  while (performance.now() < deadlineMs && (await rollup.step(endMs))) steps++;
  emit(`summed up in ${seconds(rollupStart)} s: ${steps} hours and days`);
  const analytics = createAnalytics({ reports: createUsageReports({ database }), clock: systemClock });
  emit('\nquery                                        median ms   max ms   rows');
  for (const [name, query] of QUERIES) {
    const { rows } = await analytics.query(query);
    const times = await timed(() => analytics.query(query));
    print(name, times, rows.length);
  }
  const all = { date: undefined, keyHash: undefined, memberId: undefined, workspaceId: undefined, byWorkspace: false };
  const activity = await serializeActivity(analytics, all);
  print('GET /activity', await timed(() => serializeActivity(analytics, all)), activity.length);
} finally {
  await database.close();
  if (!options.keep) await rm(folder, { recursive: true, force: true });
}

function print(name: string, times: readonly number[], rows: number): void {
  const middle = times[Math.floor(times.length / 2)] ?? 0;
  emit(
    `${name.padEnd(44)} ${middle.toFixed(0).padStart(9)} ${(times.at(-1) ?? 0).toFixed(0).padStart(8)} ${String(rows).padStart(6)}`,
  );
}

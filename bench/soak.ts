// `npm run soak`: whether the gateway stays the same under half an hour of mixed load. bench/README.md lists the load
// and the checks.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { createRandom } from '../tests/support/random.ts';
import { stopAll, type WatchedGateway } from './processes.ts';
import { formatTable } from './report.ts';
import { createCaller, type Caller } from './soak/caller.ts';
import { AT_A_TIME, LIMIT_USD, startSoakGateway, type SoakKeys } from './soak/gateway.ts';
import { runSoakLoad, SCENARIO_NAMES, sendAtOnce, type SoakTally } from './soak/load.ts';
import { startSoakUpstream } from './soak/upstream.ts';
import { judgeGrowth, type Growth, type SoakSample } from './soak/verdict.ts';

const SAMPLE_EVERY_MS = 10_000;
const SAMPLES_MIN = 12;
const MINUTES_MAX = 24 * 60;
/** What is under way when the load ends may take so long. */
const DRAIN_MS = 150_000;
const MIB = 2 ** 20;
const ROWS_SHOWN = 15;
const GATHER_MS = 500;

/** A promise, and what was seen of it. */
interface Check {
  readonly promise: string;
  readonly seen: string;
  readonly held: boolean;
}

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  },
});
const minutes = Number(options.minutes);
if (!(minutes > 0 && minutes <= MINUTES_MAX))
  throw new Error('usage: npm run soak -- [--minutes 30] [--seed 1] [--json]');

const directory = mkdtempSync(path.join(tmpdir(), 'model-gateway-soak-'));
const databasePath = path.join(directory, 'data', 'gateway.db');
process.once('exit', () => {
  stopAll();
  rmSync(directory, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const tally: SoakTally = {
  sent: 0,
  toBeRecorded: 0,
  byScenario: new Map(),
  byStatus: new Map(),
  wrong: 0,
  firstWrong: undefined,
};
const upstream = await startSoakUpstream();
const { gateway, keys, args } = await startSoakGateway(directory, upstream);
const caller = createCaller(gateway);
const samples = await runLoad();
caller.close();
const growth = judgeGrowth(samples);
const checks = [...(await checkAtRest()), ...(await checkStopped())];
await upstream.close();
report(samples, growth, checks);
const failed = checks.some(({ held }) => !held) || growth.some(({ isFlat }) => !isFlat);
process.exit(failed ? 1 : 0);

async function runLoad(): Promise<readonly SoakSample[]> {
  const over = new AbortController();
  const taken: SoakSample[] = [];
  const load = runSoakLoad({ caller, upstream, keys, random: createRandom(Number(options.seed)), tally }, over.signal);
  const beginMs = performance.now();
  const durationMs = minutes * 60_000;
  const everyMs = Math.min(SAMPLE_EVERY_MS, durationMs / SAMPLES_MIN);
  for (let dueMs = everyMs; dueMs <= durationMs; dueMs += everyMs) {
    await wait(Math.max(0, beginMs + dueMs - performance.now()));
    const sample = await takeSample(gateway, performance.now() - beginMs);
    taken.push(sample);
    process.stderr.write(`${formatSample(sample).join('  ')}\n`);
  }
  over.abort();
  const late = new AbortController();
  const ended = await Promise.race([
    load.then(() => true),
    wait(DRAIN_MS, false, { signal: late.signal }).catch(() => false),
  ]);
  late.abort();
  if (!ended) throw new Error('requests were still under way long after the load had ended');
  return taken;
}

async function takeSample(from: WatchedGateway, atMs: number): Promise<SoakSample> {
  const vitals = await from.readVitals({ resets: true, collects: true });
  return {
    atMs,
    rssMiB: vitals.rssBytes / MIB,
    heapMiB: vitals.heapUsedBytes / MIB,
    externalMiB: vitals.externalBytes / MIB,
    handles: Object.values(vitals.handles).reduce((sum, count) => sum + count, 0),
    openStreams: await readMetric('gateway_open_streams'),
    sent: tally.sent,
    rows: countRows(),
  };
}

async function readMetric(name: string): Promise<number> {
  const response = await fetch(`http://${gateway.host}:${gateway.port}/metrics`);
  const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(await response.text())?.[1];
  return Number(value);
}

function countRows(): number {
  const database = new DatabaseSync(databasePath, { readOnly: true });
  try {
    return Number(database.prepare('select count(*) as rows from generations').get()?.['rows']);
  } finally {
    database.close();
  }
}

/** Nothing is under way any more, and the gateway still runs. */
async function checkAtRest(): Promise<readonly Check[]> {
  const resting = createCaller(gateway);
  const openStreams = await readMetric('gateway_open_streams');
  // Records gather for some milliseconds before they go to the database.
  await wait(GATHER_MS);
  const waiting = await readMetric('gateway_journal_unapplied_bytes');
  const held = await askForMore(resting, keys);
  const slots = await sendAtOnce({ caller: resting, keys }, AT_A_TIME);
  const served = slots.filter((seen) => seen?.status === 200).length;
  tally.sent += 1 + AT_A_TIME;
  tally.toBeRecorded += 1 + AT_A_TIME;
  resting.close();
  const missing = SCENARIO_NAMES.filter((name) => !tally.byScenario.has(name));
  const refusedAtOnce = tally.byStatus.get(429) ?? 0;
  return [
    {
      promise: 'every kind of load was sent',
      seen: `${SCENARIO_NAMES.length - missing.length} of ${SCENARIO_NAMES.length}; ${refusedAtOnce} times 429`,
      held: missing.length === 0 && refusedAtOnce > 0,
    },
    {
      promise: 'every answer is what it should be',
      seen: `${tally.wrong} of ${tally.sent} are not${tally.firstWrong === undefined ? '' : `: ${tally.firstWrong}`}`,
      held: tally.wrong === 0,
    },
    { promise: 'no stream is left open', seen: String(openStreams), held: openStreams === 0 },
    { promise: 'no record waits', seen: `${waiting} bytes`, held: waiting === 0 },
    { promise: 'no money is held', seen: held ?? 'none', held: held === undefined },
    {
      promise: `${AT_A_TIME} requests at a time are served: no slot is held`,
      seen: `${served} served`,
      held: served === AT_A_TIME,
    },
  ];
}

/** Requests more than the limit: the refusal says how much of it open requests have reserved. Undefined: nothing. */
async function askForMore(resting: Caller, { limited }: SoakKeys): Promise<string | undefined> {
  const messages = [{ role: 'user', content: 'Everything, please.' }];
  const { status, tail } = await resting.ask({
    format: 'chat',
    key: limited,
    body: { model: 'soak/dear', max_tokens: 100_000, messages },
  });
  const isRefusal = status === 402 && tail.includes(`limit of ${LIMIT_USD} USD`);
  return isRefusal && !tail.includes('under way') ? undefined : `${status} ${tail}`;
}

/** Checks the database after the gateway has ended. */
async function checkStopped(): Promise<readonly Check[]> {
  const hasEnded = await gateway.stop();
  const rows = countRows();
  const verify = spawnSync(
    process.execPath,
    [path.join(import.meta.dirname, '..', 'src', 'main.ts'), 'credits', 'verify', ...args],
    { encoding: 'utf8', env: { PATH: process.env['PATH'] ?? '' } },
  );
  return [
    { promise: 'SIGTERM ends the gateway', seen: hasEnded ? 'yes' : 'no', held: hasEnded },
    {
      promise: 'a record for each request',
      seen: `${rows} records, ${tally.toBeRecorded} requests`,
      held: rows === tally.toBeRecorded,
    },
    {
      promise: 'credits verify finds no difference',
      seen: (verify.stdout + verify.stderr).trim().split('\n').at(-1) ?? '',
      held: verify.status === 0,
    },
  ];
}

function formatSample(sample: SoakSample): readonly string[] {
  return [
    (sample.atMs / 60_000).toFixed(1),
    sample.rssMiB.toFixed(0),
    sample.heapMiB.toFixed(1),
    sample.externalMiB.toFixed(1),
    String(sample.handles),
    String(sample.openStreams),
    String(sample.sent),
    String(sample.rows),
  ];
}

function report(taken: readonly SoakSample[], growths: readonly Growth[], checked: readonly Check[]): void {
  if (options.json) {
    const counts = { byScenario: Object.fromEntries(tally.byScenario), byStatus: Object.fromEntries(tally.byStatus) };
    console.log(JSON.stringify({ samples: taken, growth: growths, checks: checked, ...counts }, undefined, 2));
    return;
  }
  const step = Math.max(1, Math.ceil(taken.length / ROWS_SHOWN));
  const shown = taken.filter((_, at) => at % step === 0 || at === taken.length - 1);
  const sections = [
    formatTable(
      ['minute', 'RSS MiB', 'heap MiB', 'external MiB', 'handles', 'streams', 'sent', 'records'],
      shown.map(formatSample),
    ),
    formatTable(
      ['over the last two thirds', 'rise', 'at most', ''],
      growths.map(({ what, rise, riseMax, isFlat }) => [
        what,
        rise.toFixed(2),
        String(riseMax),
        isFlat ? 'flat' : 'GROWS',
      ]),
    ),
    formatTable(
      ['at the end', 'seen', ''],
      checked.map(({ promise, seen, held }) => [promise, seen, held ? 'pass' : 'MISS']),
    ),
    formatTable(
      ['sent', 'requests'],
      tally.byScenario
        .entries()
        .toArray()
        .map(([name, count]) => [name, String(count)]),
    ),
    `statuses: ${tally.byStatus
      .entries()
      .toArray()
      .toSorted(([left], [right]) => left - right)
      .map(([status, count]) => `${status} ${count} times`)
      .join(', ')}`,
  ];
  console.log(sections.join('\n\n'));
}

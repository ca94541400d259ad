import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { openDatabase, type Database } from '../engine/database.ts';
import type { GenerationRow } from '../generations/columns.ts';
import { createAppender } from '../../../tests/support/store/append.ts';
import { ENGINES, type Place } from '../../../tests/support/store/engines.ts';
import { sampleGeneration } from '../../../tests/support/store/generations.ts';
import { createUsageReports, TooLateError } from './usage-reports.ts';
import { DAY_MS, HOUR_MS } from './hours.ts';
import { readUsageProgress, sumUpAgain as sumUpAgainIn } from './usage-progress.ts';
import { createUsageRollup, OTHER } from './usage-rollup.ts';
import type { UsageInput } from './usage-sums.ts';

const START_MS = Date.parse('2026-11-19T00:00:00Z');
/** A Saturday, half past ten: the third day is under way. */
const NOW_MS = Date.parse('2026-11-21T10:30:00Z');
const LAG_MS = 20 * 60_000;
const clock = { nowMs: () => NOW_MS, monotonicMs: () => 0 };
/** Those with records, of three days, and the last that is over: each is summed up again and again. */
const HOURS_MS = [...Array.from({ length: 14 }, (_, index) => START_MS + index * 4 * HOUR_MS), START_MS + 57 * HOUR_MS];
/** Few, so that a flood is no more than that: rows take most of the time of these tests. */
const GROUPS_MAX = 250;
const SLICE_RECORDS = 200;
const NEVER_LATE = { groupsMax: 100_000, isLate: () => false };

/** Makes numbers that look random and are the same in every run. */
function createRandom(): () => number {
  let state = 12_345;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

function generations(count: number): readonly GenerationRow[] {
  const random = createRandom();
  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)] as Value;
  return Array.from({ length: count }, (_, index) =>
    sampleGeneration({
      id: `gen-${index}`,
      createdAtMs: pick(HOURS_MS) + Math.floor((random() * HOUR_MS) / 3),
      model: pick(['acme/one', 'acme/two', 'zeta/big']),
      provider: pick(['alpha', 'beta', null]),
      keyHash: pick(['a', 'b']).repeat(64),
      appUrl: pick(['https://one.example', null]),
      status: pick([200, 200, 200, 502]),
      cancelled: pick([false, false, true]),
      tokensPrompt: Math.floor(random() * 5_000),
      tokensCompletion: Math.floor(random() * 1_000),
      costNanoUsd: pick([null, 0, 1_234_567_890_123, 77]),
      timeToFirstTokenMs: pick([null, 5, 250, 90_000]),
      generationTimeMs: pick([null, 0, 100, 5_000]),
    }),
  );
}

const createRollup = (database: Database) =>
  createUsageRollup({ database, lagMs: LAG_MS, sliceRecords: SLICE_RECORDS, groupsMax: GROUPS_MAX });

/** As a journal does it, in one transaction with the late records. */
const sumUpAgain = ({ runAlone }: Database, sinceMs: number) =>
  runAlone('usage-progress', (transaction) => sumUpAgainIn(transaction, sinceMs));

for (const engine of ENGINES)
  suite(`sums of generations over ${engine.name}`, () => {
    let place: Place;
    let database: Database;
    let store: ReturnType<typeof createAppender>;
    const rows = [...generations(500)];
    before(async () => {
      place = await engine.makePlace();
      database = await openDatabase({ ...place, clock });
      store = createAppender(database);
      await Promise.all(rows.map((row) => store.append(row)));
    });
    after(async () => {
      await database.close();
      await place.remove();
    });

    async function sumUpAll(nowMs = NOW_MS): Promise<number> {
      const rollup = createRollup(database);
      let steps = 0;
      while (await rollup.step(nowMs)) steps++;
      return steps;
    }

    const ask = (input: Partial<UsageInput>) =>
      createUsageReports({ database }).read(
        {
          fromMs: START_MS,
          toMs: NOW_MS,
          by: [],
          measures: ['requests', 'failures', 'cancelled', 'tokens_prompt', 'cost_nano_usd'],
          filters: [],
          ...input,
        },
        NEVER_LATE,
      );

    /** Computes the same by plain addition over the rows. */
    function addUp(fromMs: number, toMs: number, keyOf: (row: GenerationRow) => string): Record<string, number[]> {
      const sums: Record<string, number[]> = {};
      for (const row of rows.filter(({ createdAtMs }) => createdAtMs >= fromMs && createdAtMs < toMs)) {
        const failed = row.status >= 400 && !row.cancelled;
        const values = [1, failed ? 1 : 0, row.cancelled ? 1 : 0, row.tokensPrompt, row.costNanoUsd ?? 0];
        const sum = sums[keyOf(row)] ?? [0, 0, 0, 0, 0];
        sums[keyOf(row)] = sum.map((value, index) => value + (values[index] ?? 0));
      }
      return sums;
    }

    const RANGES = [
      ['all of it', START_MS, NOW_MS],
      ['with ragged ends', START_MS + 1_234_567, NOW_MS - 2_345_678],
      ['inside one hour', START_MS + 60_000, START_MS + 120_000],
      ['a whole day', START_MS + DAY_MS, START_MS + 2 * DAY_MS],
    ] as const;

    async function checkAll(): Promise<void> {
      for (const [name, fromMs, toMs] of RANGES) {
        const { groups } = await ask({ fromMs, toMs, by: ['model', 'provider'] });
        const found = Object.fromEntries(groups.map(({ key, sums }) => [key.join(' '), sums]));
        assert.deepEqual(
          found,
          addUp(fromMs, toMs, (row) => `${row.model} ${row.provider ?? ''}`),
          name,
        );
      }
    }

    test('reads what is not summed up yet from the records', checkAll);

    test('gives the same sums from hours and days as from the records', async () => {
      assert.ok((await sumUpAll()) > HOURS_MS.length);
      await checkAll();
    });

    test('sums nothing up while its records may still come', async () => {
      const { hourlyMs, dailyMs } = await readUsageProgress(database);
      assert.equal(new Date(hourlyMs).toISOString(), '2026-11-21T10:00:00.000Z');
      assert.equal(new Date(dailyMs).toISOString(), '2026-11-21T00:00:00.000Z');
    });

    test('changes nothing by summing up again, or twice at once', async () => {
      const earlier = await database.kysely.selectFrom('usage_daily').selectAll().orderBy('start_ms').execute();
      await database.kysely.deleteFrom('usage_progress').execute();
      await Promise.all([sumUpAll(), sumUpAll()]);
      const afterwards = await database.kysely.selectFrom('usage_daily').selectAll().orderBy('start_ms').execute();
      assert.equal(afterwards.length, earlier.length);
      await checkAll();
    });

    test('gives the same total by hour, day and week', async () => {
      for (const bucketMs of [HOUR_MS, DAY_MS, 7 * DAY_MS]) {
        const { groups } = await ask({ bucketMs, by: ['model'] });
        const found = Object.fromEntries(groups.map(({ startMs, key, sums }) => [`${startMs} ${key[0]}`, sums]));
        const offset = bucketMs === 7 * DAY_MS ? Date.parse('1970-01-05T00:00:00Z') : 0;
        const start = (ms: number): number => ms - ((ms - offset) % bucketMs);
        assert.deepEqual(
          found,
          addUp(START_MS, NOW_MS, (row) => `${start(row.createdAtMs)} ${row.model}`),
        );
      }
    });

    test('filters values in or out, unset ones too', async () => {
      const by = ['provider'] as const;
      const only = await ask({ by, filters: [{ dimension: 'provider', values: ['alpha', ''], isNot: false }] });
      assert.deepEqual(new Set(only.groups.map(({ key }) => key[0])), new Set(['alpha', '']));
      const others = await ask({ by, filters: [{ dimension: 'provider', values: ['alpha'], isNot: true }] });
      assert.deepEqual(new Set(others.groups.map(({ key }) => key[0])), new Set(['beta', '']));
    });

    test('reads single generations from the records, and reports that too many groups are truncated', async () => {
      const reports = createUsageReports({ database });
      const question = { fromMs: START_MS, toMs: NOW_MS, by: ['id'], measures: ['requests'], filters: [] } as const;
      assert.equal((await reports.read(question, NEVER_LATE)).groups.length, rows.length);
      const cut = await reports.read(question, { ...NEVER_LATE, groupsMax: 100 });
      assert.deepEqual([cut.groups.length, cut.truncated], [100, true]);
    });

    test('counts the speed of every generation that has one in exactly one class', async () => {
      const { groups } = await ask({ measures: ['first_token_0', 'first_token_7', 'first_token_8', 'first_token_23'] });
      const count = (ms: number): number => rows.filter((row) => row.timeToFirstTokenMs === ms).length;
      assert.deepEqual(groups[0]?.sums, [count(5), 0, count(250), count(90_000)]);
    });

    test('stops a report that is late between two queries', async () => {
      let requestedCount = 0;
      const reports = createUsageReports({ database });
      const question = { fromMs: START_MS, toMs: NOW_MS, by: ['id'], measures: ['requests'], filters: [] } as const;
      await assert.rejects(
        reports.read(question, { groupsMax: 10_000, isLate: () => ++requestedCount > 3 }),
        TooLateError,
      );
    });

    test('limits the rows for names that callers choose', async () => {
      const hourMs = NOW_MS + DAY_MS;
      const flood = Array.from({ length: GROUPS_MAX + 20 }, (_, index) =>
        sampleGeneration({ id: `gen-flood-${index}`, createdAtMs: hourMs + index, appUrl: `https://${index}.example` }),
      );
      await Promise.all(flood.map((row) => store.append(row)));
      await sumUpAll(hourMs + 2 * HOUR_MS);
      const hour = await ask({ fromMs: hourMs - (hourMs % HOUR_MS), toMs: hourMs + HOUR_MS, by: ['app_url'] });
      const summed = hour.groups.filter(({ key }) => key[0] === OTHER).map(({ sums }) => sums[0]);
      assert.deepEqual(summed, [GROUPS_MAX + 20]);
    });

    test('shortens long names that callers choose', async () => {
      const long = (letter: string): string => letter.repeat(500);
      const atMs = NOW_MS + 3 * DAY_MS;
      await store.append(
        sampleGeneration({
          id: 'gen-long',
          createdAtMs: atMs,
          appUrl: long('\u{1f600}'),
          model: long('\u{1f601}'),
          upstreamModel: long('\u{1f602}'),
          memberId: long('\u{1f603}'),
        }),
      );
      const question = {
        fromMs: atMs - (atMs % HOUR_MS),
        toMs: atMs - (atMs % HOUR_MS) + HOUR_MS,
        by: ['app_url'],
      } as const;
      const filters = [{ dimension: 'app_url', values: [long('\u{1f600}')], isNot: false }] as const;
      const fromRecords = await ask({ ...question, filters });
      await sumUpAll(atMs + 2 * HOUR_MS);
      assert.deepEqual(await ask({ ...question, filters }), fromRecords);
      assert.equal(fromRecords.groups[0]?.sums[0], 1);
    });

    test('counts a record that comes after its hour was summed up', async () => {
      await appendLate('gen-late', START_MS + 5 * HOUR_MS + 7);
      await assert.rejects(checkAll(), 'nothing reads the records of that hour');
      await sumUpAgain(database, START_MS + 5 * HOUR_MS + 7);
      await checkAll();
      await sumUpAll();
      await checkAll();
      assert.ok((await readUsageProgress(database)).dailyMs > START_MS + DAY_MS, 'it was summed up again');
    });

    for (const source of ['generations', 'usage_hourly'] as const)
      for (const isSummedUpMeanwhile of [false, true])
        test(`counts a record that comes while ${source} is being summed up${isSummedUpMeanwhile ? ', and by another process, too' : ''}`, async () => {
          // In the first hour of a day: the hour and the day are both read from there first.
          const atMs = START_MS + DAY_MS + 11;
          await sumUpAgain(database, atMs);
          if (source === 'usage_hourly') await sumUpHours();
          let isLate = false;
          const reports = afterFirstSums(database.reports, async () => {
            isLate = true;
            await appendLate(`gen-late-${source}-${isSummedUpMeanwhile}`, atMs);
            await sumUpAgain(database, atMs);
            if (isSummedUpMeanwhile) await sumUpAll();
          });
          await createRollup({ ...database, reports }).step(NOW_MS);
          assert.ok(isLate);
          await sumUpAll();
          await checkAll();
        });

    test('counts a record that comes while a process fails between the sums and their progress', async () => {
      const atMs = START_MS + DAY_MS + 17;
      await appendLate('gen-late-failed', atMs);
      await sumUpAgain(database, atMs);
      const runAlone: Database['runAlone'] = async (name, task) =>
        database.runAlone(name, async (transaction) => {
          await task(transaction);
          throw new Error('the connection broke');
        });
      await assert.rejects(createRollup({ ...database, runAlone }).step(NOW_MS));
      await sumUpAll();
      await checkAll();
    });

    test('sums up to the end where many processes do it at once and a record comes late', async () => {
      await sumUpAgain(database, START_MS);
      const earlier = await readUsageProgress(database);
      const processes = Array.from({ length: 4 }, () => sumUpAll());
      await sumUpAgain(database, START_MS + HOUR_MS);
      await Promise.all(processes);
      const { setBackCount } = await readUsageProgress(database);
      assert.equal(setBackCount, earlier.setBackCount + 1, 'only the late record sets the progress back');
      await checkAll();
    });

    test('counts nothing twice where names are merged that were apart before', async () => {
      const hourMs = NOW_MS + 6 * DAY_MS - ((NOW_MS + 6 * DAY_MS) % HOUR_MS);
      const record = (index: number): GenerationRow =>
        sampleGeneration({ id: `gen-apart-${index}`, createdAtMs: hourMs + index, appUrl: `https://${index}.example` });
      await Promise.all(Array.from({ length: GROUPS_MAX }, (_, index) => store.append(record(index))));
      await sumUpAll(hourMs + 2 * HOUR_MS);
      await store.append(record(GROUPS_MAX));
      await sumUpAgain(database, hourMs);
      await sumUpAll(hourMs + 2 * HOUR_MS);
      const { groups } = await ask({ fromMs: hourMs, toMs: hourMs + HOUR_MS });
      assert.equal(groups[0]?.sums[0], GROUPS_MAX + 1);
    });

    async function appendLate(id: string, createdAtMs: number): Promise<void> {
      const late = sampleGeneration({ id, createdAtMs, model: 'acme/one', provider: 'alpha', tokensPrompt: 12_345 });
      await store.append(late);
      rows.push(late);
    }

    async function sumUpHours(): Promise<void> {
      const rollup = createRollup(database);
      const overMs = NOW_MS - LAG_MS - HOUR_MS;
      while ((await readUsageProgress(database)).hourlyMs <= overMs) assert.ok(await rollup.step(NOW_MS));
    }
  });

/** Runs `task` between the read of the first sums and their use, where another process may run. */
function afterFirstSums(reports: Database['reports'], task: () => Promise<void>): Database['reports'] {
  let isFirst = true;
  return reports.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (isFirst && result.rows.some((row) => 'm0' in row)) {
        isFirst = false;
        await task();
      }
      return result;
    },
  });
}

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { ENGINES, type Place } from '../../tests/support/store/engines.ts';
import { openScriptedRun } from '../../tests/support/store/intern-run.ts';
import { systemClock } from '../lib/clock.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { InternSchedule, InternSettings } from '../resources/interns.ts';
import { openDatabase, type Database } from '../store/engine/database.ts';
import type { InternRow } from '../store/interns/columns.ts';
import { createScheduleStore } from '../store/interns/schedules.ts';
import { scheduleRows } from './schedule-rows.ts';
import { createSchedules } from './schedules.ts';

const HOUR_MS = 3_600_000;
const START_MS = Date.parse('2026-11-27T10:30:00Z');
/** The first due time, and a moment by which it has begun, spread included. */
const DUE_MS = Date.parse('2026-11-27T11:00:00Z');
const BEGUN_MS = DUE_MS + 40_000;
const HOURLY: InternSchedule = {
  id: 'hourly',
  cron: '0 * * * *',
  tz: 'UTC',
  prompt: 'Look around.',
  enabled: true,
  catch_up: 'none',
};

for (const engine of ENGINES)
  suite(`schedules of interns: ${engine.name}`, () => {
    let place: Place;
    let database: Database;
    before(async () => {
      place = await engine.makePlace();
      database = await openDatabase({ ...place, clock: systemClock });
    });
    after(async () => {
      await database.close();
      await place.remove();
    });

    /** An agent with a schedule, and processes that look at it by one clock. */
    async function open(own: Partial<InternSchedule> = {}, limits?: InternSettings['limits'], further = 0) {
      const schedules = [{ ...HOURLY, ...own }];
      for (let at = 0; at < further; at++) schedules.push({ ...HOURLY, id: `further-${at}` });
      const settings = { schedules, ...(limits && { limits }) };
      const { interns, runs, row, run } = await openScriptedRun(database, 'read', { settings });
      // Of the helper: over, and of no schedule.
      await runs.cancel(run.id, 0);
      const store = createScheduleStore(database);
      let nowMs = START_MS;
      const clock = { ...systemClock, nowMs: () => nowMs };
      const resume = async () => {
        const { version } = (await interns.find(row.id)) ?? row;
        await interns.update(row.id, { version: version + 1, schedules: scheduleRows(row, nowMs) });
      };
      await resume();
      const reported: string[] = [];
      // Agents of other tests are due in the same database.
      const report = (what: string) => (intern: InternRow, id: string) =>
        void (intern.id === row.id && reported.push(`${id} ${what}`));
      const jobs: string[] = [];
      const process = () =>
        createSchedules({
          runs,
          interns,
          schedules: store,
          clock,
          selfDrive: false,
          jobs: {
            add: ({ subjectId }: { subjectId: string }) => Promise.resolve(jobs.push(subjectId)),
          } as unknown as Jobs,
          notices: { skipped: report('skipped'), paused: report('paused') },
        });
      const one = process();
      return {
        process,
        reported,
        jobs,
        row,
        interns,
        resume,
        lookAt: async (atMs: number) => {
          nowMs = atMs;
          return one.runDue();
        },
        setNow: (atMs: number) => (nowMs = atMs),
        begun: async () =>
          (await runs.list(row.id, { offset: 0, limit: 100 })).rows.filter((each) => each.scheduleId === 'hourly'),
        end: async (state: 'done' | 'failed') => {
          const { rows } = await runs.list(row.id, { offset: 0, limit: 100 });
          for (const each of rows)
            await runs.change(each.id, ['queued'], { state, finishedAtMs: nowMs, updatedAtMs: nowMs });
        },
        failed: () => one.failed({ internId: row.id, scheduleId: 'hourly' }),
        due: async () => (await store.ofIntern(row.id))[0],
        allDue: async () => (await store.ofIntern(row.id)).map(({ dueAtMs }) => dueAtMs),
      };
    }

    // @spec intern-22
    test('begins one run for a due time, by however many processes', async () => {
      const { process, setNow, begun, due, jobs } = await open();
      setNow(DUE_MS - 1);
      await process().runDue();
      assert.deepEqual(await begun(), []);
      setNow(BEGUN_MS);
      await Promise.all(Array.from({ length: 6 }, () => process().runDue()));
      const runs = await begun();
      assert.equal(runs.length, 1);
      assert.deepEqual([runs[0]?.runTrigger, runs[0]?.state], ['schedule', 'queued']);
      assert.ok(jobs.includes(runs[0]?.id ?? ''));
      assert.equal((await due())?.dueAtMs, DUE_MS + HOUR_MS);
    });

    // @spec intern-22
    test('begins no second run where the first process ends before it moved on', async () => {
      const { lookAt, begun, due, row, end } = await open();
      await lookAt(BEGUN_MS);
      await end('done');
      await database.kysely
        .updateTable('intern_schedules')
        .set({ due_at_ms: DUE_MS })
        .where('intern_id', '=', row.id)
        .execute();
      await lookAt(BEGUN_MS + 1);
      assert.equal((await begun()).length, 1);
      assert.equal((await due())?.dueAtMs, DUE_MS + HOUR_MS);
    });

    // @spec intern-23
    test('leaves out what was missed, or makes up for it with one run', async () => {
      for (const [catchUp, count] of [
        ['none', 0],
        ['once', 1],
      ] as const) {
        const { lookAt, begun, due } = await open({ catch_up: catchUp });
        await lookAt(DUE_MS + 5 * HOUR_MS + 600_000);
        assert.equal((await begun()).length, count);
        assert.equal((await due())?.dueAtMs, DUE_MS + 6 * HOUR_MS);
        await lookAt(DUE_MS + 5 * HOUR_MS + 700_000);
        assert.equal((await begun()).length, count);
      }
    });

    test('begins nothing while the agent is stopped', async () => {
      const { lookAt, begun, interns, row } = await open({ catch_up: 'once' });
      await interns.update(row.id, { status: 'stopped' });
      await lookAt(BEGUN_MS);
      assert.deepEqual(await begun(), []);
      await interns.update(row.id, { status: 'running' });
      await lookAt(BEGUN_MS + HOUR_MS / 2);
      assert.equal((await begun()).length, 1);
    });

    // @spec intern-23
    test('skips a time at which as many runs as may be are under way, and says so', async () => {
      const { lookAt, begun, reported } = await open();
      await lookAt(BEGUN_MS);
      await lookAt(BEGUN_MS + HOUR_MS);
      assert.equal((await begun()).length, 1);
      assert.deepEqual(reported, ['hourly skipped']);
    });

    // @spec intern-23
    test('pauses after five failures in a row until its schedules are set again', async () => {
      const { lookAt, begun, end, failed, reported, due, resume } = await open();
      for (let hour = 0; hour < 5; hour++) {
        await lookAt(BEGUN_MS + hour * HOUR_MS);
        // A success in between begins the count anew.
        await end(hour === 0 ? 'done' : 'failed');
        await failed();
      }
      assert.equal((await due())?.pausedAtMs, null);
      await lookAt(BEGUN_MS + 5 * HOUR_MS);
      await end('failed');
      await Promise.all([failed(), failed()]);
      assert.deepEqual(reported, ['hourly paused']);
      assert.equal((await due())?.dueAtMs, null);
      await lookAt(BEGUN_MS + 6 * HOUR_MS);
      assert.equal((await begun()).length, 6);
      await resume();
      await lookAt(BEGUN_MS + 7 * HOUR_MS);
      assert.equal((await begun()).length, 7);
    });

    test('stays due when it was where other settings change, and is gone with its agent', async () => {
      const { lookAt, due, resume, interns, row } = await open();
      const dueAtMs = (await due())?.dueAtMs;
      await lookAt(START_MS + 60_000);
      await resume();
      assert.equal((await due())?.dueAtMs, dueAtMs);
      await interns.remove(row.id);
      assert.equal(await due(), undefined);
    });

    // @spec intern-25
    test('keeps the last versions of notes, of writers at the same moment, and writes once for a step', async () => {
      const { row } = await open();
      const { memory } = await openScriptedRun(database, 'read');
      const { changeMemory } = await import('./memory.ts');
      const deps = { memory, clock: systemClock };
      const append = (by: string) => changeMemory(deps, row.id, { kind: 'append', text: by, by, bytesMax: 10_000 });
      await Promise.all(['run a step 1', 'run a step 1', 'run b step 1', 'run c step 1'].map(append));
      const [last] = await memory.last(row.id, 1);
      assert.deepEqual(last?.text.split('\n').toSorted(), ['run a step 1', 'run b step 1', 'run c step 1']);
      for (let at = 0; at < 55; at++) await append(`key ${randomUUID()}`);
      const kept = await memory.last(row.id, 100);
      assert.deepEqual([kept.length, kept[0]?.version], [50, 58]);
      await assert.rejects(
        changeMemory(deps, row.id, { kind: 'replace', text: 'ö'.repeat(6), by: 'key', bytesMax: 11 }),
        {
          status: 400,
        },
      );
    });

    // @spec intern-22
    test('reports that there is more while further schedules are due than one look begins', async () => {
      const agents = [];
      for (let count = 0; count < 15; count++) agents.push(await open({}, undefined, 9));
      const { lookAt } = await open();
      let looks = 1;
      while (looks < 10 && (await lookAt(BEGUN_MS))) looks++;
      assert.ok(looks > 1 && looks < 10, `looks: ${looks}`);
      for (const { allDue } of agents) assert.deepEqual(new Set(await allDue()), new Set([DUE_MS + HOUR_MS]));
    });
  });

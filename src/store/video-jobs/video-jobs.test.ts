import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { sql } from 'kysely';
import { systemClock } from '../../lib/clock.ts';
import { createSecretBox, secretFrom } from '../../lib/secret-box.ts';
import { ENGINES, type Place } from '../../../tests/support/store/engines.ts';
import { sampleGeneration } from '../../../tests/support/store/generations.ts';
import { openDatabase, type Database } from '../engine/database.ts';
import type { VideoJob } from './columns.ts';
import { createVideoJobStore, NEW_JOB } from './video-jobs.ts';

/** Every database has it from the start. */
const OWNER = { accountId: 'default', workspaceId: '00000000-0000-4000-8000-000000000001' };
const START_MS = 1_790_000_000_000;
const LEASE = { leaseMs: 60_000, limit: 10, except: [] };

async function open(database: Database) {
  let nowMs = START_MS;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  for (const table of ['video_jobs', 'generations', 'ledger_entries', 'spend'])
    await sql`delete from ${sql.table(table)}`.execute(database.kysely);
  const box = createSecretBox([secretFrom('a secret')]);
  const store = createVideoJobStore({ database, box: () => Promise.resolve(box), clock, lagMs: 0 });
  const insert = (id: string, more: Partial<VideoJob> = {}) =>
    store.insert({
      ...NEW_JOB,
      ...OWNER,
      id,
      generationId: `gen-${id}`,
      keyHash: 'key',
      status: 'pending',
      model: 'acme/clip',
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
      nextPollMs: nowMs,
      leaseOwner: null,
      leaseUntilMs: 0,
      facts: '{"prompt":"the caller wrote this"}',
      ...more,
    });
  return { store, insert, setClock: (ms: number) => (nowMs = ms) };
}

const ids = (jobs: readonly VideoJob[]) => jobs.map(({ id }) => id).toSorted();

for (const engine of ENGINES)
  suite(`jobs of clips: ${engine.name}`, () => {
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

    test('seals what a job is about', async () => {
      const { store, insert } = await open(database);
      await insert('vid_1');
      const { rows } = await sql`select * from video_jobs`.execute(database.kysely);
      assert.ok(!JSON.stringify(rows).includes('the caller wrote'));
      assert.equal((await store.find(OWNER, 'vid_1'))?.facts, '{"prompt":"the caller wrote this"}');
      assert.equal(await store.find({ ...OWNER, workspaceId: 'another' }, 'vid_1'), undefined);
    });

    // @spec video-9
    test('gives a job to one process at a time, and to the next once its lease is over', async () => {
      const { store, insert, setClock } = await open(database);
      for (const id of ['vid_1', 'vid_2', 'vid_3']) await insert(id);
      const both = await Promise.all(['a', 'b'].map((owner) => store.leaseDue({ ...LEASE, owner })));
      assert.deepEqual(ids(both.flat()), ['vid_1', 'vid_2', 'vid_3']);
      assert.deepEqual(await store.leaseDue({ ...LEASE, owner: 'c' }), []);
      setClock(START_MS + 60_001);
      assert.deepEqual(ids(await store.leaseDue({ ...LEASE, owner: 'c' })), ['vid_1', 'vid_2', 'vid_3']);
      assert.equal(await store.change({ id: 'vid_1', ...OWNER }, 'a', { progress: 1 }), false);
      assert.equal(await store.change({ id: 'vid_1', ...OWNER }, 'c', { progress: 1 }), true);
    });

    test('leaves out jobs whose time has not come, and those of busy providers', async () => {
      const { store, insert, setClock } = await open(database);
      await insert('vid_1', { nextPollMs: START_MS + 5_000 });
      await insert('vid_2', { provider: 'busy' });
      await insert('vid_3', { provider: 'other' });
      assert.deepEqual(ids(await store.leaseDue({ ...LEASE, owner: 'a', except: ['busy'] })), ['vid_3']);
      // A clock that was set back leaves no job alone for long.
      setClock(START_MS - 10 * 3_600_000);
      assert.deepEqual(ids(await store.leaseDue({ ...LEASE, owner: 'b' })), ['vid_1', 'vid_2', 'vid_3']);
    });

    // @spec video-2, video-11
    test('ends a job and stores its charge once, whichever process is faster', async () => {
      const { store, insert } = await open(database);
      await insert('vid_1');
      const job = await store.find(OWNER, 'vid_1');
      assert.ok(job);
      const generation = sampleGeneration({ id: job.generationId, costNanoUsd: 700, listCostNanoUsd: null });
      const end = (error: string) => store.end(job, { status: 'completed', error, finishedAtMs: START_MS }, generation);
      const ended = await Promise.all([end('one'), end('two')]);
      assert.equal(ended.filter(Boolean).length, 1);
      const { rows } = await sql<{ nano: unknown }>`
        select sum(amount_nano_usd) as nano from ledger_entries where generation_id = ${job.generationId}
      `.execute(database.kysely);
      assert.equal(Number(rows[0]?.nano), -700);
      const over = await store.find(OWNER, 'vid_1');
      assert.equal(over?.status, 'completed');
      assert.equal(over?.error, ended[0] ? 'one' : 'two');
      assert.deepEqual(await store.leaseDue({ ...LEASE, owner: 'a' }), []);
    });

    test('ends no job whose charge the database refuses', async () => {
      const { store, insert } = await open(database);
      await insert('vid_1');
      const job = await store.find(OWNER, 'vid_1');
      assert.ok(job);
      const generation = sampleGeneration({ id: job.generationId, costNanoUsd: 700, listCostNanoUsd: null });
      await sql`insert into ledger_entries (id, at_ms, account_id, kind, amount_nano_usd)
        values (${`${job.generationId}:usage`}, 1, 'default', 'usage', -5)`.execute(database.kysely);
      await assert.rejects(store.end(job, { status: 'completed' }, generation));
      assert.equal((await store.find(OWNER, 'vid_1'))?.status, 'pending');
      const { rows } = await sql`select id from generations`.execute(database.kysely);
      assert.deepEqual(rows, []);
    });

    // @spec video-18
    test('lists the newest first, without those whose request failed', async () => {
      const { store, insert } = await open(database);
      await insert('vid_1');
      await insert('vid_2', { status: 'completed' });
      await insert('vid_3', { isListed: false, status: 'failed' });
      await insert('vid_4', { workspaceId: 'another' });
      const list = async (window: Parameters<typeof store.list>[1]) =>
        (await store.list(OWNER, window)).map(({ id }) => id);
      assert.deepEqual(await list({ limit: 10 }), ['vid_2', 'vid_1']);
      assert.deepEqual(await list({ limit: 10, afterId: 'vid_2' }), ['vid_1']);
      assert.deepEqual(await list({ limit: 1 }), ['vid_2']);
      assert.deepEqual(await list({ limit: 10, status: 'completed' }), ['vid_2']);
      assert.deepEqual(await store.countOpen({ keyHash: 'key', accountId: 'default' }), { key: 2, account: 2 });
    });

    test('removes jobs that are over, and those whose time has come', async () => {
      const { store, insert, setClock } = await open(database);
      await insert('vid_1');
      await insert('vid_2', { status: 'failed', expiresAtMs: START_MS + 1_000 });
      await insert('vid_3', { status: 'failed', expiresAtMs: START_MS + 9_000 });
      assert.equal(await store.remove(OWNER, 'vid_1'), false);
      assert.equal(await store.clearAway(), false);
      setClock(START_MS + 1_000);
      await store.clearAway();
      const left = await database.kysely.selectFrom('video_jobs').select('id').orderBy('id').execute();
      assert.deepEqual(left, [{ id: 'vid_1' }, { id: 'vid_3' }]);
      assert.equal(await store.remove(OWNER, 'vid_3'), true);
    });
  });

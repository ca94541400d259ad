import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { sql } from 'kysely';
import { systemClock } from '../../lib/clock.ts';
import { ENGINES, type Place } from '../../../tests/support/store/engines.ts';
import { openDatabase, type Database } from '../engine/database.ts';
import type { Job } from './columns.ts';
import { createJobStore, type NewJob } from './jobs.ts';

const START_MS = 1_790_000_000_000;
const LEASE = { kind: 'notify', leaseMs: 60_000, limit: 10 };

async function open(database: Database) {
  let nowMs = START_MS;
  await sql`delete from jobs`.execute(database.kysely);
  const store = createJobStore(database, () => sql<number>`cast(${nowMs} as bigint)`);
  const add = (id: string, more: Partial<NewJob> = {}, openMax = 100) =>
    store.add({ id, kind: 'notify', subjectId: id, delayMs: 0, checkpoint: {}, ...more }, openMax);
  return { store, add, setClock: (ms: number) => (nowMs = ms) };
}

const ids = (jobs: readonly Job[]) => jobs.map(({ id }) => id).toSorted();

for (const engine of ENGINES)
  suite(`jobs: ${engine.name}`, () => {
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

    // @spec job-1
    test('adds a job once by its id, and none beyond the bound of its kind', async () => {
      const { store, add } = await open(database);
      const [one, other] = await Promise.all([add('a', { subjectId: 'x' }), add('a', { subjectId: 'y' })]);
      assert.deepEqual([one, other].toSorted(), ['added', 'known']);
      assert.equal(await add('b', {}, 1), 'full');
      assert.equal(await add('b', { kind: 'evaluate' }, 1), 'added');
      assert.deepEqual(ids(await store.ofSubject('evaluate', 'b', 10)), ['b']);
    });

    // @spec job-2
    test('gives a job to one process at a time, and to the next once its lease is over', async () => {
      const { store, add, setClock } = await open(database);
      for (const id of ['a', 'b', 'c']) await add(id);
      await add('later', { delayMs: 30_000 });
      const both = await Promise.all(['one', 'two'].map((owner) => store.lease({ ...LEASE, owner })));
      assert.deepEqual(ids(both.flat()), ['a', 'b', 'c']);
      assert.deepEqual(await store.lease({ ...LEASE, owner: 'three' }), []);
      setClock(START_MS + 60_001);
      const retaken = await store.lease({ ...LEASE, owner: 'three' });
      assert.deepEqual(ids(retaken), ['a', 'b', 'c', 'later']);
      assert.deepEqual(retaken.find(({ id }) => id === 'a')?.attempt, 2);
      assert.equal((await store.renew(['a', 'b'], 'one', 60_000)).size, 0);
      assert.equal(await store.end('a', 'one', { state: 'done', keepMs: 0 }), false);
      assert.equal(await store.end('a', 'three', { state: 'done', keepMs: 0 }), true);
    });

    // @spec job-3
    test('runs one job of a subject at a time, whichever processes take them', async () => {
      const { store, add } = await open(database);
      for (const id of ['a', 'b', 'c']) await add(id, { subjectId: 'same' });
      await add('d', { subjectId: 'same', kind: 'evaluate' });
      const taken = await Promise.all(['one', 'two', 'three'].map((owner) => store.lease({ ...LEASE, owner })));
      const [first] = taken.flat();
      assert.equal(taken.flat().length, 1);
      assert.ok(first?.leaseOwner);
      assert.deepEqual(ids(await store.lease({ ...LEASE, kind: 'evaluate', owner: 'one' })), ['d']);
      await store.end(first.id, first.leaseOwner, { state: 'failed', error: 'no', keepMs: 1_000 });
      assert.equal((await store.lease({ ...LEASE, owner: 'one' })).length, 1);
    });

    test('goes on from what was stored, and counts attempts from there', async () => {
      const { store, add, setClock } = await open(database);
      await add('a', { checkpoint: { at: 0 } });
      await store.lease({ ...LEASE, owner: 'one' });
      assert.equal(await store.end('a', 'one', { state: 'queued', delayMs: 5_000, error: 'x' }), true);
      assert.deepEqual(await store.lease({ ...LEASE, owner: 'one' }), []);
      setClock(START_MS + 5_000);
      const [again] = await store.lease({ ...LEASE, owner: 'one' });
      assert.deepEqual([again?.attempt, again?.error, again?.checkpoint], [2, 'x', { at: 0 }]);
      assert.equal(await store.save('a', 'one', { at: 7 }), true);
      const saved = await store.find('a');
      assert.deepEqual([saved?.attempt, saved?.checkpoint, saved?.state], [1, { at: 7 }, 'running']);
    });

    test('wakes what waits, ends what is cancelled, and deletes rows whose time is over', async () => {
      const { store, add, setClock } = await open(database);
      for (const id of ['a', 'b']) await add(id);
      await store.lease({ ...LEASE, owner: 'one' });
      assert.equal(await store.end('a', 'one', { state: 'waiting' }), true);
      assert.equal(await store.wake('a', { said: 'yes' }), true);
      assert.equal(await store.wake('a'), false);
      assert.equal(await store.cancel('a', 1_000), true);
      assert.equal(await store.cancel('a', 1_000), false);
      assert.equal(await store.cancel('b', 1_000), true);
      assert.deepEqual(await store.renew(['b'], 'one', 60_000), new Map([['b', { isCancelled: true }]]));
      await store.end('b', 'one', { state: 'cancelled', keepMs: 5_000 });
      setClock(START_MS + 1_000);
      assert.equal(await store.clearAway(), false);
      assert.equal(await store.find('a'), undefined);
      assert.equal((await store.find('b'))?.state, 'cancelled');
    });

    // @spec job-8
    test('lists jobs by kind, state and subject, the newest first, and counts them', async () => {
      const { store, add, setClock } = await open(database);
      for (const [index, id] of ['a', 'b', 'c'].entries()) {
        setClock(START_MS + index);
        await add(id, id === 'c' ? { kind: 'evaluate' } : {});
      }
      await store.lease({ ...LEASE, owner: 'one', limit: 1 });
      await store.end('a', 'one', { state: 'failed', error: 'refused', keepMs: 60_000 });
      const found = async (...[filter, window]: Partial<Parameters<typeof store.list>>) => {
        const { rows, totalCount } = await store.list(filter ?? {}, window ?? { offset: 0, limit: 10 });
        return [rows.map(({ id }) => id).join(), totalCount];
      };
      assert.deepEqual(await found(), ['c,b,a', 3]);
      assert.deepEqual(await found({}, { offset: 1, limit: 1 }), ['b', 3]);
      assert.deepEqual(await found({ kind: 'notify' }), ['b,a', 2]);
      assert.deepEqual(await found({ kind: 'notify', state: 'failed' }), ['a', 1]);
      assert.deepEqual(await found({ subjectId: 'c' }), ['c', 1]);
      assert.deepEqual(await found({ subjectId: '\0' }), ['', 0]);
      assert.deepEqual(await store.count(), [
        { kind: 'evaluate', state: 'queued', jobs: 1 },
        { kind: 'notify', state: 'failed', jobs: 1 },
        { kind: 'notify', state: 'queued', jobs: 1 },
      ]);
    });

    // @spec classifier-6
    test('drops the oldest jobs of a subject that wait, and none that run or are of another one', async () => {
      const { store, add, setClock } = await open(database);
      for (const [index, id] of ['a', 'b', 'c', 'd'].entries()) {
        setClock(START_MS + index);
        await add(id, { subjectId: 'same' });
      }
      await add('other');
      const [taken] = await store.lease({ ...LEASE, owner: 'one', limit: 1 });
      assert.equal(taken?.id, 'a');
      assert.equal(await store.dropOldest('notify', 'same', 2), 1);
      assert.equal(await store.dropOldest('notify', 'same', 2), 0);
      assert.deepEqual(ids(await store.ofSubject('notify', 'same', 10)), ['a', 'c', 'd']);
      assert.equal((await store.find('other'))?.state, 'queued');
    });

    test('forgets what the only process ran before it was killed', async () => {
      const { store, add } = await open(database);
      await add('a');
      await store.lease({ ...LEASE, owner: 'killed' });
      await store.forgetRunners();
      assert.deepEqual(ids(await store.lease({ ...LEASE, owner: 'next' })), ['a']);
    });

    test('takes a job over although the clock was set back', async () => {
      const { store, add, setClock } = await open(database);
      await add('a');
      await store.lease({ ...LEASE, owner: 'killed' });
      setClock(START_MS - 10 * 3_600_000);
      assert.deepEqual(ids(await store.lease({ ...LEASE, owner: 'next' })), ['a']);
    });

    test('goes by the clock of the database where no other is given', async () => {
      await open(database);
      const store = createJobStore(database);
      await store.add({ id: 'a', kind: 'notify', subjectId: 'a', delayMs: 0, checkpoint: {} }, 10);
      const [job] = await store.lease({ ...LEASE, owner: 'one' });
      assert.ok(Math.abs((job?.leaseUntilMs ?? 0) - Date.now() - 60_000) < 5_000);
    });
  });

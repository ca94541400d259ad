import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { createSecretBox, secretFrom } from '../../lib/secret-box.ts';
import { openDatabase } from '../engine/database.ts';
import { createStoredRows, type StoredRows } from './response-rows.ts';
import { ENGINES, type Place } from '../../../tests/support/store/engines.ts';
import { KEY, OTHER_KEY } from '../../../tests/support/store/response-rows.ts';

const BOUNDS = { perKey: 2, leaseMs: 30_000 };
const WAITING_MAX = 3;

async function open(
  t: TestContext,
  makePlace: () => Promise<Place>,
): Promise<StoredRows & { later(ms: number): void }> {
  const place = await makePlace();
  let passedMs = 0;
  const clock = { nowMs: () => Date.now() + passedMs, monotonicMs: () => performance.now() + passedMs };
  const database = await openDatabase({ ...place, clock });
  t.after(async () => {
    await database.close();
    await place.remove();
  });
  const box = createSecretBox([secretFrom('the secret')]);
  const rows = createStoredRows({
    database,
    box: () => Promise.resolve(box),
    clock,
    retentionMs: 0,
    bytesMaxPerKey: 1_000_000,
    eventsMs: 60_000,
  });
  return { ...rows, later: (ms) => void (passedMs += ms) };
}

let made = 0;

function add({ tasks }: StoredRows, id: string, key = KEY): Promise<boolean> {
  const owner = { ...key, keyHash: key.keyHash ?? '' };
  const task = { id, owner, createdAtMs: ++made, request: `request of ${id}`, generationId: `gen-${id}` };
  return tasks.add(task, WAITING_MAX);
}

for (const { name, isPostgres, makePlace } of ENGINES)
  suite(`background tasks: ${name}`, () => {
    // @spec responses-120
    test('run so many of a key at a time, in the order of their arrival, and let other keys go on', async (t) => {
      const rows = await open(t, makePlace);
      for (const id of ['a', 'b', 'c']) assert.equal(await add(rows, id), true);
      assert.equal(await add(rows, 'd'), false, 'no more may wait');
      assert.equal(await add(rows, 'x', OTHER_KEY), true);
      const claimed = [];
      for (let round = 0; round < 4; round++) claimed.push((await rows.tasks.claim('one', BOUNDS))?.id);
      assert.deepEqual(claimed, ['a', 'b', 'x', undefined]);
      await rows.tasks.end('a', 'one');
      const next = await rows.tasks.claim('two', BOUNDS);
      assert.deepEqual([next?.id, next?.request, next?.runs, next?.wasLost], ['c', 'request of c', 1, false]);
    });

    // @spec responses-120
    test('wait in no greater number, however many are added at a time', async (t) => {
      const { tasks } = await open(t, makePlace);
      const rows = { tasks } as StoredRows;
      const added = await Promise.all(Array.from({ length: 12 }, (_, at) => add(rows, `a${at}`)));
      const waiting = added.filter(Boolean).length;
      // Connections that count at the same moment may let some more in.
      assert.ok(isPostgres ? waiting < 12 : waiting === WAITING_MAX, `${waiting}`);
    });

    // @spec responses-125
    test('run in one process at a time, and in another one when the lease of the first is over', async (t) => {
      const rows = await open(t, makePlace);
      await add(rows, 'a');
      const claims = await Promise.all(['one', 'two', 'three'].map((runner) => rows.tasks.claim(runner, BOUNDS)));
      assert.deepEqual(claims.filter((task) => task !== undefined).length, 1);
      const runner = ['one', 'two', 'three'][claims.findIndex((task) => task !== undefined)] ?? '';
      rows.later(29_000);
      assert.equal(await rows.tasks.renew('a', runner, BOUNDS.leaseMs), true);
      rows.later(29_000);
      assert.equal(await rows.tasks.claim('late', BOUNDS), undefined);
      rows.later(2_000);
      const taken = await rows.tasks.claim('late', BOUNDS);
      assert.deepEqual([taken?.id, taken?.runs, taken?.wasLost], ['a', 2, true]);
      assert.equal(await rows.tasks.renew('a', runner, BOUNDS.leaseMs), false);
      assert.deepEqual([...(await rows.tasks.toStop(['a'], runner))], [['a', 'lost']]);
      await rows.tasks.end('a', runner);
      assert.equal((await rows.tasks.status('a'))?.state, 'running', 'it is no longer the first one’s to end');
    });

    // @spec responses-117
    test('end with their events, which are deleted some time later', async (t) => {
      const rows = await open(t, makePlace);
      await add(rows, 'a');
      await rows.tasks.claim('one', BOUNDS);
      const owner = { accountId: KEY.accountId, workspaceId: KEY.workspaceId };
      const batch = (firstNumber: number, lastNumber: number) => ({
        firstNumber,
        lastNumber,
        frames: `${firstNumber}`,
      });
      for (const [first, last] of [
        [0, 1],
        [2, 9],
        [10, 10],
      ] as const)
        await rows.events.append('a', owner, batch(first, last));
      assert.deepEqual(await rows.events.readAfter('a', 4), [batch(2, 9), batch(10, 10)]);
      await rows.tasks.end('a', 'one');
      await rows.clearAway();
      assert.equal((await rows.events.readAfter('a', -1)).length, 3);
      rows.later(60_001);
      await rows.clearAway();
      assert.deepEqual([await rows.events.readAfter('a', -1), await rows.tasks.status('a')], [[], undefined]);
    });
  });

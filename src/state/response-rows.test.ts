import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { suite, type TestContext } from 'node:test';
import { systemClock } from '../lib/clock.ts';
import type { ResponseRows } from './contract.ts';
import { createMemoryResponses } from './memory/response-rows.ts';
import { createRedisLink } from './redis/link.ts';
import { createRedisResponses } from './redis/response-rows.ts';
import type { ResponseRoom } from './response-owners.ts';
import { KEY, makeRow, OTHER_KEY, testResponseRows } from '../../tests/support/store/response-rows.ts';
import { openLocalState } from '../../tests/support/services/local-state.ts';
import { redis, useRedis } from '../../tests/support/services/redis.ts';

type Open = (t: TestContext, room: ResponseRoom) => Promise<ResponseRows>;

const KINDS: readonly (readonly [name: string, open: Open])[] = [
  ['in memory', (_t, room) => Promise.resolve(createMemoryResponses({ clock: systemClock, room }))],
  ['over the local socket', openWorkerResponses],
  ...(redis === undefined ? [] : [['in Redis', openRedisResponses] as const]),
];

async function openWorkerResponses(t: TestContext, responseRoom: ResponseRoom): Promise<ResponseRows> {
  const { workers } = await openLocalState(t, 1, { responseRoom });
  assert.ok(workers[0] !== undefined);
  return workers[0].responses;
}

async function openRedisResponses(t: TestContext, room: ResponseRoom): Promise<ResponseRows> {
  const { url, prefix } = useRedis(t);
  const link = await createRedisLink({ url, prefix });
  t.after(() => link.close());
  await link.open();
  return createRedisResponses({ link, prefix, room });
}

const ROOM: ResponseRoom = { bytesMax: 1_048_576, lifeMs: 60_000 };

for (const [name, open] of KINDS)
  suite(`responses that are kept ${name}`, () => {
    testResponseRows((t) => open(t, ROOM));

    // @spec responses-98
    test('drops a row when it was not used for its life, and renews that with each use', async (t) => {
      const rows = await open(t, { ...ROOM, lifeMs: 400 });
      await rows.put(makeRow('used'));
      await rows.put(makeRow('unused'));
      for (let round = 0; round < 3; round++) {
        await sleep(250);
        assert.equal((await rows.find('used', KEY))?.id, 'used');
      }
      assert.equal(await rows.find('unused', KEY), undefined);
      await sleep(500);
      assert.equal(await rows.find('used', KEY), undefined);
      assert.deepEqual(await rows.owners(), []);
    });

    // @spec responses-98
    test('takes no row over a tenth of the room, and drops the oldest of the owner with most', async (t) => {
      const rows = await open(t, { ...ROOM, bytesMax: 100_000 });
      assert.equal(await rows.put(makeRow('large', { items: 'x'.repeat(10_000) })), false);
      const items = 'x'.repeat(6_000);
      await rows.put(makeRow('quiet', { owner: OTHER_KEY, items }));
      for (let index = 0; index < 20; index++) assert.equal(await rows.put(makeRow(`r${index}`, { items })), true);
      assert.equal((await rows.find('quiet', OTHER_KEY))?.id, 'quiet');
      assert.equal(await rows.find('r0', KEY), undefined);
      assert.equal((await rows.find('r19', KEY))?.id, 'r19');
    });
  });

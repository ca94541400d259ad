import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import type { JournalPositions } from './contract.ts';
import { createMemoryPositions } from './memory/journal-positions.ts';
import { POSITION_LIFE_MS, POSITION_MEMORY_MS } from './position-bounds.ts';
import { createRedisPositions } from './redis/journal-positions.ts';
import { createRedisLink } from './redis/link.ts';
import { redis, useRedis } from '../../tests/support/services/redis.ts';

interface Harness {
  readonly positions: JournalPositions;
  /** Lets time pass for what was published. */
  readonly passMs: (ms: number) => Promise<void>;
}

function testPositions(open: (t: TestContext) => Promise<Harness>): void {
  test('returns what was published last of each stream', async (t) => {
    const { positions } = await open(t);
    assert.deepEqual(await positions.read(), { live: new Map(), silent: new Map() });
    await positions.publish('a', 100);
    await positions.publish('b', 7);
    await positions.publish('a', 2 ** 52);
    const live = new Map([
      ['a', 2 ** 52],
      ['b', 7],
    ]);
    assert.deepEqual(await positions.read(), { live, silent: new Map() });
    await positions.withdraw('a');
    assert.deepEqual((await positions.read()).live, new Map([['b', 7]]));
  });

  test('calls a stream silent that is not renewed, and live again when it is', async (t) => {
    const { positions, passMs } = await open(t);
    await positions.publish('a', 1);
    await passMs(POSITION_LIFE_MS + 1);
    assert.deepEqual(await positions.read(), { live: new Map(), silent: new Map([['a', 1]]) });
    await positions.publish('a', 2);
    assert.deepEqual(await positions.read(), { live: new Map([['a', 2]]), silent: new Map() });
  });

  test('forgets a silent stream after an hour', async (t) => {
    const { positions, passMs } = await open(t);
    await positions.publish('a', 1);
    await passMs(POSITION_LIFE_MS + POSITION_MEMORY_MS + 1);
    assert.deepEqual(await positions.read(), { live: new Map(), silent: new Map() });
  });
}

suite('positions in memory', () => {
  testPositions(async () => {
    let nowMs = 0;
    return {
      positions: createMemoryPositions({ clock: { monotonicMs: () => nowMs } }),
      passMs: async (ms) => void (nowMs += ms),
    };
  });
});

if (redis !== undefined)
  suite('positions in Redis', () => {
    testPositions(async (t) => {
      const { url, prefix } = useRedis(t);
      const link = await createRedisLink({ url, prefix });
      t.after(() => link.close());
      await link.open();
      return {
        positions: createRedisPositions({ link, prefix }),
        async passMs(ms) {
          const key = `${prefix}journals`;
          for (const [stream, value] of Object.entries((await redis?.hgetall(key)) ?? {})) {
            const [position, untilUs] = value.split(' ');
            await redis?.hset(key, stream, `${position} ${Number(untilUs) - ms * 1_000}`);
          }
        },
      };
    });
  });

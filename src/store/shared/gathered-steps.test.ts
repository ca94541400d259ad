import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import type { Redis } from 'ioredis';
import { GatheredSteps, type RedisStep } from './gathered-steps.ts';
import { redis, useRedis } from './test-redis.ts';

const TOLD: RedisStep = { lua: 'return {KEYS[1], KEYS[2], ARGV[1]}' };
const COUNTED: RedisStep = { lua: "return redis.call('INCR', KEYS[1])" };
const BROKEN: RedisStep = { lua: "return redis.call('HGET', KEYS[1], 'not a hash')" };
const KEPT: RedisStep = { lua: "redis.call('SETNX', KEYS[1], '1') keep(KEYS[1], tonumber(ARGV[1])) return 1" };

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

interface Tested extends Pick<GatheredSteps, 'run'> {
  readonly client: Redis;
  readonly prefix: string;
  /** How many keys each call had. */
  readonly calls: readonly number[];
}

function open(t: TestContext): Tested {
  assert.ok(redis !== undefined);
  const client = redis;
  const calls: number[] = [];
  const { run } = new GatheredSteps((script, keys, values) => {
    calls.push(keys.length);
    return script(client, keys, values);
  });
  return { run, client, calls, prefix: useRedis(t).prefix };
}

suite('steps that are asked in one turn', { skip: redis === undefined }, () => {
  test('leave as one call, and each has its own keys, values and answer', async (t) => {
    const { run, calls, prefix } = open(t);
    const [a, b, c] = ['a', 'b', 'c'].map((name) => prefix + name);
    assert.ok(a !== undefined && b !== undefined && c !== undefined);
    const answers = await Promise.all([run(TOLD, [a, b], ['1']), run(COUNTED, [c], []), run(TOLD, [b, a], [2, '"é"'])]);
    assert.deepEqual(answers, [[a, b, '1'], 1, [b, a, '2']]);
    assert.deepEqual(calls, [3], 'a key goes over the wire once');
  });

  test('do not wait for those of the next', async (t) => {
    const { run, calls, prefix } = open(t);
    const first = run(COUNTED, [`${prefix}a`], []);
    await nextTurn();
    const second = run(COUNTED, [`${prefix}a`], []);
    assert.deepEqual(await Promise.all([first, second]), [1, 2]);
    assert.equal(calls.length, 2);
  });

  test('beyond the bound of a call leave as several, in the order in which they were asked', async (t) => {
    const { run, calls, prefix } = open(t);
    const answers = await Promise.all(Array.from({ length: 201 }, () => run(COUNTED, [`${prefix}a`], [])));
    assert.deepEqual(
      answers,
      Array.from({ length: 201 }, (_, at) => at + 1),
    );
    assert.equal(calls.length, 3);
  });

  test('fail together where one cannot be done, and the next call is none the worse', async (t) => {
    const { run, prefix } = open(t);
    const key = `${prefix}a`;
    const ends = await Promise.allSettled([run(COUNTED, [key], []), run(BROKEN, [key], []), run(COUNTED, [key], [])]);
    assert.deepEqual(
      ends.map(({ status }) => status),
      ['rejected', 'rejected', 'rejected'],
    );
    assert.equal(await run(COUNTED, [key], []), 2, 'what came before the failure is done');
  });

  test('keep a key for as long as they say, and are not asked to again each time', async (t) => {
    const { run, client, prefix } = open(t);
    const key = `${prefix}a`;
    await run(KEPT, [key], [100_000]);
    assert.ok((await client.pttl(key)) > 150_000);
    await client.pexpire(key, 100_500);
    await run(KEPT, [key], [100_000]);
    assert.ok((await client.pttl(key)) <= 100_500, 'it lasts long enough');
    await run(KEPT, [key], [200_000]);
    assert.ok((await client.pttl(key)) > 200_000);
  });
});

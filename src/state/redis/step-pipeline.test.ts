import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import type { Redis } from 'ioredis';
import { StepPipeline, type RedisStep } from './step-pipeline.ts';
import { redis, useRedis } from '../../../tests/support/services/redis.ts';

const REPORTED: RedisStep = { lua: 'return {KEYS[1], KEYS[2], ARGV[1]}' };
const COUNTED: RedisStep = { lua: "return redis.call('INCR', KEYS[1])" };
const ADDED: RedisStep = { lua: "return redis.call('INCRBY', KEYS[1], ARGV[1])" };
const LISTED: RedisStep = { lua: "return {redis.call('INCRBY', KEYS[1], ARGV[1]), 'text'}" };
const STATED: RedisStep = { lua: 'return {tonumber(ARGV[1]), KEYS[1]}' };
const BROKEN: RedisStep = { lua: "return redis.call('HGET', KEYS[1], 'not a hash')" };
const KEPT: RedisStep = { lua: "redis.call('SETNX', KEYS[1], '1') keep(KEYS[1], tonumber(ARGV[1])) return 1" };

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

interface Tested extends Pick<StepPipeline, 'run' | 'runBoth'> {
  readonly client: Redis;
  readonly prefix: string;
  /** The number of keys of each call. */
  readonly calls: readonly number[];
}

function open(t: TestContext): Tested {
  assert.ok(redis !== undefined);
  const client = redis;
  const calls: number[] = [];
  const { run, runBoth } = new StepPipeline((script, keys, values) => {
    calls.push(keys.length);
    return script(client, keys, values);
  });
  return { run, runBoth, client, calls, prefix: useRedis(t).prefix };
}

suite('steps of one turn', { skip: redis === undefined }, () => {
  test('are sent as one call, each with its own keys, values and answer', async (t) => {
    const { run, calls, prefix } = open(t);
    const [a, b, c] = ['a', 'b', 'c'].map((name) => prefix + name);
    assert.ok(a !== undefined && b !== undefined && c !== undefined);
    const answers = await Promise.all([
      run(REPORTED, [a, b], ['1']),
      run(COUNTED, [c], []),
      run(REPORTED, [b, a], [2, '"é"']),
    ]);
    assert.deepEqual(answers, [[a, b, '1'], '1', [b, a, '2']]);
    assert.deepEqual(calls, [3], 'a key goes over the wire once');
  });

  test('may follow another step with nothing between, and only after its success', async (t) => {
    const { run, runBoth, calls, prefix } = open(t);
    const [a, b] = ['a', 'b'].map((name) => prefix + name);
    assert.ok(a !== undefined && b !== undefined);
    const next = { step: COUNTED, keys: [b], values: [] };
    const stated = (outcome: string) => ({ step: STATED, keys: [a], values: [outcome] });
    const answers = await Promise.all([
      run(COUNTED, [b], []),
      runBoth(stated('1'), next),
      runBoth(stated('0'), next),
      runBoth({ step: COUNTED, keys: [a], values: [] }, next),
      run(COUNTED, [b], []),
    ]);
    assert.deepEqual(answers, ['1', [['1', a], '2'], [['0', a], null], ['1', null], '3']);
    assert.deepEqual(calls, [2], 'all are one call');
  });

  test('are sent together when they belong together, also beyond the size of a call', async (t) => {
    const { runBoth, calls, prefix } = open(t);
    const stated = { step: STATED, keys: [`${prefix}a`], values: ['1'] };
    const counted = { step: COUNTED, keys: [`${prefix}b`], values: [] };
    const answers = await Promise.all(Array.from({ length: 150 }, () => runBoth(stated, counted)));
    assert.deepEqual(
      answers.map(([, count]) => Number(count)),
      Array.from({ length: 150 }, (_, at) => at + 1),
    );
    assert.equal(calls.length, 2);
  });

  test('do not wait for those of the next turn', async (t) => {
    const { run, calls, prefix } = open(t);
    const first = run(COUNTED, [`${prefix}a`], []);
    await nextTurn();
    const second = run(COUNTED, [`${prefix}a`], []);
    assert.deepEqual(await Promise.all([first, second]), ['1', '2']);
    assert.equal(calls.length, 2);
  });

  test('are sent as several calls in order, beyond the size of one call', async (t) => {
    const { run, calls, prefix } = open(t);
    const answers = await Promise.all(Array.from({ length: 201 }, () => run(COUNTED, [`${prefix}a`], [])));
    assert.deepEqual(
      answers,
      Array.from({ length: 201 }, (_, at) => String(at + 1)),
    );
    assert.equal(calls.length, 3);
  });

  test('fail together where one cannot run, and do not affect the next call', async (t) => {
    const { run, prefix } = open(t);
    const key = `${prefix}a`;
    const ends = await Promise.allSettled([run(COUNTED, [key], []), run(BROKEN, [key], []), run(COUNTED, [key], [])]);
    assert.deepEqual(
      ends.map(({ status }) => status),
      ['rejected', 'rejected', 'rejected'],
    );
    assert.equal(await run(COUNTED, [key], []), '2', 'what came before the failure is done');
  });

  test('return every digit of a number up to 2^53, by itself and in a list', async (t) => {
    const { run, prefix } = open(t);
    const key = `${prefix}a`;
    const most = Number.MAX_SAFE_INTEGER;
    assert.equal(await run(ADDED, [key], [most - 2]), String(most - 2));
    assert.equal(await run(ADDED, [key], [1]), String(most - 1));
    assert.deepEqual(await run(LISTED, [key], [1]), [String(most), 'text']);
    assert.equal(await run(ADDED, [key], [-2 * most]), String(-most));
  });

  test('keep a key for as long as they say, without extending its life each time', async (t) => {
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

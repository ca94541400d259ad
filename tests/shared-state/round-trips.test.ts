import assert from 'node:assert/strict';
import { once } from 'node:events';
import { suite, test, type TestContext } from 'node:test';
import { z } from 'zod';
import { redis, useRedis } from '../support/services/redis.ts';
import { MANAGEMENT_KEY, startGateway } from '../support/gateway.ts';

const ALL = '{ requests_per_minute: 1000, requests_per_day: 1000, tokens_per_minute: 1000000, concurrent: 10 }';
const keySchema = z.looseObject({ key: z.string() });

/** The calls to Redis from now on, each with the names of its keys; not the commands of scripts. */
async function watchRedis(
  t: TestContext,
  prefix: string,
): Promise<{ readonly requested: () => Promise<readonly string[]> }> {
  assert.ok(redis !== undefined);
  const monitor = await redis.monitor();
  t.after(() => monitor.disconnect());
  const calls: string[] = [];
  let mark = '';
  monitor.on('monitor', (_time: string, [command = '', ...rest]: readonly string[], source: string) => {
    if (rest[0] === mark) monitor.emit('marked');
    if (source !== 'lua' && rest.some((word) => word.startsWith(prefix))) calls.push(command.toLowerCase());
  });
  let marks = 0;
  return {
    async requested() {
      mark = `${prefix}mark:${++marks}`;
      const marked = once(monitor, 'marked');
      await redis?.exists(mark);
      await marked;
      return calls.splice(0).filter((command) => command !== 'exists');
    },
  };
}

suite('a gateway with shared state', { skip: redis === undefined }, () => {
  // @spec operation-6
  test('calls Redis four times for a request of a caller with limits of every kind', async (t) => {
    const { url, prefix } = useRedis(t);
    const gateway = await startGateway({
      yaml: `rate_limits: { key: ${ALL}, account: ${ALL} }`,
      env: { REDIS_URL: url, REDIS_PREFIX: prefix.slice(1, -2) },
    });
    t.after(() => gateway.close());
    const created = await gateway.post(
      '/keys',
      { name: 'app', limit: 10, limit_reset: 'daily' },
      { authorization: `Bearer ${MANAGEMENT_KEY}` },
    );
    const { key } = keySchema.parse(await created.json());
    const ask = async (): Promise<void> => {
      const body = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Say it again.' }] };
      const answer = await gateway.post('/chat/completions', body, { authorization: `Bearer ${key}` });
      assert.equal(answer.status, 200);
      await answer.text();
    };
    const { requested } = await watchRedis(t, prefix);
    const calls: number[] = [];
    for (let round = 0; round < 5; round++) {
      await requested();
      await ask();
      calls.push((await requested()).filter((command) => command === 'evalsha').length);
    }
    // Its permit, its money and its rates, and their ends. There are more calls when spending is read first, and fewer when a busy Redis responded too late and is not waited for again.
    assert.ok(Math.min(...calls) <= 4, calls.join(' '));
  });
});

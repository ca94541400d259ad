import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { redis, useRedis } from '../../../tests/support/services/redis.ts';
import { startTcpProxy } from '../../../tests/support/services/tcp-proxy.ts';
import { checkRedis } from './check-redis.ts';

const PREFIX = '{test-doctor}:';

test('accepts a gateway without Redis', async () => {
  assert.equal((await checkRedis(undefined, PREFIX)).verdict, 'ok');
});

test('fails for a Redis that is not there, without its password', async () => {
  const { verdict, message } = await checkRedis('redis://me:hunter2@127.0.0.1:1', PREFIX);
  assert.equal(verdict, 'failed');
  assert.match(message, /ECONNREFUSED/);
  assert.ok(!message.includes('hunter2'));
});

suite('a Redis that is there', { skip: redis === undefined }, () => {
  test('reports its version', async (t) => {
    const { verdict, message } = await checkRedis(useRedis(t).url, PREFIX);
    assert.notEqual(verdict, 'failed');
    assert.match(message, /^Redis \d+\.\d+\.\d+ answers in [\d.]+ ms/);
  });

  test('fails when it refuses the credentials, and does not show them', async (t) => {
    const url = new URL(useRedis(t).url);
    url.username = 'nobody';
    url.password = 'hunter2';
    const { verdict, message } = await checkRedis(url.href, PREFIX);
    assert.equal(verdict, 'failed');
    assert.match(message, /WRONGPASS/);
    assert.ok(!message.includes('hunter2'));
  });

  test('fails soon when it does not answer', async (t) => {
    const { hostname, port } = new URL(useRedis(t).url);
    const proxy = await startTcpProxy(t, { host: hostname, port: Number(port || 6_379) });
    proxy.stall();
    assert.equal((await checkRedis(`redis://127.0.0.1:${proxy.port}`, PREFIX)).verdict, 'failed');
  });
});

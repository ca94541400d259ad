import assert from 'node:assert/strict';
import { test } from 'node:test';
import { API_KEY, startGateway } from '../support/gateway.ts';

for (const path of ['/chat/completions', '/messages'])
  // @spec stream-1
  test(`a stream is marked as events that neither a cache nor a proxy holds back: ${path}`, async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    const body = { model: 'sandbox/echo', stream: true, max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] };
    const response = await gateway.post(path, body);
    await response.text();
    const headers = ['content-type', 'cache-control', 'x-accel-buffering'].map((name) => response.headers.get(name));
    assert.deepEqual([response.status, ...headers], [200, 'text/event-stream', 'no-cache', 'no']);
  });

// @spec generation-8
test('a record holds a hash in the place of the end user', async (t) => {
  const gateway = await startGateway();
  t.after(() => gateway.close());
  const body = { model: 'sandbox/echo', user: 'ann@example.com', messages: [{ role: 'user', content: 'hi' }] };
  const response = await gateway.post('/chat/completions', body);
  await response.text();
  const id = response.headers.get('x-generation-id') ?? '';
  const record = await fetch(`${gateway.baseUrl}/generation?id=${id}`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  });
  const text = await record.text();
  assert.match(text, /"external_user":"[0-9a-f]{64}"/);
  assert.doesNotMatch(text, /ann@example/);
});

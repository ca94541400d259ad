import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { MANAGEMENT_KEY, startGateway } from '../support/gateway.ts';
import { chatAnswer, json, startUpstream } from '../support/upstream.ts';

/** 100 tokens at 10 USD a million. */
const ANSWER_USD = 0.001;
const USAGE = { prompt_tokens: 0, completion_tokens: 100, total_tokens: 100 };
const REQUEST = { model: 'acme/one', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] };
const LONG_MS = 30_000;
/** The gateway may be writing at this moment. */
const LOCK_MS_MAX = 5_000;

// @spec operation-8
test('reads no limit from sums that lack waiting charges, and is unready meanwhile', async (t) => {
  const upstream = await startUpstream(json(200, chatAnswer('ok', { usage: USAGE })));
  t.after(() => upstream.close());
  const gateway = await startGateway({
    yaml: `
providers:
  alpha: { adapter: openai-compatible, base_url: ${upstream.baseUrl}, api_key: a }
models:
  acme/one:
    endpoints: [{ provider: alpha, model: one, price: { prompt: 0, completion: 10 } }]
`,
  });
  t.after(() => gateway.close());
  const manage = async (method: string, path: string, body?: object) => {
    const response = await fetch(gateway.baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return (await response.json()) as { readonly key: string; readonly data: { hash: string; usage: number } };
  };
  const createKey = async () => {
    const { key, data } = await manage('POST', '/keys', { name: 'limited', limit: ANSWER_USD });
    const ask = () => gateway.post('/chat/completions', REQUEST, { authorization: `Bearer ${key}` });
    return { ask, used: async () => (await manage('GET', `/keys/${data.hash}`)).data.usage };
  };
  const isReady = async () => (await fetch(`${gateway.url}/health/ready`)).ok;
  const [spent, unread] = [await createKey(), await createKey()];
  // A writer elsewhere: reads go on, writes wait.
  const locker = new DatabaseSync(join(gateway.dataDir, 'gateway.db'), { timeout: LOCK_MS_MAX });
  t.after(() => locker.close());
  locker.exec('begin immediate');

  assert.equal((await spent.ask()).status, 200);
  assert.equal((await spent.ask()).status, 402, 'what is known is counted on');
  const refusal = await unread.ask();
  assert.deepEqual([refusal.status, refusal.headers.get('retry-after')], [503, '1']);
  assert.equal((await gateway.post('/chat/completions', REQUEST)).status, 200, 'a request without a limit is served');
  assert.equal(await isReady(), false);

  locker.exec('rollback');
  const endMs = performance.now() + LONG_MS;
  while (!(await isReady())) {
    assert.ok(performance.now() < endMs, 'it recovers');
    await wait(50);
  }
  assert.equal(await spent.used(), ANSWER_USD);
  assert.equal((await unread.ask()).status, 200);
});

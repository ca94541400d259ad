import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { startGateway } from '../support/gateway.ts';
import { shareAllUpstreams, type UpstreamName } from '../support/upstreams/all-upstreams.ts';
import { emit } from '../support/upstreams/speak.ts';
import { startUpstream } from '../support/upstream.ts';

const upstreams = shareAllUpstreams();
const INPUT = [{ role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }];

/** The body that reached the upstream, and the warnings of the record. */
async function send(served: UpstreamName, more: JsonObject): Promise<{ text: string; warnings: readonly unknown[] }> {
  const { gateway, upstream } = upstreams();
  upstream.script = emit('Done.');
  const response = await gateway.post('/responses', { model: `acme/${served}`, input: INPUT, ...more });
  assert.equal(response.status, 200, await response.text());
  const record = await gateway.app.generations.find(response.headers.get('x-generation-id') ?? '');
  return { text: upstream.arrived.at(-1)?.text ?? '', warnings: record?.warnings ?? [] };
}

suite('a request with a key of the prompt cache', () => {
  // @spec responses-107
  test('gets a breakpoint that moves, where the endpoint caches nothing without one', async () => {
    const { text } = await send('claude', { prompt_cache_key: 'thread-1' });
    assert.deepEqual((JSON.parse(text) as JsonObject)['cache_control'], { type: 'ephemeral' });
    assert.match((await send('converse', { prompt_cache_key: 'thread-1' })).text, /"cachePoint"/);
  });

  for (const served of ['chat', 'openai', 'gemini', 'responses', 'cohere'] as const)
    test(`stays as it is elsewhere, without a warning: ${served}`, async () => {
      const { text, warnings } = await send(served, { prompt_cache_key: 'thread-1' });
      assert.doesNotMatch(text, /cache_control|cache_breakpoint|cachePoint/);
      assert.doesNotMatch(JSON.stringify(warnings), /cache_control|breakpoint/);
    });

  test('keeps its own breakpoints, and none is added without the key or where the configuration says so', async (t) => {
    const marked = [{ type: 'input_text', text: 'Hello', cache_control: { type: 'ephemeral' } }];
    const own = await send('claude', { prompt_cache_key: 'thread-1', input: [{ role: 'user', content: marked }] });
    assert.equal(own.text.split('cache_control').length, 2);
    assert.doesNotMatch((await send('claude', {})).text, /cache_control/);
    const upstream = await startUpstream(emit('Done.'));
    const provider = { adapter: 'anthropic', name: 'One', base_url: upstream.baseUrl, api_key: 'secret' };
    const model = { endpoints: [{ provider: 'one', model: 'claude-sonnet-4-6', price: { prompt: 1, completion: 2 } }] };
    const config = { responses: { auto_cache: false }, providers: { one: provider }, models: { 'acme/one': model } };
    const gateway = await startGateway({ yaml: JSON.stringify(config) });
    t.after(async () => {
      await gateway.close();
      await upstream.close();
    });
    await gateway.post('/responses', { model: 'acme/one', input: 'Hello', prompt_cache_key: 'thread-1' });
    assert.doesNotMatch(upstream.arrived[0]?.text ?? '', /cache_control/);
  });
});

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { startGateway } from '../support/gateway.ts';
import { textOf } from '../../src/wire/json-fields.ts';
import { listOf, objectOf } from '../support/reported.ts';
import { startUpstream } from '../support/upstream.ts';
import { emit } from '../support/upstreams/speak.ts';

const FILLER = 'word '.repeat(380);

/** Exchanges of some 500 tokens each: a thought, the call that it led to, its output, an answer and a question. */
function history(exchanges: number): readonly JsonObject[] {
  const items: JsonObject[] = [{ role: 'user', content: 'the first question' }];
  for (let at = 0; at < exchanges; at++)
    items.push(
      { type: 'reasoning', summary: [{ type: 'summary_text', text: `thought ${at}.` }] },
      { type: 'function_call', call_id: `call_${at}`, name: 'look', arguments: `{"at":${at}}` },
      { type: 'function_call_output', call_id: `call_${at}`, output: FILLER },
      { type: 'message', role: 'assistant', content: `answer ${at}.` },
      { role: 'user', content: `question ${at}.` },
    );
  return items;
}

interface Asked {
  readonly status: number;
  readonly response: JsonObject;
  /** What reached the upstream. */
  readonly sent: JsonObject;
}

async function open(t: {
  after(close: () => Promise<void>): void;
}): Promise<(model: string, members: JsonObject, exchanges?: number) => Promise<Asked>> {
  const upstream = await startUpstream(emit('Yes.'));
  const price = 'price: { prompt: 1, completion: 2 }';
  const gateway = await startGateway({
    yaml: `
providers:
  chatty: { adapter: openai-compatible, base_url: "${upstream.baseUrl}", api_key: upstream-secret, reasoning_history: reasoning_content }
  vendor: { adapter: openai, base_url: "${upstream.baseUrl}", api_key: upstream-secret }
models:
  acme/chat: { context_length: 16000, endpoints: [{ provider: chatty, model: one, ${price} }] }
  acme/small: { context_length: 8000, endpoints: [{ provider: chatty, model: one, ${price} }] }
  acme/vendor: { context_length: 16000, endpoints: [{ provider: vendor, model: gpt-5.4-pro, ${price} }] }
`,
  });
  t.after(async () => {
    await gateway.close();
    await upstream.close();
  });
  return async (model, members, exchanges = 60) => {
    upstream.arrived.length = 0;
    const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }];
    const body = { model, input: history(exchanges), tools, store: false, ...members };
    const response = await gateway.post('/responses', body);
    return {
      status: response.status,
      response: (await response.json()) as JsonObject,
      sent: (upstream.arrived.at(-1)?.body ?? {}) as JsonObject,
    };
  };
}

const messagesOf = ({ sent }: Asked): readonly JsonObject[] => listOf(sent['messages'] as Json).map(objectOf);

suite('truncation', () => {
  // @spec responses-17
  test('with auto leaves out whole exchanges, so that a thought goes with its call and a call with its output', async (t) => {
    const ask = await open(t);
    const asked = await ask('acme/chat', { truncation: 'auto' });
    assert.deepEqual([asked.status, asked.response['truncation']], [200, 'auto']);
    const messages = messagesOf(asked);
    assert.ok(messages.length > 10 && messages.length < 200, `${messages.length} messages`);
    const calls = messages.flatMap((message) => listOf(message['tool_calls'] ?? []).map(objectOf));
    const ids = calls.map(({ id }) => id);
    assert.deepEqual(
      messages.flatMap(({ tool_call_id: id }) => id ?? []),
      ids,
      'each call has its output',
    );
    for (const message of messages) {
      const [call] = listOf(message['tool_calls'] ?? []).map(objectOf);
      if (call === undefined) continue;
      const number = textOf(call['id'])?.slice('call_'.length) ?? '';
      assert.match(JSON.stringify(message['reasoning_content']), new RegExp(`thought ${number}\\.`));
    }
    assert.equal(messages[0]?.['content'], 'the first question');
    assert.equal(messages.at(-1)?.['content'], 'question 59.');
  });

  // @spec responses-17
  test('with disabled turns off what is on by default, and counts after an entry of plugins', async (t) => {
    const ask = await open(t);
    assert.equal((await ask('acme/small', {}, 30)).status, 200, 'small contexts are fitted by default');
    const refused = await ask('acme/small', { truncation: 'disabled' }, 30);
    assert.equal(refused.status, 400);
    assert.equal(refused.response['error_type'], 'context_length_exceeded');
    const plugins = [{ id: 'context-compression' }];
    assert.equal((await ask('acme/small', { truncation: 'disabled', plugins }, 30)).status, 200);
    const off = await ask('acme/chat', {
      truncation: 'auto',
      plugins: [{ id: 'context-compression', enabled: false }],
    });
    assert.equal(off.status, 400);
    assert.equal((await ask('acme/chat', { truncation: null })).status, 400, 'null is absent');
  });

  // @spec responses-17
  test('is the own work of an endpoint that truncates: it gets the whole of the input', async (t) => {
    const ask = await open(t);
    const { status, sent } = await ask('acme/vendor', { truncation: 'auto' });
    assert.equal(status, 200);
    assert.equal(sent['truncation'], 'auto');
    assert.equal(listOf(sent['input'] as Json).filter((item) => objectOf(item)['type'] === 'function_call').length, 60);
  });
});

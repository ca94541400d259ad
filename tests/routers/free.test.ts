import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonObject } from '../../src/lib/json.ts';
import { at, startRouted, THREE_MODELS } from '../support/routers/three-models.ts';
import { chatAnswer, chatStream, json, stream } from '../support/upstream.ts';

const HELLO = [{ role: 'user', content: 'Hello' }];
const FREE = `${THREE_MODELS}
  acme/gift: { name: "Acme: Gift", endpoints: [{ provider: alpha, model: gift-1, price: { prompt: 0, completion: 0 }, supported_parameters: [] }] }
  acme/present: { name: "Acme: Present", endpoints: [{ provider: alpha, model: present-1, price: { prompt: 0, completion: 0 }, supported_parameters: [tools] }] }
  acme/mid:free: { name: "Acme: Mid, free", endpoints: [{ provider: alpha, model: mid-free, price: { prompt: 0, completion: 0 }, supported_parameters: [] }] }
`;

// @spec router-35
test('chooses a random free model', async (t) => {
  let chance = 0;
  const { post } = await startRouted(t, { models: FREE, random: () => chance });
  const format = async (at0to1: number): Promise<unknown> => {
    chance = at0to1;
    return (await post({ model: 'service/free', messages: HELLO })).body['model'];
  };
  assert.equal(await format(0), 'acme/gift');
  assert.equal(await format(0.5), 'acme/present');
  assert.equal(await format(0.99), 'acme/mid:free');
});

test('chooses a model that supports the request', async (t) => {
  const { post } = await startRouted(t, { models: FREE, random: () => 0.99 });
  const tools = [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } }];
  const { body } = await post({ model: 'service/free', messages: HELLO, tools });
  assert.equal(body['model'], 'acme/present');
  assert.equal(at(body, 'service_metadata', 'strategy'), 'free');
});

// @spec router-35
test('returns 404 when nothing is free', async (t) => {
  const { post } = await startRouted(t);
  const { status, body } = await post({ model: 'service/free', messages: HELLO });
  assert.equal(status, 404);
  assert.deepEqual(at(body, 'error', 'availability', 'excluded_by'), ['not_free']);
});

const INPUT = [{ role: 'user', content: 'Ask acme/best and Acme Mid to count to ten.' }];

/** The JSON that an answer of `service/bodybuilder` holds. */
function requestsOf(body: Parameters<typeof at>[0]): unknown {
  const content = at(body, 'choices', 0, 'message', 'content');
  assert.ok(typeof content === 'string');
  const parsed: unknown = JSON.parse(content);
  assert.ok(isJsonObject(parsed));
  return parsed['requests'];
}

const COUNTED = [
  { model: 'acme/best', messages: [{ role: 'user', content: 'count to ten.' }] },
  { model: 'acme/mid', messages: [{ role: 'user', content: 'count to ten.' }] },
];

// @spec router-36
test('writes requests from a description for service/bodybuilder, free of charge', async (t) => {
  const { post, requested } = await startRouted(t);
  const { status, body } = await post({ model: 'service/bodybuilder', messages: INPUT });
  assert.equal(status, 200);
  assert.deepEqual(requestsOf(body), COUNTED);
  assert.equal(at(body, 'usage', 'cost'), 0);
  assert.equal(at(body, 'service_metadata', 'strategy'), 'bodybuilder');
  assert.deepEqual(requested(), [], 'no model with a price was called');
});

test('uses a free model if there is one, and rules when its output is unusable', async (t) => {
  const models =
    THREE_MODELS +
    '  acme/gift: { name: Gift, endpoints: [{ provider: alpha, model: gift-1, price: { prompt: 0, completion: 0 } }] }\n';
  const written = { requests: [{ model: 'acme/cheap', messages: [{ role: 'user', content: 'Count, please.' }] }] };
  const { post, upstream, requested } = await startRouted(t, {
    models,
    script: json(200, chatAnswer(JSON.stringify(written))),
  });
  const used = await post({ model: 'service/bodybuilder', messages: INPUT });
  assert.deepEqual(requestsOf(used.body), written.requests);
  assert.deepEqual(requested(), ['gift-1']);
  for (const useless of [
    'I would rather not.',
    '{"requests": []}',
    '{"requests": [{"model": "nobody/there", "messages": [{"role": "user", "content": "x"}]}]}',
    '{"requests": [{"model": "acme/best", "messages": "x"}]}',
  ]) {
    upstream.script = json(200, chatAnswer(useless));
    const { body } = await post({ model: 'service/bodybuilder', messages: INPUT });
    assert.deepEqual(requestsOf(body), COUNTED, useless);
  }
});

test('streams the same JSON', async (t) => {
  const { gateway } = await startRouted(t, { script: stream(chatStream('never mind')) });
  const response = await gateway.post('/chat/completions', {
    model: 'service/bodybuilder',
    messages: INPUT,
    stream: true,
  });
  const text = await response.text();
  const stated = text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => at(JSON.parse(line.slice(6)), 'choices', 0, 'delta', 'content'))
    .filter((part) => typeof part === 'string')
    .join('');
  assert.deepEqual(JSON.parse(stated), { requests: COUNTED });
  assert.match(text, /data: \[DONE\]\n\n$/);
});

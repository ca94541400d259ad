import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../src/lib/json.ts';
import { manage, textAt } from '../support/byok.ts';
import { at, CODE, startRouted } from '../support/routers/three-models.ts';
import { chatAnswer, chatStream, json, stream, type Script } from '../support/upstream.ts';

const auto = (options: object = {}, more: object = {}) => ({
  model: 'service/auto',
  messages: CODE,
  plugins: [{ id: 'auto-router', ...options }],
  ...more,
});

// @spec chat-response-3, router-18
test('chooses a cheap model by default, with the task in the metadata', async (t) => {
  const { post } = await startRouted(t);
  const { status, body } = await post({ model: 'service/auto', messages: CODE });
  assert.equal(status, 200);
  assert.equal(body['model'], 'acme/cheap');
  const metadata = body['service_metadata'];
  assert.equal(at(metadata, 'strategy'), 'auto');
  assert.equal(at(metadata, 'requested'), 'service/auto');
  const stage = at(metadata, 'pipeline', 0);
  assert.equal(at(stage, 'name'), 'auto-router');
  assert.equal(at(stage, 'data', 'task_type'), 'code:general_impl');
});

/** Gives one tag so many percent, under whatever label it stands, and answers all else. */
const judgeOf =
  (tag: string, percent: number): Script =>
  (arrived, response, request) => {
    const label = new RegExp(`^(O[0-9]+): ${tag}$`, 'm').exec(arrived.text.replaceAll('\\n', '\n'))?.[1];
    const reply =
      label === undefined ? 'well' : { answers: { q1: { top: [{ label, percent }], rest: 100 - percent } } };
    const text = typeof reply === 'string' ? reply : JSON.stringify(reply);
    return json(200, chatAnswer(text))(arrived, response, request);
  };

/** Options, and the model that serves. */
const CHOICES: readonly (readonly [options: object, model: string])[] = [
  [{ cost_tier: 'max' }, 'acme/best'],
  [{ cost_tier: 'low' }, 'acme/cheap'],
  [{ cost_quality_tradeoff: 0 }, 'acme/mid'],
  [{ cost_quality_tradeoff: 0, cost_tier: 'max' }, 'acme/best'],
  [{ cost_quality_tradeoff: 10 }, 'acme/cheap'],
  [{ cost_tier: 'high' }, 'acme/mid'],
  [{ cost_tier: 'low', excluded_models: ['acme/cheap'] }, 'acme/mid'],
  [{ allowed_models: ['acme/b*'] }, 'acme/best'],
  [{ allowed_models: ['acme/*'], excluded_models: ['*/cheap', 'acme/mid'] }, 'acme/best'],
];

for (const [options, model] of CHOICES) {
  test(`chooses ${model} for ${JSON.stringify(options)}`, async (t) => {
    const { post } = await startRouted(t);
    assert.equal((await post(auto(options))).body['model'], model);
  });
}

// @spec router-5
test('reads only the options of its own plugin', async (t) => {
  const { post } = await startRouted(t);
  const plugins = [{ id: 'auto-beta-router', cost_tier: 'max' }];
  assert.equal((await post({ model: 'service/auto', messages: CODE, plugins })).body['model'], 'acme/cheap');
});

// @spec router-4
test('returns a 404 that names restrictions without a model, and calls no upstream', async (t) => {
  const { post, requested } = await startRouted(t);
  const { status, body } = await post(auto({ allowed_models: ['acme/*'], excluded_models: ['acme/*'] }));
  assert.equal(status, 404);
  assert.match(JSON.stringify(at(body, 'error', 'message')), /^"No models match your request and model restrictions/);
  assert.deepEqual(at(body, 'error', 'availability', 'excluded_by'), ['excluded_models']);
  assert.deepEqual(requested(), []);
});

// @spec router-2
test('chooses only models that support the request: images, tools, and a long prompt', async (t) => {
  const { post } = await startRouted(t);
  const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
  const seen = await post(auto({ cost_tier: 'max' }, { messages: [{ role: 'user', content: [picture] }] }));
  assert.equal(seen.body['model'], 'acme/mid');
  const tools = [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } }];
  assert.equal((await post(auto({ cost_tier: 'max' }, { tools }))).body['model'], 'acme/mid');
  const long = await post(auto({}, { messages: [{ role: 'user', content: 'word '.repeat(9_000) }] }));
  assert.equal(long.body['model'], 'acme/mid');
});

// @spec router-2
test('excludes models that providers and guardrails exclude', async (t) => {
  const { post, gateway } = await startRouted(t);
  const shut = await post(auto({}, { provider: { only: ['nobody'] } }));
  assert.equal(shut.status, 404);
  assert.deepEqual(at(shut.body, 'error', 'availability', 'excluded_by'), ['allowed_providers']);
  const made = await manage(gateway, 'POST', '/guardrails', { name: 'No cheap ones', ignored_models: ['acme/cheap'] });
  const key = await manage(gateway, 'POST', '/keys', { name: 'Ruled' });
  const hash = at(key.body, 'data', 'hash');
  await manage(
    gateway,
    'POST',
    `/guardrails/${JSON.stringify(at(made.body, 'data', 'id')).slice(1, -1)}/assignments/keys`,
    {
      key_hashes: [hash],
    },
  );
  const headers = { authorization: `Bearer ${textAt(key.body, 'key')}` };
  assert.equal((await post(auto(), '/chat/completions', headers)).body['model'], 'acme/mid');
});

// @spec router-1
test("falls back to the next model of the band, with the router's strategy", async (t) => {
  const { post, upstream, requested } = await startRouted(t);
  upstream.script = (arrived, response, request) =>
    arrived.body['model'] === 'mid-1'
      ? json(500, { error: { message: 'down' } })(arrived, response, request)
      : json(200, chatAnswer('well'))(arrived, response, request);
  const { body } = await post(auto({ cost_quality_tradeoff: 0 }));
  assert.deepEqual(requested(), ['mid-1', 'cheap-1']);
  assert.equal(body['model'], 'acme/cheap');
  assert.equal(at(body, 'service_metadata', 'strategy'), 'auto');
});

// @spec router-6
test('is not involved when a model before it serves', async (t) => {
  const { post } = await startRouted(t);
  const { body } = await post(auto({}, { model: 'acme/best', models: ['service/auto'] }));
  assert.equal(body['model'], 'acme/best');
  assert.equal(at(body, 'service_metadata', 'strategy'), 'direct');
  assert.equal(at(body, 'service_metadata', 'params', 'saved_usd'), undefined);
});

test('counts a model after it as a fallback', async (t) => {
  const { post, upstream } = await startRouted(t);
  upstream.script = (arrived, response, request) =>
    arrived.body['model'] === 'best-1'
      ? json(200, chatAnswer('well'))(arrived, response, request)
      : json(500, { error: { message: 'down' } })(arrived, response, request);
  const { body } = await post(auto({ cost_tier: 'low' }, { models: ['acme/best'] }));
  assert.equal(body['model'], 'acme/best');
  assert.equal(at(body, 'service_metadata', 'strategy'), 'fallback');
});

// @spec router-16
test('keeps the model of the last response with pin_model while it may serve', async (t) => {
  const { post } = await startRouted(t);
  const messages = [...CODE, { role: 'assistant', content: 'def f(): pass', model: 'acme/best' }, ...CODE];
  assert.equal((await post(auto({}, { messages }))).body['model'], 'acme/cheap');
  assert.equal((await post(auto({ pin_model: true }, { messages }))).body['model'], 'acme/best');
  const excluded = await post(auto({ pin_model: true, excluded_models: ['acme/best'] }, { messages }));
  assert.equal(excluded.body['model'], 'acme/cheap');
});

// @spec router-17
test('keeps a conversation with its model while that is among the best, and not another conversation', async (t) => {
  const { post } = await startRouted(t);
  const wide = { cost_quality_tradeoff: 0 };
  const first = await post(auto({ ...wide, excluded_models: ['acme/mid'] }, { session_id: 'blue' }));
  assert.equal(first.body['model'], 'acme/cheap');
  assert.equal((await post(auto(wide, { session_id: 'blue' }))).body['model'], 'acme/cheap');
  assert.equal((await post(auto(wide, { session_id: 'red' }))).body['model'], 'acme/mid');
  assert.equal((await post(auto({ cost_tier: 'max' }, { session_id: 'blue' }))).body['model'], 'acme/best');
});

test('keeps conversations of two workspaces apart that have the same name', async (t) => {
  const { gateway, post } = await startRouted(t);
  const workspace = await manage(gateway, 'POST', '/workspaces', { name: 'Other', slug: 'other' });
  const { key } = (
    await manage(gateway, 'POST', '/keys', { name: 'k', workspace_id: at(workspace.body, 'data', 'id') })
  ).body;
  assert.ok(typeof key === 'string');
  const wide = { cost_quality_tradeoff: 0 };
  await post(auto({ ...wide, excluded_models: ['acme/mid'] }, { session_id: 'blue' }));
  const ask = (headers = {}) => post(auto(wide, { session_id: 'blue' }), '/chat/completions', headers);
  assert.equal((await ask({ authorization: `Bearer ${key}` })).body['model'], 'acme/mid');
  assert.equal((await ask()).body['model'], 'acme/cheap');
});

test('recognizes an unnamed conversation by its beginning, after a response', async (t) => {
  const { post } = await startRouted(t);
  const wide = { cost_quality_tradeoff: 0 };
  assert.equal((await post(auto({ cost_tier: 'low' }))).body['model'], 'acme/cheap');
  assert.equal((await post(auto(wide))).body['model'], 'acme/mid', 'the same first words are another conversation');
  assert.equal((await post(auto({ ...wide, excluded_models: ['acme/mid'] }))).body['model'], 'acme/cheap');
  const messages = [
    ...CODE,
    { role: 'assistant', content: 'def f(): pass' },
    { role: 'user', content: 'And now a class' },
  ];
  assert.equal((await post(auto(wide, { messages }))).body['model'], 'acme/cheap');
});

const UNTESTED = `
  acme/a: { name: A, endpoints: [{ provider: alpha, model: a-1, price: { prompt: 3, completion: 3 } }] }
  acme/b: { name: B, endpoints: [{ provider: alpha, model: b-1, price: { prompt: 1, completion: 1 } }] }
  acme/unpriced: { name: C, endpoints: [{ provider: alpha, model: c-1 }] }
`;

// @spec router-15
test("uses the operator's default models without a ranking, otherwise the cheapest", async (t) => {
  const more = 'routers: { auto: { default_models: [nobody/there, acme/a, acme/b] } }';
  const withDefaults = await startRouted(t, { models: UNTESTED, more });
  const { body } = await withDefaults.post({ model: 'service/auto', messages: CODE });
  assert.equal(body['model'], 'acme/a');
  assert.equal(at(body, 'service_metadata', 'pipeline', 0, 'data', 'ranked_by'), 'defaults');
  const without = await startRouted(t, { models: UNTESTED });
  assert.equal((await without.post({ model: 'service/auto', messages: CODE })).body['model'], 'acme/b');
});

// @spec router-3
test('chooses the sandbox only when there is nothing else', async (t) => {
  const { post } = await startRouted(t, { models: ' {}' });
  assert.equal((await post({ model: 'service/auto', messages: CODE })).body['model'], 'sandbox/echo');
  const other = await startRouted(t);
  assert.equal((await other.post(auto({ allowed_models: ['sandbox/*'] }))).status, 404);
});

// @spec model-20
test('applies a suffix to the chosen models, and rejects an unknown one', async (t) => {
  const { post } = await startRouted(t);
  const plain = await post({ model: 'service/auto', messages: CODE }, '/route/explain');
  assert.equal(at(plain.body, 'ordering'), 'balanced');
  const fast = await post({ model: 'service/auto:nitro', messages: CODE }, '/route/explain');
  assert.equal(at(fast.body, 'ordering'), 'throughput');
  assert.deepEqual(at(fast.body, 'models'), ['acme/cheap']);
  const answered = await post({ model: 'service/auto:thinking', messages: CODE });
  assert.equal(answered.body['model'], 'acme/cheap');
  assert.equal(at(answered.body, 'service_metadata', 'strategy'), 'auto');
  assert.equal((await post({ model: 'service/auto:sideways', messages: CODE })).status, 400);
});

// @spec router-6
test('may be the default model', async (t) => {
  const { post } = await startRouted(t, { more: 'defaults: { model: service/auto }' });
  const { body } = await post({ messages: CODE });
  assert.equal(body['model'], 'acme/cheap');
  assert.equal(at(body, 'service_metadata', 'strategy'), 'auto');
});

// @spec router-8, metadata-4
test('reports savings in the metadata, in the record and in the report', async (t) => {
  const { post, gateway } = await startRouted(t);
  const { body } = await post({ model: 'service/auto', messages: CODE });
  // 10 tokens in and 5 out: 200 USD a million at the best one, 2 at the cheap one.
  const params = at(body, 'service_metadata', 'params');
  assert.deepEqual(params, { compared_with: 'acme/best', compared_cost_usd: 0.0002, saved_usd: 0.000198 });
  const record = await manage(gateway, 'GET', `/generation?id=${textAt(body, 'id')}`);
  assert.equal(at(record.body, 'data', 'task_type'), 'code:general_impl');
  assert.equal(at(record.body, 'data', 'router'), 'auto');
  assert.equal(at(record.body, 'data', 'compared_model'), 'acme/best');
  assert.equal(at(record.body, 'data', 'router_savings'), 0.000198);
});

test('routes and compares streams and the messages format alike', async (t) => {
  const { gateway, post, upstream } = await startRouted(t, { script: stream(chatStream('well')) });
  const body = { model: 'service/auto', messages: CODE, stream: true };
  const response = await gateway.post('/chat/completions', body, { 'x-service-metadata': 'enabled' });
  const chunks = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'));
  const last: Json = JSON.parse(chunks.at(-1)?.slice(6) ?? 'null') as Json;
  assert.equal(at(last, 'model'), 'acme/cheap');
  assert.equal(at(last, 'service_metadata', 'params', 'saved_usd'), 0.000198);
  upstream.script = json(200, chatAnswer('well'));
  const plugins = [{ id: 'auto-router', cost_tier: 'max' }];
  const message = await post({ model: 'service/auto', max_tokens: 50, messages: CODE, plugins }, '/messages');
  assert.equal(message.status, 200);
  assert.equal(message.body['model'], 'acme/best');
  assert.equal(at(message.body, 'service_metadata', 'strategy'), 'auto');
});

test('compares a failed response with nothing', async (t) => {
  const { post } = await startRouted(t, { script: json(400, { error: { message: 'no' } }) });
  const { status, body } = await post({ model: 'service/auto', messages: CODE });
  assert.equal(status, 400);
  assert.equal(at(body, 'service_metadata', 'params'), undefined);
});

test('reports a negative saving for a dearer choice', async (t) => {
  const models = `
  acme/dear: { name: D, scores: { coding: 0.2 }, endpoints: [{ provider: alpha, model: d-1, price: { prompt: 10, completion: 10 } }] }
  acme/good: { name: G, scores: { coding: 0.9 }, endpoints: [{ provider: alpha, model: g-1, price: { prompt: 1, completion: 1 } }] }
`;
  const { post } = await startRouted(t, { models });
  const { body } = await post(auto({ cost_tier: 'max' }));
  assert.equal(body['model'], 'acme/dear');
  assert.equal(at(body, 'service_metadata', 'params', 'saved_usd'), -0.000135);
});

// @spec router-9
test('explains the task, the ranking, the band and each exclusion, and stores nothing', async (t) => {
  const { post, requested } = await startRouted(t);
  const session = { session_id: 'blue' };
  const body = auto({ cost_quality_tradeoff: 0, excluded_models: ['acme/best'] }, session);
  const explained = await post(body, '/route/explain');
  assert.equal(explained.status, 200);
  assert.deepEqual(at(explained.body, 'models'), ['acme/cheap']);
  const router = at(explained.body, 'routers', 0);
  assert.equal(at(router, 'router'), 'auto-router');
  assert.equal(at(router, 'classification', 'task_type'), 'code:general_impl');
  assert.deepEqual(at(router, 'cost_band'), [0, 0.9]);
  assert.deepEqual(at(router, 'ranking', 0, 'model'), 'acme/mid');
  assert.deepEqual(at(router, 'left_out'), [{ model: 'acme/best', reason: 'excluded_models' }]);
  assert.equal(at(explained.body, 'service_metadata', 'strategy'), 'auto');
  // Had it been remembered, cheap would stand before mid here.
  const wide = await post(auto({ cost_quality_tradeoff: 0 }, session), '/route/explain');
  assert.deepEqual(at(wide.body, 'models'), ['acme/mid', 'acme/cheap']);
  assert.deepEqual(requested(), []);
});

// @spec router-38
test('calls a judge only if it is enabled and keywords are inconclusive, and survives its failure', async (t) => {
  const more = 'routers: { judge: { models: [acme/best] }, auto: { judge: true } }';
  const { post, upstream, requested } = await startRouted(t, { more, script: judgeOf('math', 90) });
  const vague = { model: 'service/auto', messages: [{ role: 'user', content: 'Hm, and what about it then, friend?' }] };
  const judged = await post(vague);
  assert.deepEqual(requested(), ['best-1', 'best-1', 'cheap-1'], 'two orders of the tags');
  const stage = at(judged.body, 'service_metadata', 'pipeline', 0);
  assert.equal(at(stage, 'data', 'task_type'), 'math');
  assert.equal(at(stage, 'data', 'judge'), 'acme/best');
  assert.equal(at(stage, 'cost_usd'), 0.0004);
  assert.equal(at(judged.body, 'usage', 'cost'), 0.000402, 'the judge is part of what the answer cost');
  const explained = await post(vague, '/route/explain');
  assert.match(JSON.stringify(at(explained.body, 'routers', 0, 'classification', 'judge')), /would be called/);
  assert.equal(requested().length, 3, 'an explanation calls no model');
  upstream.script = (arrived, response, request) =>
    arrived.body['model'] === 'best-1'
      ? json(500, { error: { message: 'down' } })(arrived, response, request)
      : json(200, chatAnswer('well'))(arrived, response, request);
  assert.equal((await post(vague)).status, 200);
  const before = requested().length;
  assert.equal((await post({ model: 'service/auto', messages: CODE })).status, 200);
  assert.deepEqual(requested().slice(before), ['cheap-1'], 'clear words need no judge');
});

// @spec router-38
test('keeps to the words where the judge is in doubt itself', async (t) => {
  const more = 'routers: { judge: { models: [acme/best] }, auto: { judge: true, judge_threshold: 0.6 } }';
  const vague = { model: 'service/auto', messages: [{ role: 'user', content: 'Hm, and what about it then, friend?' }] };
  const { post, upstream } = await startRouted(t, { more, script: judgeOf('math', 40) });
  const doubtful = at((await post(vague)).body, 'service_metadata', 'pipeline', 0);
  assert.deepEqual([at(doubtful, 'data', 'task_type') === 'math', at(doubtful, 'data', 'judge')], [false, undefined]);
  upstream.script = judgeOf('math', 90);
  const sure = at((await post(vague)).body, 'service_metadata', 'pipeline', 0);
  assert.equal(at(sure, 'data', 'task_type'), 'math');
});

test('chooses variants when a pattern names them, or when there is nothing else', async (t) => {
  const models = `
  acme/one: { name: One, scores: { coding: 0.5 }, endpoints: [{ provider: alpha, model: one, price: { prompt: 1, completion: 1 } }] }
  acme/one:free: { name: Free, scores: { coding: 0.5 }, endpoints: [{ provider: alpha, model: one-free, price: { prompt: 0, completion: 0 } }] }
`;
  const { post } = await startRouted(t, { models });
  const modelOf = async (options: object): Promise<unknown> => (await post(auto(options))).body['model'];
  assert.equal(await modelOf({}), 'acme/one');
  assert.equal(await modelOf({ allowed_models: ['*:free'] }), 'acme/one:free');
  assert.equal(await modelOf({ excluded_models: ['acme/one'] }), 'acme/one:free');
});

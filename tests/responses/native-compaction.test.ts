import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { textOf } from '../../src/wire/json-fields.ts';
import { listOf, objectOf } from '../support/reported.ts';
import { json, sse, startUpstream, stream, type Script, type ScriptedUpstream } from '../support/upstream.ts';
import { emit } from '../support/upstreams/speak.ts';
import { checkStream, lastResponse } from '../support/wire/responses/stream-checker.ts';

const LONG = 'The bridge over the river must carry forty tonnes. '.repeat(400);
const HISTORY = 'gAAAAABthe-history-of-one-account==';
const TRIGGER = { type: 'compaction_trigger' };
const INPUT = [
  { role: 'user', content: LONG },
  { type: 'message', role: 'assistant', content: 'Noted.' },
  { role: 'user', content: 'And two lanes.' },
];
const ITEM = { id: 'cmp_1', type: 'compaction', encrypted_content: HISTORY };
const USAGE = {
  input_tokens: 5_000,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 300,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 5_300,
};

/** Shortens a conversation as the vendor does: with an item that it alone can open. */
const compact: Script = (arrived, ...rest) => {
  const response = { id: 'resp_1', object: 'response', model: 'm', created_at: 1, error: null, usage: USAGE };
  const whole = { ...response, status: 'completed', output: [ITEM] };
  if (arrived.body['stream'] !== true) return json(200, whole)(arrived, ...rest);
  const frames = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } },
    { type: 'response.output_item.added', output_index: 0, item: { ...ITEM, encrypted_content: '' } },
    { type: 'response.compaction.compacting', output_index: 0, item_id: 'cmp_1' },
    { type: 'response.output_item.done', output_index: 0, item: ITEM },
    { type: 'response.completed', response: whole },
  ];
  return stream(sse(frames, { named: true }))(arrived, ...rest);
};

interface Opened {
  readonly gateway: RunningGateway;
  readonly first: ScriptedUpstream;
  readonly second: ScriptedUpstream;
  readonly post: (path: string, body: JsonObject, status?: number) => Promise<JsonObject>;
}

/** One model at two accounts of a vendor that shortens conversations, an older model of it, and another vendor's. */
async function open(t: { after(close: () => Promise<void>): void }, compaction = 'native'): Promise<Opened> {
  const first = await startUpstream(compact);
  const second = await startUpstream(compact);
  const price = 'price: { prompt: 1, completion: 2 }';
  const gateway = await startGateway({
    yaml: `
responses: { compaction: ${compaction} }
providers:
  one: { adapter: openai, base_url: "${first.baseUrl}", api_key: upstream-secret }
  two: { adapter: openai, base_url: "${second.baseUrl}", api_key: upstream-secret }
  claude: { adapter: anthropic, base_url: "${second.baseUrl}", api_key: upstream-secret }
models:
  acme/new:
    endpoints:
      - { provider: one, model: gpt-5.4-pro, ${price} }
      - { provider: two, model: gpt-5.4-pro, ${price} }
  acme/old: { endpoints: [{ provider: one, model: gpt-5-pro, ${price} }] }
  acme/claude: { endpoints: [{ provider: claude, model: claude-sonnet-4-5, ${price} }] }
`,
  });
  t.after(async () => {
    await gateway.close();
    await first.close();
    await second.close();
  });
  return {
    gateway,
    first,
    second,
    async post(path, body, status = 200) {
      const response = await gateway.post(path, { store: false, ...body });
      const text = await response.text();
      assert.equal(response.status, status, text);
      return JSON.parse(text) as JsonObject;
    },
  };
}

const sentTo = ({ arrived }: ScriptedUpstream): JsonObject => (arrived.at(-1)?.body ?? {}) as JsonObject;
const inputOf = (upstream: ScriptedUpstream): readonly Json[] => listOf(sentTo(upstream)['input']);
const paramOf = ({ error }: JsonObject): Json | undefined => objectOf(error)['param'];

suite('compaction by an endpoint that shortens conversations itself', () => {
  // @spec responses-128, responses-pains-41
  test('gives the messages of the user and the item of the endpoint, whole and as a stream', async (t) => {
    const { gateway, first, post } = await open(t);
    const tools = [{ type: 'function', name: 'ls', parameters: { type: 'object', properties: {} } }];
    const compacted = await post('/responses/compact', { model: 'acme/new', input: INPUT, tools });
    assert.deepEqual(
      listOf(compacted['output']).map((item) => objectOf(item)['encrypted_content'] ?? objectOf(item)['role']),
      ['user', 'user', HISTORY],
    );
    assert.equal(objectOf(compacted['usage'])['output_tokens'], 300);
    assert.deepEqual(inputOf(first).at(-1), TRIGGER);
    const { tool_choice: choice, reasoning, tools: sent } = sentTo(first);
    assert.deepEqual([choice, reasoning, listOf(sent).length], [undefined, undefined, 1]);
    assert.ok(!first.arrived[0]?.text.includes('Summarize this conversation'));

    const body = { model: 'acme/new', input: [...INPUT, TRIGGER], stream: true, store: false };
    const response = await gateway.post('/responses', body);
    const events = checkStream(await response.text());
    assert.deepEqual(
      events.map(({ name }) => name),
      ['created', 'in_progress', 'output_item.added', 'output_item.done', 'completed'],
    );
    const [item] = listOf(lastResponse(events)['output']);
    assert.deepEqual(item, ITEM);
    assert.deepEqual(inputOf(first).at(-1), TRIGGER);
  });

  // @spec responses-128
  test('is a summary of the gateway elsewhere, where the operator wants that, and where the endpoint refuses', async (t) => {
    const { first, second, post } = await open(t);
    first.script = emit('They want a bridge.');
    second.script = emit('They want a bridge.');
    const isOwn = ({ output }: JsonObject): boolean =>
      textOf(objectOf(listOf(output).at(-1))['encrypted_content'])?.startsWith('sc1.') === true;
    for (const model of ['acme/old', 'acme/claude']) {
      const before = first.arrived.length + second.arrived.length;
      assert.ok(isOwn(await post('/responses/compact', { model, input: INPUT })));
      assert.equal(first.arrived.length + second.arrived.length, before + 1);
    }
    first.script = (arrived, ...rest) =>
      (arrived.text.includes(TRIGGER.type)
        ? json(400, { error: { message: "Invalid value: 'compaction_trigger'.", type: 'invalid_request_error' } })
        : emit('They want a bridge.'))(arrived, ...rest);
    assert.ok(isOwn(await post('/responses/compact', { model: 'acme/new', input: INPUT })));
    assert.equal(sentTo(first)['max_output_tokens'], 4_000);
    const own = await open(t, 'own');
    own.first.script = emit('They want a bridge.');
    assert.ok(isOwn(await own.post('/responses/compact', { model: 'acme/new', input: INPUT })));
    assert.ok(!own.first.arrived[0]?.text.includes(TRIGGER.type));
  });
});

suite('a history that an endpoint has shortened', () => {
  // @spec responses-109, responses-129, error-15
  test('goes back to the account that made it, and is refused where that cannot serve it', async (t) => {
    const { first, second, post } = await open(t);
    const only = { provider: { only: ['two'] } };
    await post('/responses/compact', { model: 'acme/new', input: INPUT, ...only });
    first.arrived.length = 0;
    second.script = emit('Two lanes.');
    const input = [ITEM, { role: 'user', content: 'Go on.' }];
    const next = await post('/responses', { model: 'acme/new', input });
    assert.equal(next['output_text'], 'Two lanes.');
    assert.equal(first.arrived.length, 0);
    assert.equal(objectOf(inputOf(second)[0])['encrypted_content'], HISTORY);
    for (const body of [
      { model: 'acme/new', provider: { only: ['one'] } },
      { model: 'acme/old' },
      { model: 'acme/claude' },
    ])
      assert.equal(paramOf(await post('/responses', { ...body, input }, 400)), 'input[0].encrypted_content');
    assert.equal(first.arrived.length, 0);
    second.script = json(500, { error: { message: 'down' } });
    await post('/responses', { model: 'acme/new', input }, 502);
    assert.equal(first.arrived.length, 0, 'another account could not open it');
  });
});

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite, test, type TestContext } from 'node:test';
import { isJsonObject, type JsonObject } from '../src/lib/json.ts';
import { setFilters } from './guardrails/filtered-gateway.ts';
import { manage } from './support/byok.ts';
import { API_KEY } from './support/gateway.ts';
import { readChatStream } from './support/http/read-stream.ts';
import { startTwoProviders, type TwoProviders } from './support/two-providers.ts';
import { chatAnswer, chatChunk, chatStream, json, sse, stream, type Script } from './support/upstream.ts';

const messages = [{ role: 'user', content: 'What is the capital of Norway?' }];
const BODY = { model: 'acme/first', messages };
const ON = { 'x-service-cache': 'true' };

function setUp(t: TestContext, options: Partial<Parameters<typeof startTwoProviders>[1]> = {}): Promise<TwoProviders> {
  return startTwoProviders(t, { first: json(200, chatAnswer('Oslo.')), second: json(500, {}), ...options });
}

interface Got {
  readonly status: number;
  readonly text: string;
  readonly id: string;
  /** The headers of the cache, without their prefix. */
  readonly cache: Readonly<Record<string, string>>;
}

async function ask(
  { gateway }: Pick<TwoProviders, 'gateway'>,
  body: unknown = BODY,
  headers: Record<string, string> = ON,
  path = '/chat/completions',
): Promise<Got> {
  const answer = await gateway.post(path, body, headers);
  const named = [...answer.headers].flatMap(([name, value]) =>
    name.startsWith('x-service-cache-') ? [[name.slice('x-service-cache-'.length), value]] : [],
  );
  return {
    status: answer.status,
    text: await answer.text(),
    id: answer.headers.get('x-generation-id') ?? '',
    cache: Object.fromEntries(named),
  };
}

function asText(value: unknown): string {
  assert.ok(typeof value === 'string');
  return value;
}

function parse(text: string): JsonObject {
  const body: unknown = JSON.parse(text);
  assert.ok(isJsonObject(body), text);
  return body;
}

async function recordOf({ gateway }: Pick<TwoProviders, 'gateway'>, id: string): Promise<JsonObject> {
  const { body } = await manage(gateway, 'GET', `/generation?id=${id}`, undefined, API_KEY);
  assert.ok(isJsonObject(body['data']), JSON.stringify(body));
  return body['data'];
}

suite('the response cache', () => {
  // @spec cache-6, cache-7
  test('returns the same response free of charge, as its own generation, without a provider', async (t) => {
    const stage = await setUp(t);
    const first = await ask(stage);
    assert.deepEqual([first.status, first.cache], [200, { status: 'MISS', ttl: '300' }], first.text);
    const again = await ask(stage, BODY, { ...ON, 'x-service-metadata': 'enabled' });
    assert.equal(stage.first.arrived.length, 1);
    assert.equal(again.cache['status'], 'HIT');
    assert.equal(again.cache['source-id'], first.id);
    assert.ok(Number(again.cache['age']) >= 0 && Number(again.cache['ttl']) <= 300);
    assert.notEqual(again.id, first.id);
    const [made, given] = [parse(first.text), parse(again.text)];
    assert.deepEqual(given['choices'], made['choices']);
    assert.deepEqual([given['id'], given['model'], given['provider']], [again.id, made['model'], made['provider']]);
    assert.equal(given['service_metadata'], undefined);
    assert.ok(isJsonObject(given['usage']));
    const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total, cost } = given['usage'];
    assert.deepEqual([prompt, completion, total, cost], [0, 0, 0, 0]);
    const record = await recordOf(stage, again.id);
    assert.deepEqual(
      [record['response_cache_source_id'], record['total_cost'], record['tokens_prompt'], record['tokens_completion']],
      [first.id, 0, 0, 0],
    );
    assert.equal((await recordOf(stage, first.id))['response_cache_source_id'], null);
  });

  // @spec cache-11
  test('generates for each of two requests that miss at the same time', async (t) => {
    const both = Promise.withResolvers<void>();
    let arrived = 0;
    const first: Script = async (...call) => {
      arrived += 1;
      if (arrived === 2) both.resolve();
      await both.promise;
      await json(200, chatAnswer('Oslo.'))(...call);
    };
    const stage = await setUp(t, { first });
    const made = await Promise.all([ask(stage), ask(stage)]);
    assert.deepEqual(
      made.map(({ cache }) => cache['status']),
      ['MISS', 'MISS'],
    );
    assert.equal(stage.first.arrived.length, 2);
  });

  // @spec rate-8
  test('counts a response that it gives again as a request', async (t) => {
    const stage = await setUp(t, { more: 'rate_limits: { key: { requests_per_minute: 2, tokens_per_minute: 1000 } }' });
    const statuses = [await ask(stage), await ask(stage), await ask(stage)].map(({ status }) => status);
    assert.deepEqual(statuses, [200, 200, 429]);
    assert.equal(stage.first.arrived.length, 1);
  });

  // @spec cache-8
  test('replays a stream as a stream, in both formats', async (t) => {
    const stage = await setUp(t, { first: stream(chatStream('Oslo is it.')) });
    const body = { ...BODY, stream: true };
    const [made, given] = [await ask(stage, body), await ask(stage, body)];
    assert.deepEqual([made.cache['status'], given.cache['status']], ['MISS', 'HIT']);
    const read = readChatStream(given.text);
    assert.deepEqual([read.text, read.finish], ['Oslo is it.', readChatStream(made.text).finish]);
    const inMessages = { ...body, max_tokens: 50 };
    const other = await ask(stage, inMessages, ON, '/messages');
    const otherAgain = await ask(stage, inMessages, ON, '/messages');
    assert.deepEqual([other.cache['status'], otherAgain.cache['status']], ['MISS', 'HIT']);
    for (const { text } of [other, otherAgain]) {
      assert.match(text, /event: message_start\n/);
      assert.equal(text.match(/event: message_stop\n/g)?.length, 1);
    }
    const textOf = (raw: string): string =>
      [...raw.matchAll(/"text_delta","text":"([^"]*)"/g)].map(([, text]) => text).join('');
    assert.equal(textOf(otherAgain.text), 'Oslo is it.');
    assert.equal(stage.first.arrived.length, 2);
  });

  // @spec cache-3, cache-4
  test('keys on the body, the delivery, the route and the API key', async (t) => {
    const stage = await setUp(t);
    await ask(stage);
    assert.equal((await ask(stage, { ...BODY, temperature: 0 })).cache['status'], 'MISS');
    assert.equal((await ask(stage, { ...BODY, stream: true })).cache['status'], 'MISS');
    assert.equal((await ask(stage, { ...BODY, max_tokens: 9 }, ON, '/messages')).cache['status'], 'MISS');
    assert.equal((await ask(stage, JSON.stringify({ messages, model: 'acme/first' }))).cache['status'], 'MISS');
    assert.equal((await ask(stage, JSON.stringify(BODY, null, 2))).cache['status'], 'HIT');
    const made = await manage(stage.gateway, 'POST', '/keys', { name: 'other' });
    const headers = { ...ON, authorization: `Bearer ${asText(made.body['key'])}` };
    assert.equal((await ask(stage, BODY, headers)).cache['status'], 'MISS');
    assert.equal((await ask(stage, BODY, headers)).cache['status'], 'HIT');
  });

  // @spec cache-4, cache-12
  test("returns no response from before a change of the key's rules", async (t) => {
    const stage = await setUp(t);
    await ask(stage);
    await setFilters(stage.gateway, { content_filter_builtins: [{ slug: 'email', action: 'redact' }] });
    assert.equal((await ask(stage)).cache['status'], 'MISS', 'other words may have been sent');
    await setFilters(stage.gateway, { allowed_models: ['acme/second'] });
    assert.ok((await ask(stage)).status >= 400, 'that model is no longer allowed');
    assert.equal(stage.first.arrived.length, 2);
  });

  // @spec cache-12
  test('replays a response as filters left it, and nothing for a request that they refuse', async (t) => {
    const stage = await setUp(t, { first: json(200, chatAnswer('Write to olav@oslo.example.')) });
    await setFilters(stage.gateway, {
      content_filter_builtins: [{ slug: 'email', action: 'redact', scan_output: true }],
      content_filters: [{ pattern: 'swordfish', action: 'block' }],
    });
    const answers = [await ask(stage), await ask(stage)];
    assert.deepEqual(
      answers.map(({ cache }) => cache['status']),
      ['MISS', 'HIT'],
    );
    for (const { text } of answers) assert.match(text, /Write to \[EMAIL\]\./);
    const refused = await ask(stage, { ...BODY, messages: [{ role: 'user', content: 'swordfish' }] });
    assert.deepEqual([refused.status, refused.cache], [403, {}]);
    assert.equal(stage.first.arrived.length, 1);
  });

  // @spec preset-12, cache-1
  test('is off by default, and can be forbidden by a preset', async (t) => {
    const stage = await setUp(t);
    for (let round = 0; round < 2; round++) assert.deepEqual((await ask(stage, BODY, {})).cache, {});
    assert.equal(stage.first.arrived.length, 2);
    const store = (slug: string, config: object) =>
      manage(stage.gateway, 'POST', `/presets/${slug}/chat/completions`, { ...BODY, ...config }, API_KEY);
    assert.equal((await store('kept', { cache_enabled: true, cache_ttl_seconds: 60 })).status, 200);
    assert.equal((await store('never', { cache_enabled: false })).status, 200);
    const kept = { model: '@preset/kept', messages };
    assert.deepEqual((await ask(stage, kept, {})).cache, { status: 'MISS', ttl: '60' });
    assert.equal((await ask(stage, kept, {})).cache['status'], 'HIT');
    assert.deepEqual((await ask(stage, kept, { 'x-service-cache': 'false' })).cache, {});
    assert.deepEqual((await ask(stage, { model: '@preset/never', messages })).cache, {});
    await store('kept', { cache_enabled: true, temperature: 1 });
    assert.equal((await ask(stage, kept, {})).cache['status'], 'MISS');
  });

  // @spec cache-9
  test('expires entries, and clears them on request', async (t) => {
    const stage = await setUp(t);
    const brief = { ...ON, 'x-service-cache-ttl': '1' };
    assert.deepEqual((await ask(stage, BODY, brief)).cache, { status: 'MISS', ttl: '1' });
    await sleep(1_050);
    assert.equal((await ask(stage, BODY, brief)).cache['status'], 'MISS');
    const cleared = await ask(stage, BODY, { ...ON, 'x-service-cache-clear': 'true' });
    assert.equal(cleared.cache['status'], 'MISS');
    const again = await ask(stage);
    assert.deepEqual([again.cache['status'], again.cache['source-id']], ['HIT', cleared.id]);
    assert.equal(stage.first.arrived.length, 3);
  });

  // @spec cache-5, cache-10
  test('stores no error, no broken response, and nothing for an account with zero retention', async (t) => {
    const stage = await setUp(t, { first: json(400, { error: { message: 'no' } }) });
    assert.equal((await ask(stage)).status, 400);
    stage.first.script = stream(sse([chatChunk({ content: 'Os' })]));
    const streamed = { ...BODY, stream: true };
    assert.match((await ask(stage, streamed)).text, /"error"/);
    stage.first.script = json(200, chatAnswer('Oslo.'));
    assert.equal((await ask(stage)).cache['status'], 'MISS');
    stage.first.script = stream(chatStream('Oslo.'));
    assert.equal((await ask(stage, streamed)).cache['status'], 'MISS');

    const made = await manage(stage.gateway, 'POST', '/guardrails', { name: 'strict', enforce_zdr_openai: true });
    assert.ok(isJsonObject(made.body['data']), made.text);
    const key = await manage(stage.gateway, 'POST', '/keys', { name: 'strict' });
    assert.ok(isJsonObject(key.body['data']), key.text);
    const path = `/guardrails/${asText(made.body['data']['id'])}/assignments/keys`;
    const assigned = await manage(stage.gateway, 'POST', path, { key_hashes: [key.body['data']['hash']] });
    assert.ok(assigned.status < 300, assigned.text);
    const headers = { ...ON, authorization: `Bearer ${asText(key.body['key'])}` };
    assert.deepEqual((await ask(stage, BODY, headers)).cache, {});
  });

  // @spec cache-5
  test('stores a response with tool calls, arguments byte for byte', async (t) => {
    const input = '{"city": "Oslo",  "id": 12345678901234567890}';
    const call = { id: 'call_1', type: 'function', function: { name: 'look_up', arguments: input } };
    const answer = {
      id: 'up-1',
      object: 'chat.completion',
      created: 1,
      model: 'one-2026',
      choices: [
        { index: 0, message: { role: 'assistant', content: null, tool_calls: [call] }, finish_reason: 'tool_calls' },
      ],
      usage: { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 },
    };
    const stage = await setUp(t, { first: json(200, answer) });
    const tools = [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } }];
    const [made, given] = [await ask(stage, { ...BODY, tools }), await ask(stage, { ...BODY, tools })];
    assert.equal(given.cache['status'], 'HIT');
    assert.deepEqual(parse(given.text)['choices'], parse(made.text)['choices']);
    assert.ok(given.text.includes(JSON.stringify(input)));
  });

  test('stores nothing with a size of zero', async (t) => {
    const stage = await setUp(t, { more: 'server: { response_cache_mb: 0 }' });
    await ask(stage);
    assert.equal((await ask(stage)).cache['status'], 'MISS');
  });
});

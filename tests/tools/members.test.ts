import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { SERVER_TOOLS } from '../../src/tools/index.ts';
import { tool as chatTool } from '../../src/wire/chat/request/tool-schema.ts';
import { tool as messagesTool } from '../../src/wire/messages/request/tool-schema.ts';
import { listOf, objectOf } from '../support/reported.ts';
import { ask, startToolTurns, type Asking, type Model } from '../support/tool-turns.ts';

const CHAT: Asking = { format: 'chat', model: 'acme/chat', stream: true };
const MESSAGES: Asking = { format: 'messages', model: 'acme/chat', stream: true };

/** Calls the function once, and repeats what its result was. */
function callsWith(name: string, input: object): Model {
  return ({ body }, at) => {
    if (at === 0) return { calls: [{ name, input: JSON.stringify(input) }] };
    const messages = listOf(body['messages'] as JsonObject[]).map((message) => objectOf(message));
    const content = messages.findLast(({ role }) => role === 'tool')?.['content'];
    return { text: typeof content === 'string' ? content : 'nothing' };
  };
}

/** Other interfaces write further members on these, or their models take what only they know. */
const TAKES_MORE: ReadonlySet<string> = new Set([
  'service:fusion',
  'service:image_generation',
  'service:web_fetch',
  'service:web_search',
]);

suite('every member of the registry', () => {
  for (const [type, tool] of SERVER_TOOLS) {
    // @spec tool-1
    test(`can be requested in at least one of the formats: ${type}`, () => {
      assert.ok(chatTool.safeParse({ type }).success || messagesTool.safeParse({ type }).success);
    });

    // @spec tool-2
    test(`has its own type, and ${TAKES_MORE.has(type) ? 'accepts further parameters' : 'refuses unknown parameters'}: ${type}`, () => {
      assert.equal(tool.type, type);
      assert.equal(tool.parameters.safeParse({ a_member_that_nobody_knows: 1 }).success, TAKES_MORE.has(type));
    });
  }
});

test('returns the time of its zone from service:datetime', async (t) => {
  const turns = await startToolTurns(t, callsWith('service_datetime', {}));
  const before = Date.now();
  const reported = await ask(turns, CHAT, {
    tools: [{ type: 'service:datetime', parameters: { timezone: 'Asia/Tokyo' } }],
  });
  const { datetime, timezone } = JSON.parse(reported.text) as { datetime: string; timezone: string };
  assert.equal(timezone, 'Asia/Tokyo');
  assert.match(datetime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+09:00$/);
  assert.ok(Date.parse(datetime) >= before && Date.parse(datetime) <= Date.now());
});

// @spec tool-30
test('finds models of the catalog with service:experimental__search_models', async (t) => {
  const name = 'service_experimental__search_models';
  const turns = await startToolTurns(t, callsWith(name, { query: 'acme', min_context_length: 0 }));
  const tools = [{ type: 'service:experimental__search_models', parameters: { max_results: 1 } }];
  const reported = await ask(turns, CHAT, { tools });
  const result = JSON.parse(reported.text) as { models: JsonObject[]; total_results: number; showing: number };
  assert.equal(result.total_results, 2);
  assert.equal(result.showing, 1);
  assert.deepEqual(Object.keys(result.models[0] ?? {}), [
    'id',
    'name',
    'description',
    'context_length',
    'input_modalities',
    'output_modalities',
    'series',
  ]);
});

suite('service:tool_search', () => {
  const hidden = (name: string, description: string): JsonObject => ({
    name,
    description,
    input_schema: { type: 'object', properties: { city: { type: 'string', description: 'Where it rains.' } } },
    defer_loading: true,
  });
  const tools = [
    { type: 'service:tool_search' },
    hidden('get_weather', 'Tells the weather.'),
    hidden('send_mail', 'Sends a letter.'),
    { name: 'always', input_schema: { type: 'object' } },
  ];
  const namesIn = (body: Readonly<Record<string, unknown>>): readonly unknown[] =>
    listOf(body['tools'] as JsonObject[]).map((tool) => objectOf(objectOf(tool)['function'])['name']);

  // @spec tool-40
  test('hides deferred functions until they are found, and then they can be called', async (t) => {
    const model: Model = (_arrived, at) =>
      at === 0
        ? { calls: [{ name: 'service_tool_search', input: '{"query":"WEATHER|snow"}' }] }
        : { calls: [{ name: 'get_weather', input: '{"city":"Rome"}' }] };
    const turns = await startToolTurns(t, model);
    const reported = await ask(turns, MESSAGES, { tools });
    assert.deepEqual(
      turns.chat.arrived.map(({ body }) => namesIn(body)),
      [
        ['service_tool_search', 'always'],
        ['service_tool_search', 'always', 'get_weather'],
      ],
    );
    assert.deepEqual(
      reported.calls.map(({ name }) => name),
      ['get_weather'],
    );
    const blocks = listOf(reported.message['content']).map((block) => objectOf(block));
    assert.deepEqual(blocks[1]?.['content'], {
      type: 'tool_search_tool_search_result',
      tool_references: [{ type: 'tool_reference', tool_name: 'get_weather' }],
    });
    assert.equal(blocks[1]?.['type'], 'tool_search_tool_result');
    assert.doesNotMatch(turns.chat.arrived[1]?.text ?? '', /defer_loading/);
  });

  test('searches descriptions and arguments, too, and returns at most max_results', async (t) => {
    const turns = await startToolTurns(t, callsWith('service_tool_search', { query: 'city|rains' }));
    const [search, ...others] = tools;
    const reported = await ask(turns, MESSAGES, { tools: [{ ...search, parameters: { max_results: 1 } }, ...others] });
    assert.equal(reported.text, '{"tools":["get_weather"]}');
  });

  // @spec tool-42
  test("offers hidden functions at once without it for another vendor's model", async (t) => {
    const turns = await startToolTurns(t, () => ({ text: 'Said.' }));
    const [, ...others] = tools;
    const requested = (model: string): Promise<Response> =>
      turns.gateway.post('/messages', {
        model,
        max_tokens: 100,
        messages: [{ role: 'user', content: 'hi' }],
        tools: others,
      });
    const answered = await requested('acme/chat');
    assert.equal(answered.status, 200, await answered.text());
    assert.deepEqual(namesIn(turns.chat.arrived[0]?.body ?? {}), ['get_weather', 'send_mail', 'always']);
    assert.doesNotMatch(turns.chat.arrived[0]?.text ?? '', /defer_loading/);
    const record = await turns.gateway.app.generations.find(answered.headers.get('x-generation-id') ?? '');
    assert.deepEqual(
      record?.warnings.map(({ code, path }) => `${code} ${path}`),
      ['field-dropped tools[0].defer_loading', 'field-dropped tools[1].defer_loading'],
    );
    assert.equal((await requested('acme/messages')).status, 200);
    assert.match(turns.messages.arrived[0]?.text ?? '', /"defer_loading":true/);
  });

  for (const query of ['(', '(a+)+$', '(?=x)', 'x'.repeat(201)])
    // @spec tool-40
    test(`returns an error for an invalid or slow pattern: ${query.slice(0, 10)}`, async (t) => {
      const turns = await startToolTurns(t, callsWith('service_tool_search', { query }));
      const reported = await ask(turns, MESSAGES, { tools });
      assert.match(reported.text, /"status":"error"/);
      const blocks = listOf(reported.message['content']).map((block) => objectOf(block));
      assert.equal(objectOf(blocks[1]?.['content'])['error_code'], 'invalid_tool_input');
    });

  // @spec tool-40
  test('finds by words with that method, the best first', async (t) => {
    const model: Model = (_arrived, at) =>
      at === 0
        ? { calls: [{ name: 'service_tool_search', input: '{"query":"send a letter to somebody"}' }] }
        : { text: 'Found.' };
    const turns = await startToolTurns(t, model);
    const [, ...others] = tools;
    await ask(turns, MESSAGES, { tools: [{ type: 'service:tool_search', parameters: { method: 'bm25' } }, ...others] });
    assert.deepEqual(namesIn(turns.chat.arrived[1]?.body ?? {}), ['service_tool_search', 'always', 'send_mail']);
  });

  for (const type of ['tool_search_tool_bm25', 'tool_search_tool_bm25_20251119'])
    // @spec tool-43
    test(`replaces ${type}, which goes to its vendor unchanged`, async (t) => {
      const model: Model = (_arrived, at) =>
        at === 0
          ? { calls: [{ name: 'service_tool_search', input: '{"query":"weather forecasts"}' }] }
          : { text: 'Found.' };
      const turns = await startToolTurns(t, model);
      const [, ...others] = tools;
      const vendors = [{ type, name: 'tool_search_tool_bm25' }, ...others];
      await ask(turns, MESSAGES, { tools: vendors });
      assert.deepEqual(namesIn(turns.chat.arrived[1]?.body ?? {}), ['service_tool_search', 'always', 'get_weather']);
      await ask(turns, { ...MESSAGES, model: 'acme/messages' }, { tools: vendors });
      const [native] = turns.messages.arrived;
      assert.deepEqual(listOf(native?.body['tools'] as JsonObject[])[0], vendors[0]);
      assert.match(native?.text ?? '', /"defer_loading":true/);
    });

  test('describes a search of the caller to a model of another vendor in words', async (t) => {
    const turns = await startToolTurns(t, () => ({ text: 'Said.' }));
    const [, ...others] = tools;
    const found = [{ type: 'tool_reference', tool_name: 'get_weather' }];
    const answered = await turns.gateway.post('/messages', {
      model: 'acme/chat',
      max_tokens: 100,
      tools: [{ name: 'ToolSearch', input_schema: { type: 'object' } }, ...others],
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'ToolSearch', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: found }] },
      ],
    });
    assert.equal(answered.status, 200, await answered.text());
    assert.match(turns.chat.arrived[0]?.text ?? '', /The tool get_weather can be called now/);
  });

  // @spec tool-43
  test("replaces the vendor's own for another vendor's model", async (t) => {
    const model: Model = (_arrived, at) =>
      at === 0 ? { calls: [{ name: 'service_tool_search', input: '{"query":"mail"}' }] } : { text: 'Found.' };
    const turns = await startToolTurns(t, model);
    const [, ...others] = tools;
    const vendors = [{ type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' }, ...others];
    const reported = await ask(turns, MESSAGES, { tools: vendors });
    assert.equal(reported.text, 'Found.');
    await ask(turns, { ...MESSAGES, model: 'acme/messages' }, { tools: vendors });
    const [native] = turns.messages.arrived;
    assert.equal(objectOf(listOf(native?.body['tools'] as JsonObject[])[0])['type'], 'tool_search_tool_regex_20251119');
  });
});

// @spec tool-39
test('returns service:bash as a call for the caller to run, whatever the model', async (t) => {
  for (const model of ['acme/chat', 'acme/messages']) {
    const turns = await startToolTurns(t, () => ({ calls: [{ name: 'bash', input: '{"command":"ls"}' }] }));
    const reported = await ask(turns, { ...MESSAGES, model }, { tools: [{ type: 'service:bash' }] });
    assert.deepEqual(
      reported.calls.map(({ name, arguments: given }) => [name, JSON.parse(given)]),
      [['bash', { command: 'ls' }]],
    );
    assert.equal(reported.finish, 'tool_use');
    assert.equal(turns.chat.arrived.length + turns.messages.arrived.length, 1);
  }
});

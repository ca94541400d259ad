import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { SERVER_TOOLS } from '../../src/tools/index.ts';
import { tool as chatTool } from '../../src/wire/chat/tool-schema.ts';
import { tool as messagesTool } from '../../src/wire/messages/tool-schema.ts';
import { listOf, objectOf } from '../support/told.ts';
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
    test(`${type} can be asked for in one of the formats at least`, () => {
      assert.ok(chatTool.safeParse({ type }).success || messagesTool.safeParse({ type }).success);
    });

    test(`${type} stands under its own type, and ${TAKES_MORE.has(type) ? 'lets further parameters be' : 'refuses parameters that nobody knows'}`, () => {
      assert.equal(tool.type, type);
      assert.equal(tool.parameters.safeParse({ a_member_that_nobody_knows: 1 }).success, TAKES_MORE.has(type));
    });
  }
});

test('service:datetime tells the time of its zone', async (t) => {
  const turns = await startToolTurns(t, callsWith('service_datetime', {}));
  const before = Date.now();
  const told = await ask(turns, CHAT, {
    tools: [{ type: 'service:datetime', parameters: { timezone: 'Asia/Tokyo' } }],
  });
  const { datetime, timezone } = JSON.parse(told.text) as { datetime: string; timezone: string };
  assert.equal(timezone, 'Asia/Tokyo');
  assert.match(datetime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+09:00$/);
  assert.ok(Date.parse(datetime) >= before && Date.parse(datetime) <= Date.now());
});

test('service:experimental__search_models finds models of the catalog', async (t) => {
  const name = 'service_experimental__search_models';
  const turns = await startToolTurns(t, callsWith(name, { query: 'acme', min_context_length: 0 }));
  const tools = [{ type: 'service:experimental__search_models', parameters: { max_results: 1 } }];
  const told = await ask(turns, CHAT, { tools });
  const result = JSON.parse(told.text) as { models: JsonObject[]; total_results: number; showing: number };
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

  test('hides what is deferred until it is found, and then it can be called', async (t) => {
    const model: Model = (_arrived, at) =>
      at === 0
        ? { calls: [{ name: 'service_tool_search', input: '{"query":"WEATHER|snow"}' }] }
        : { calls: [{ name: 'get_weather', input: '{"city":"Rome"}' }] };
    const turns = await startToolTurns(t, model);
    const told = await ask(turns, MESSAGES, { tools });
    assert.deepEqual(
      turns.chat.arrived.map(({ body }) => namesIn(body)),
      [
        ['service_tool_search', 'always'],
        ['service_tool_search', 'always', 'get_weather'],
      ],
    );
    assert.deepEqual(
      told.calls.map(({ name }) => name),
      ['get_weather'],
    );
    const blocks = listOf(told.message['content']).map((block) => objectOf(block));
    assert.deepEqual(blocks[1]?.['content'], {
      type: 'tool_search_tool_search_result',
      tool_references: [{ type: 'tool_reference', tool_name: 'get_weather' }],
    });
    assert.equal(blocks[1]?.['type'], 'tool_search_tool_result');
    assert.doesNotMatch(turns.chat.arrived[1]?.text ?? '', /defer_loading/);
  });

  test('searches descriptions and arguments too, and finds no more than max_results', async (t) => {
    const turns = await startToolTurns(t, callsWith('service_tool_search', { query: 'city|rains' }));
    const [search, ...others] = tools;
    const told = await ask(turns, MESSAGES, { tools: [{ ...search, parameters: { max_results: 1 } }, ...others] });
    assert.equal(told.text, '{"tools":["get_weather"]}');
  });

  test("is what hidden functions need where the model is another vendor's: without it they are a 400", async (t) => {
    const turns = await startToolTurns(t, () => ({ text: 'Said.' }));
    const [, ...others] = tools;
    const asked = (model: string): Promise<Response> =>
      turns.gateway.post('/messages', {
        model,
        max_tokens: 100,
        messages: [{ role: 'user', content: 'hi' }],
        tools: others,
      });
    const refused = await asked('acme/chat');
    assert.equal(refused.status, 400);
    assert.match(
      await refused.text(),
      /"tools: no endpoint of .* hides tools with .*defer_loading.*service:tool_search/,
    );
    assert.equal(turns.chat.arrived.length, 0);
    assert.equal((await asked('acme/messages')).status, 200);
    assert.match(turns.messages.arrived[0]?.text ?? '', /"defer_loading":true/);
  });

  for (const query of ['(', '(a+)+$', '(?=x)', 'x'.repeat(201)])
    test(`gives an error for a pattern that is none or may take long: ${query.slice(0, 10)}`, async (t) => {
      const turns = await startToolTurns(t, callsWith('service_tool_search', { query }));
      const told = await ask(turns, MESSAGES, { tools });
      assert.match(told.text, /"status":"error"/);
      const blocks = listOf(told.message['content']).map((block) => objectOf(block));
      assert.equal(objectOf(blocks[1]?.['content'])['error_code'], 'invalid_tool_input');
    });

  test("stands in for the vendor's own where the model is another vendor's", async (t) => {
    const model: Model = (_arrived, at) =>
      at === 0 ? { calls: [{ name: 'service_tool_search', input: '{"query":"mail"}' }] } : { text: 'Found.' };
    const turns = await startToolTurns(t, model);
    const [, ...others] = tools;
    const vendors = [{ type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' }, ...others];
    const told = await ask(turns, MESSAGES, { tools: vendors });
    assert.equal(told.text, 'Found.');
    await ask(turns, { ...MESSAGES, model: 'acme/messages' }, { tools: vendors });
    const [native] = turns.messages.arrived;
    assert.equal(objectOf(listOf(native?.body['tools'] as JsonObject[])[0])['type'], 'tool_search_tool_regex_20251119');
  });
});

test('service:bash is a call for the caller to run, whatever the model', async (t) => {
  for (const model of ['acme/chat', 'acme/messages']) {
    const turns = await startToolTurns(t, () => ({ calls: [{ name: 'bash', input: '{"command":"ls"}' }] }));
    const told = await ask(turns, { ...MESSAGES, model }, { tools: [{ type: 'service:bash' }] });
    assert.deepEqual(
      told.calls.map(({ name, arguments: given }) => [name, JSON.parse(given)]),
      [['bash', { command: 'ls' }]],
    );
    assert.equal(told.finish, 'tool_use');
    assert.equal(turns.chat.arrived.length + turns.messages.arrived.length, 1);
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../../lib/json.ts';
import { CLAUDE, encodeChat, encodeMessages, model } from '../../../../tests/support/wire/converse/request.ts';
import type { Encoded } from '../../../../tests/support/wire/converse/request.ts';

const GO: JsonObject = { role: 'user', content: 'go' };
const SCHEMA: JsonObject = { type: 'object', properties: { city: { type: 'string' } } };

function tool(name: string, more: JsonObject = {}): JsonObject {
  return { type: 'function', function: { name, description: 'does', parameters: SCHEMA, ...more } };
}
function spec(name: string, more: JsonObject = {}): JsonObject {
  return { toolSpec: { name, description: 'does', inputSchema: { json: SCHEMA }, ...more } };
}
const HISTORY: readonly JsonObject[] = [
  GO,
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'a', type: 'function', function: { name: 'gone', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: 'a', content: 'ok' },
];
function toolConfigOf({ body }: Encoded): Json {
  return body['toolConfig'] ?? null;
}
function choose(tool_choice: Json, dialect = CLAUDE, more: JsonObject = {}): Encoded {
  return encodeChat({ messages: [GO], tools: [tool('f'), tool('g')], tool_choice, ...more }, dialect);
}
const BOTH = [spec('f'), spec('g')];
const FORCED: Json = { type: 'function', function: { name: 'g' } };

test('tools keep the order and the words of the caller', () => {
  const { body, warned, toolNames } = encodeChat({
    messages: [GO],
    tools: [
      tool('z'),
      { type: 'function', function: { name: 'a' } },
      tool('b', { description: ' ', parameters: { properties: {} } }),
    ],
  });
  assert.deepEqual(body['toolConfig'], {
    tools: [
      spec('z'),
      { toolSpec: { name: 'a', inputSchema: { json: { type: 'object', properties: {} } } } },
      { toolSpec: { name: 'b', inputSchema: { json: { type: 'object', properties: {} } } } },
    ],
  });
  assert.deepEqual(warned, []);
  assert.equal(toolNames, undefined);
});

test('maps names that the format refuses in tools, choice and calls, and reports them', () => {
  const long = 'search_'.repeat(14);
  const encoded = encodeMessages({
    messages: [
      GO,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: long, input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: '1' }] },
    ],
    tools: [
      { name: long, description: 'does', input_schema: SCHEMA },
      { name: 'fine', description: 'does', input_schema: SCHEMA },
    ],
    tool_choice: { type: 'tool', name: long },
  });
  const [[sent, own] = ['', '']] = [...(encoded.toolNames ?? [])];
  assert.equal(encoded.toolNames?.size, 1);
  assert.equal(own, long);
  assert.match(sent, /^[a-zA-Z0-9_-]{1,64}$/);
  assert.deepEqual(toolConfigOf(encoded), {
    tools: [spec(sent), spec('fine')],
    toolChoice: { tool: { name: sent } },
  });
  assert.deepEqual((encoded.body['messages'] as readonly JsonObject[])[1]?.['content'], [
    { toolUse: { toolUseId: 'a', name: sent, input: {} } },
  ]);
});

test('how the model is to choose', () => {
  assert.deepEqual(toolConfigOf(choose('auto')), { tools: BOTH });
  assert.deepEqual(toolConfigOf(choose('required')), { tools: BOTH, toolChoice: { any: {} } });
  assert.deepEqual(toolConfigOf(choose(FORCED)), { tools: BOTH, toolChoice: { tool: { name: 'g' } } });
  const none = choose('none');
  assert.deepEqual([toolConfigOf(none), none.warned], [{ tools: BOTH }, []]);
});

test('replaces a tool choice that the model does not have with the nearest, or none, with a warning', () => {
  const any = choose(FORCED, model({ forces: ['any'] }));
  assert.deepEqual(toolConfigOf(any), { tools: BOTH, toolChoice: { any: {} } });
  assert.deepEqual(any.warned, ['field-changed tool_choice']);
  for (const requested of [FORCED, 'required']) {
    const free = choose(requested, model({ forces: [] }));
    assert.deepEqual(toolConfigOf(free), { tools: BOTH });
    assert.deepEqual(free.warned, ['field-dropped tool_choice']);
  }
  const toolless = encodeChat({ messages: [GO], tool_choice: 'required' });
  assert.deepEqual([toolConfigOf(toolless), toolless.warned], [null, ['field-dropped tool_choice']]);
});

test('sends one call at a time, and the whole choice with it, in the members of a Claude', () => {
  const cases: readonly (readonly [Json, JsonObject])[] = [
    ['auto', { type: 'auto' }],
    ['required', { type: 'any' }],
    [FORCED, { type: 'tool', name: 'g' }],
  ];
  for (const [requested, expected] of cases) {
    const { body, warned } = choose(requested, CLAUDE, { parallel_tool_calls: false });
    assert.deepEqual(body['toolConfig'], { tools: BOTH });
    assert.deepEqual(body['additionalModelRequestFields'], {
      tool_choice: { ...expected, disable_parallel_tool_use: true },
    });
    assert.deepEqual(warned, []);
  }
  const other = choose('required', model({}), { parallel_tool_calls: false });
  assert.deepEqual(toolConfigOf(other), { tools: BOTH, toolChoice: { any: {} } });
  assert.deepEqual(other.warned, ['field-dropped parallel_tool_calls']);
});

test('calls in the conversation keep the tools, and a choice of none becomes words', () => {
  const { body, warned } = encodeChat({ messages: HISTORY, tools: [tool('gone')], tool_choice: 'none' });
  assert.deepEqual(body['toolConfig'], { tools: [spec('gone')] });
  assert.equal(body['system'], undefined);
  assert.ok(JSON.stringify(body['messages']).endsWith('{"text":"Do not call any tool in this response."}]}]'));
  assert.deepEqual(warned, []);
});

test('keeps everything before the instruction of a choice of none, so that the cache knows the prompt', () => {
  const cache_control = { type: 'ephemeral' };
  const requested = {
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'be brief', cache_control }] },
      ...HISTORY,
      { role: 'user', content: [{ type: 'text', text: 'and?', cache_control }] },
    ],
    tools: [tool('gone')],
  };
  const { body: free } = encodeChat(requested, CLAUDE);
  const { body: banned } = encodeChat({ ...requested, tool_choice: 'none' }, CLAUDE);
  for (const member of ['toolConfig', 'system'])
    assert.equal(JSON.stringify(banned[member]), JSON.stringify(free[member]), member);
  const reported = JSON.stringify(free['messages']).slice(0, -']}]'.length);
  assert.ok(JSON.stringify(banned['messages']).startsWith(reported));
  assert.match(reported, /cachePoint":\{"type":"default"\}\}$/);
});

// @spec translate-21
test('calls in the conversation without any tool get stand-ins, that are not to be called', () => {
  const { body, warned } = encodeChat({ messages: [{ role: 'system', content: 'be brief' }, ...HISTORY] });
  assert.deepEqual(body['toolConfig'], {
    tools: [
      {
        toolSpec: {
          name: 'gone',
          description: 'Was called earlier in this conversation and is not available any more.',
          inputSchema: { json: { type: 'object', properties: {} } },
        },
      },
    ],
  });
  assert.deepEqual(body['system'], [{ text: 'be brief' }, { text: 'Do not call any tool in this response.' }]);
  assert.deepEqual(warned, []);
});

test('instructions of the gateway go to the user where the model has no place for instructions', () => {
  const { body } = encodeChat(
    { messages: HISTORY, tools: [tool('gone')], tool_choice: 'none' },
    model({ refusesSystem: true, besideResults: [] }),
  );
  assert.equal(body['system'], undefined);
  assert.deepEqual((body['messages'] as readonly JsonObject[])[0], {
    role: 'user',
    content: [{ text: 'Do not call any tool in this response.' }, { text: 'go' }],
  });
});

test('schemas bind the calls of models that can be bound', () => {
  const strict = tool('f', { strict: true });
  const bound = encodeChat({ messages: [GO], tools: [strict] }, CLAUDE);
  const closed = { json: { ...SCHEMA, additionalProperties: false } };
  assert.deepEqual(toolConfigOf(bound), { tools: [spec('f', { strict: true, inputSchema: closed })] });
  assert.deepEqual(bound.warned, []);
  const count = { type: 'object', properties: { n: { type: 'integer', minimum: 1 } }, additionalProperties: false };
  const loose = encodeChat({ messages: [GO], tools: [tool('f', { strict: true, parameters: count })] }, CLAUDE);
  assert.ok(!JSON.stringify(loose.body).includes('minimum'));
  assert.deepEqual(loose.warned, ['field-changed tools[0].function.strict']);
  const free = encodeChat({ messages: [GO], tools: [strict] });
  assert.deepEqual(toolConfigOf(free), { tools: [spec('f')] });
  assert.deepEqual(free.warned, ['field-dropped tools[0].function.strict']);
});

test('tools of other vendors, and those of the gateway, are left out with a warning', () => {
  const { body, warned } = encodeMessages({
    messages: [GO],
    tools: [
      { type: 'web_search_20250305', name: 'web_search' },
      { name: 'f', description: 'does', input_schema: SCHEMA },
    ],
  });
  assert.deepEqual(body['toolConfig'], { tools: [spec('f')] });
  assert.deepEqual(warned, ['field-dropped tools[0]']);
});

test('sends no tools to a model without tools, with a warning', () => {
  const { body, warned } = encodeChat({ messages: [GO], tools: [tool('f')] }, model({ refusesTools: true }));
  assert.equal(body['toolConfig'], undefined);
  assert.deepEqual(warned, ['field-dropped tools']);
  const unlisted = encodeChat({ messages: [GO], tools: [tool('f')] }, CLAUDE, { supportedParameters: new Set() });
  assert.deepEqual([toolConfigOf(unlisted), unlisted.warned], [null, ['field-dropped tools']]);
});

test('calls in the conversation make a model that takes no tools unfit: stubs would be tools, too', () => {
  const requested = { messages: [...HISTORY, GO] };
  assert.throws(() => encodeChat(requested, model({ refusesTools: true })), /: messages\[\d\].*is about a tool/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../../lib/json.ts';
import { decodeChatText } from '../../../../tests/support/wire/chat/request.ts';
import { encodeRequest } from './request.ts';
import {
  CLAUDE,
  encodeChat,
  encodeMessages,
  model,
  refusalOf,
} from '../../../../tests/support/wire/converse/request.ts';
import { textOf } from '../../json-fields.ts';

const PNG = 'iVBORw0KGgo=';
const PDF = 'data:application/pdf;base64,JVBERi0=';

function call(id: string, args = '{}', name = 'f'): JsonObject {
  return { id, type: 'function', function: { name, arguments: args } };
}
function assistant(...calls: readonly JsonObject[]): JsonObject {
  return { role: 'assistant', content: null, tool_calls: calls };
}
function result(id: string, content: Json): JsonObject {
  return { role: 'tool', tool_call_id: id, content };
}
const GO: JsonObject = { role: 'user', content: 'go' };

function messagesOf(body: JsonObject): readonly { role: string; content: readonly JsonObject[] }[] {
  return body['messages'] as never;
}

test('instructions stand apart, each in a block of its own', () => {
  const { body, warned } = encodeChat({
    messages: [
      { role: 'system', content: 'be brief' },
      { role: 'developer', content: [{ type: 'text', text: 'be kind' }], name: 'boss' },
      { role: 'user', content: 'hi', name: 'Ann' },
      { role: 'system', content: 'now in French' },
    ],
  });
  assert.deepEqual(body, {
    system: [{ text: 'be brief' }, { text: 'boss: be kind' }],
    messages: [{ role: 'user', content: [{ text: 'Ann: hi' }, { text: 'now in French' }] }],
  });
  assert.deepEqual(warned, []);
});

test('instructions go to the user where the model has no place for them, or where there is nothing else', () => {
  const messages = [{ role: 'system', content: 'be brief' }, GO];
  const unplaced = encodeChat({ messages }, model({ refusesSystem: true }));
  assert.deepEqual(unplaced.body, { messages: [{ role: 'user', content: [{ text: 'be brief' }, { text: 'go' }] }] });
  assert.deepEqual(unplaced.warned, ['field-changed messages[0].content']);
  const alone = encodeChat({ messages: messages.slice(0, 1) });
  assert.deepEqual(alone.body, { messages: [{ role: 'user', content: [{ text: 'be brief' }] }] });
});

test('does not send the line by which a terminal agent marks its requests', () => {
  const { body, warned } = encodeMessages({
    system: [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=1; cch=abc;' },
      { type: 'text', text: 'you are an agent', cache_control: { type: 'ephemeral' } },
    ],
    messages: [GO],
  });
  assert.deepEqual(body['system'], [{ text: 'you are an agent' }, { cachePoint: { type: 'default' } }]);
  assert.deepEqual(warned, ['content-dropped system[0]']);
});

// @spec translate-3
test('messages of one role become one', () => {
  const { body } = encodeChat({
    messages: [
      GO,
      { role: 'user', content: 'on' },
      { role: 'assistant', content: 'a' },
      { role: 'assistant', content: 'b' },
      GO,
    ],
  });
  assert.deepEqual(body['messages'], [
    { role: 'user', content: [{ text: 'go' }, { text: 'on' }] },
    { role: 'assistant', content: [{ text: 'a' }, { text: 'b' }] },
    { role: 'user', content: [{ text: 'go' }] },
  ]);
});

test('begins a conversation with the user, unless the model takes another beginning', () => {
  const messages = [{ role: 'assistant', content: 'hello' }, GO];
  const strict = encodeChat({ messages });
  assert.deepEqual(messagesOf(strict.body)[0], { role: 'user', content: [{ text: '.' }] });
  assert.deepEqual(strict.warned, ['field-changed messages[0].content']);
  assert.equal(messagesOf(encodeChat({ messages }, CLAUDE).body)[0]?.role, 'assistant');
});

test('trims the white space at the end of the beginning of a response', () => {
  const { body } = encodeChat({ messages: [GO, { role: 'assistant', content: 'It is: \n' }] });
  assert.deepEqual(messagesOf(body)[1]?.content, [{ text: 'It is:' }]);
});

test('text without a visible character is left out, and a message of nothing else with it', () => {
  const { body, warned } = encodeChat({
    messages: [GO, { role: 'assistant', content: ' \n' }, { role: 'user', content: [{ type: 'text', text: '' }] }, GO],
  });
  assert.deepEqual(body['messages'], [{ role: 'user', content: [{ text: 'go' }, { text: 'go' }] }]);
  assert.deepEqual(warned, [
    'content-dropped messages[1].content',
    'content-dropped messages[1]',
    'content-dropped messages[2].content[0]',
    'content-dropped messages[2]',
  ]);
});

test('refuses a request of which nothing can be sent', () => {
  assert.equal(refusalOf(() => encodeChat({ messages: [{ role: 'user', content: ' ' }] })).status, 400);
});

test('calls and their results pair up: in the order of the calls, before anything else', () => {
  const { body, warned } = encodeChat({
    messages: [
      GO,
      { ...assistant(call('a', '{"n":1.0,"id":12345678901234567890}'), call('b', 'not json')), content: 'calling' },
      result('b', 'second'),
      result('a', 'first'),
      { role: 'user', content: 'and?' },
    ],
  });
  const text = JSON.stringify(body['messages']);
  assert.ok(text.includes('"input":{"_raw":"not json"}'));
  assert.deepEqual(
    messagesOf(body).map(({ role }) => role),
    ['user', 'assistant', 'user'],
  );
  assert.deepEqual(messagesOf(body)[2]?.content, [
    { toolResult: { toolUseId: 'a', content: [{ text: 'first' }] } },
    { toolResult: { toolUseId: 'b', content: [{ text: 'second' }] } },
    { text: 'and?' },
  ]);
  assert.deepEqual(warned, []);
});

test('numbers in arguments are sent as they were written', () => {
  const request =
    '{"messages":[{"role":"user","content":"go"},{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\\"n\\":1.0,\\"id\\":12345678901234567890}"}}]},{"role":"tool","tool_call_id":"a","content":"ok"}]}';
  const target = { model: 'm', endUserId: 'h', dialect: {} };
  const body = JSON.stringify(encodeRequest(decodeChatText(request), target).body);
  assert.ok(body.includes('"input":{"n":1.0,"id":12345678901234567890}'), body);
});

test('moves a late result to its call, takes the last of two, and adds an error for a missing one', () => {
  const { body, warned } = encodeChat({
    messages: [
      GO,
      assistant(call('a'), call('b')),
      result('a', 'old'),
      result('a', 'new'),
      GO,
      result('b', 'late'),
      assistant(call('c')),
    ],
  });
  assert.deepEqual(messagesOf(body)[2]?.content, [
    { toolResult: { toolUseId: 'a', content: [{ text: 'new' }] } },
    { toolResult: { toolUseId: 'b', content: [{ text: 'late' }] } },
    { text: 'go' },
  ]);
  assert.deepEqual(messagesOf(body)[4], {
    role: 'user',
    content: [
      {
        toolResult: { toolUseId: 'c', content: [{ text: 'No result was given for this tool call.' }], status: 'error' },
      },
    ],
  });
  assert.deepEqual(warned, ['content-dropped messages[2]', 'field-changed messages[6].tool_calls[0]']);
});

test('warns that a result far from its call was moved', () => {
  const { body, warned } = encodeChat({
    messages: [
      GO,
      assistant(call('a')),
      { role: 'assistant', content: 'hm' },
      GO,
      { role: 'assistant', content: 'well' },
      result('a', 'late'),
    ],
  });
  assert.deepEqual(messagesOf(body)[2]?.content[0], { toolResult: { toolUseId: 'a', content: [{ text: 'late' }] } });
  assert.deepEqual(warned, ['field-changed messages[5]']);
});

test('refuses a result without a call', () => {
  const error = refusalOf(() => encodeChat({ messages: [GO, result('ghost', 'boo'), GO] }));
  assert.equal(error.issues?.[0]?.path, 'messages[1].tool_call_id');
  assert.equal(error.type, 'invalid_prompt');
});

test('ids that the format refuses, or that come twice, are mapped, the same way every time', () => {
  const messages = [
    GO,
    assistant(call('get_weather:0')),
    result('get_weather:0', '1'),
    assistant(call('x'.repeat(80)), call('ok')),
    result('x'.repeat(80), '2'),
    result('ok', '3'),
    assistant(call('ok')),
    result('ok', '4'),
  ];
  const { body } = encodeChat({ messages });
  const results = messagesOf(body)
    .flatMap(({ content }) => content)
    .flatMap((block) => block['toolResult'] ?? []);
  const ids = results.map((block) => (block as JsonObject)['toolUseId']);
  assert.equal(new Set(ids).size, 4);
  for (const id of ids) assert.match(textOf(id) ?? '', /^[a-zA-Z0-9_-]{1,64}$/);
  assert.equal(ids[2], 'ok');
  assert.deepEqual(
    results.map((block) => (block as JsonObject)['content']),
    [1, 2, 3, 4].map((n) => [{ text: String(n) }]),
  );
  assert.deepEqual(encodeChat({ messages: messages.slice(0, 3) }).body['messages'], messagesOf(body).slice(0, 3));
});

test('sends ids of nine letters and digits to models that demand them', () => {
  const messages = [GO, assistant(call('a'), call('abcdefgh1')), result('a', '1'), result('abcdefgh1', '2')];
  const [, calls, results] = messagesOf(encodeChat({ messages }, model({ shortToolIds: true })).body);
  const ids = calls?.content.map((block) => (block['toolUse'] as JsonObject)['toolUseId']);
  assert.match(textOf(ids?.[0]) ?? '', /^[a-z0-9]{9}$/);
  assert.equal(ids?.[1], 'abcdefgh1');
  assert.deepEqual(
    results?.content.map((block) => (block['toolResult'] as JsonObject)['toolUseId']),
    ids,
  );
});

test('marks a failed result, and adds a text to an empty one', () => {
  const messages: Json = [
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: [
        { type: 'tool_use', id: 'a', name: 'f', input: {} },
        { type: 'tool_use', id: 'b', name: 'f', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: 'broke', is_error: true },
        { type: 'tool_result', tool_use_id: 'b' },
      ],
    },
  ];
  assert.deepEqual(messagesOf(encodeMessages({ messages }).body)[2]?.content, [
    { toolResult: { toolUseId: 'a', content: [{ text: 'broke' }], status: 'error' } },
    { toolResult: { toolUseId: 'b', content: [{ text: '(no output)' }] } },
  ]);
  const without = encodeMessages({ messages }, model({ refusesResultStatus: true }));
  assert.deepEqual(messagesOf(without.body)[2]?.content[0], {
    toolResult: { toolUseId: 'a', content: [{ text: 'broke' }] },
  });
  assert.deepEqual(without.warned, ['field-dropped messages[2].content[0].is_error']);
});

test('files that a model does not read in a result follow it, in a message of their own where it must be', () => {
  const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } };
  const messages = [GO, assistant(call('a'), call('b')), result('a', [picture]), result('b', 'ok'), GO];
  const image = { image: { format: 'png', source: { bytes: PNG } } };
  const inside = encodeChat({ messages }, CLAUDE);
  assert.deepEqual(messagesOf(inside.body)[2]?.content[0], { toolResult: { toolUseId: 'a', content: [image] } });
  const after = encodeChat({ messages }, model({ mediaInResults: [] }));
  assert.deepEqual(messagesOf(after.body)[2]?.content, [
    { toolResult: { toolUseId: 'a', content: [{ text: '(the file follows)' }] } },
    { toolResult: { toolUseId: 'b', content: [{ text: 'ok' }] } },
    image,
    { text: 'go' },
  ]);
  const apart = encodeChat({ messages }, model({ mediaInResults: [], besideResults: [] }));
  assert.deepEqual(
    messagesOf(apart.body)
      .slice(2)
      .map(({ role, content }) => [role, content.length]),
    [
      ['user', 2],
      ['assistant', 1],
      ['user', 2],
    ],
  );
  assert.deepEqual(messagesOf(apart.body)[3]?.content, [{ text: '.' }]);
  assert.deepEqual(apart.warned, ['field-changed messages[2]']);
});

test('puts text and images beside results for a Claude, and documents behind them', () => {
  const text = { type: 'text', text: 'see' };
  const file = { type: 'file', file: { file_data: PDF, filename: 'a.pdf' } };
  const history = [GO, assistant(call('a')), result('a', 'ok')];
  const with1 = encodeChat({ messages: [...history, { role: 'user', content: [text] }] }, CLAUDE);
  assert.equal(messagesOf(with1.body).length, 3);
  const with2 = encodeChat({ messages: [...history, { role: 'user', content: [text, file] }] }, CLAUDE);
  assert.deepEqual(
    messagesOf(with2.body).map(({ role }) => role),
    ['user', 'assistant', 'user', 'assistant', 'user'],
  );
  assert.deepEqual(Object.keys(messagesOf(with2.body)[4]?.content[1] ?? {}), ['document']);
});

test('calls that other providers ran, and what only other formats know, are left out with a warning', () => {
  const { body, warned } = encodeMessages({
    messages: [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: [
          { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} },
          { type: 'web_search_tool_result', tool_use_id: 's1', content: [] },
          { type: 'text', text: 'found' },
        ],
      },
      {
        role: 'user',
        content: [{ type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: 'c' }] }],
      },
    ],
  });
  assert.deepEqual(messagesOf(body)[1]?.content, [{ text: 'found' }]);
  assert.deepEqual(messagesOf(body)[2]?.content, [
    { text: '<search_result title="t" source="s">\nc\n</search_result>' },
  ]);
  assert.deepEqual(warned, ['content-dropped messages[1].content[0]', 'content-dropped messages[1].content[1]']);
});

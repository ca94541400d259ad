import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../../lib/json.ts';
import { CLAUDE, encodeChat, encodeMessages, model } from '../../../../tests/support/wire/converse/request.ts';
import type { Encoded } from '../../../../tests/support/wire/converse/request.ts';

const MARK: JsonObject = { cache_control: { type: 'ephemeral' } };
const HOUR: JsonObject = { cache_control: { type: 'ephemeral', ttl: '1h' } };
const POINT: JsonObject = { cachePoint: { type: 'default' } };
const POINT_1H: JsonObject = { cachePoint: { type: 'default', ttl: '1h' } };
const NOVA = model({ cachePoints: 'apart-from-tools' });

function text(words: string, mark: JsonObject = {}): JsonObject {
  return { type: 'text', text: words, ...mark };
}
function user(...content: readonly JsonObject[]): JsonObject {
  return { role: 'user', content };
}
function assistant(...content: readonly JsonObject[]): JsonObject {
  return { role: 'assistant', content };
}
const CALL: JsonObject = { type: 'tool_use', id: 'a', name: 'f', input: {} };
function tool(name: string, mark: JsonObject = {}): JsonObject {
  return { name, input_schema: { type: 'object' }, ...mark };
}
function contents({ body }: Encoded): readonly Json[] {
  return (body['messages'] as readonly JsonObject[]).map(({ content }) => content ?? null);
}
function kinds(list: Json | undefined): readonly string[] {
  return (list as readonly JsonObject[]).map((entry) => Object.keys(entry)[0] ?? '');
}

// @spec prompt-cache-4
test('puts a cache point behind each marked block, in tools, instructions and messages', () => {
  const { body, warned } = encodeMessages({
    tools: [tool('f', HOUR), tool('g')],
    system: [text('be brief', MARK)],
    messages: [
      user(text('go')),
      assistant(CALL),
      user({ type: 'tool_result', tool_use_id: 'a', content: 'ok', ...MARK }, text('on', HOUR), text('and on')),
    ],
  });
  assert.deepEqual(kinds((body['toolConfig'] as JsonObject)['tools']), ['toolSpec', 'cachePoint', 'toolSpec']);
  assert.deepEqual((body['toolConfig'] as { tools: Json[] }).tools[1], POINT_1H);
  assert.deepEqual(body['system'], [{ text: 'be brief' }, POINT]);
  assert.deepEqual(contents({ body } as Encoded)[2], [
    { toolResult: { toolUseId: 'a', content: [{ text: 'ok' }] } },
    POINT,
    { text: 'on' },
    POINT_1H,
    { text: 'and on' },
  ]);
  assert.deepEqual(warned, []);
});

test('makes cache points of a chat breakpoint and of the one on the whole request', () => {
  const messages = [
    { role: 'system', content: [text('be brief', MARK)] },
    { role: 'user', content: 'go' },
    { role: 'assistant', content: 'ok' },
    { role: 'user', content: [text('on'), text('and on')] },
    { role: 'assistant', content: 'It' },
  ];
  const { body, warned } = encodeChat({ messages, ...HOUR }, CLAUDE);
  assert.deepEqual(body['system'], [{ text: 'be brief' }, POINT]);
  assert.deepEqual(contents({ body } as Encoded)[2], [{ text: 'on' }, { text: 'and on' }, POINT_1H]);
  assert.deepEqual(warned, []);
});

test('drops a longer lifetime with a warning where the model has none', () => {
  const old = model({ cachePoints: 'everywhere' });
  const { body, warned } = encodeMessages(
    { system: [text('be brief', HOUR)], messages: [user(text('go'))], ...HOUR },
    old,
  );
  assert.deepEqual(body['system'], [{ text: 'be brief' }, POINT]);
  assert.deepEqual(warned.toSorted(), ['field-dropped cache_control.ttl', 'field-dropped system[0].cache_control.ttl']);
});

test('sends only the last four cache points', () => {
  const marked = (at: number): JsonObject => text(`part ${at}`, MARK);
  const { body, warned } = encodeMessages({
    system: [marked(0)],
    messages: [user(...[1, 2, 3, 4, 5].map(marked))],
  });
  assert.deepEqual(body['system'], [{ text: 'part 0' }]);
  assert.deepEqual(kinds(contents({ body } as Encoded)[0]), [
    'text',
    ...Array.from({ length: 4 }, () => ['text', 'cachePoint']).flat(),
  ]);
  assert.deepEqual(warned, [
    'field-dropped system[0].cache_control',
    'field-dropped messages[0].content[0].cache_control',
  ]);
});

test('moves a cache point before blocks that it may not follow, and drops it where nothing is left', () => {
  const file: JsonObject = {
    type: 'document',
    source: { type: 'text', media_type: 'text/plain', data: 'x' },
    ...MARK,
  };
  const pdf: JsonObject = {
    type: 'document',
    source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
    ...MARK,
  };
  const moved = encodeMessages({ messages: [user(text('go'), file)] });
  assert.deepEqual(kinds(contents(moved)[0]), ['text', 'cachePoint', 'document']);
  const behind = encodeMessages({ messages: [user(text('go'), pdf)] });
  assert.deepEqual(kinds(contents(behind)[0]), ['text', 'document', 'cachePoint']);
  const first = encodeMessages({ messages: [user(file, text('go'))] });
  assert.deepEqual(kinds(contents(first)[0]), ['document', 'text']);
  assert.deepEqual(first.warned, ['field-dropped messages[0].content[0].cache_control']);
});

test('makes one cache point of two breakpoints in one place, the later of them', () => {
  const { body } = encodeMessages({
    messages: [
      user(text('go')),
      assistant(CALL),
      user({ type: 'tool_result', tool_use_id: 'a', content: [text('1', MARK), text('2', HOUR)] }),
    ],
  });
  assert.deepEqual(kinds(contents({ body } as Encoded)[2]), ['toolResult', 'cachePoint']);
  assert.deepEqual((contents({ body } as Encoded)[2] as Json[])[1], POINT_1H);
});

test('sends no cache points among tools or beside calls to models that refuse them', () => {
  const { body, warned } = encodeMessages(
    {
      tools: [tool('f', MARK)],
      system: [text('be brief', MARK)],
      messages: [
        user(text('go', MARK)),
        assistant(CALL),
        user({ type: 'tool_result', tool_use_id: 'a', content: 'ok', ...MARK }),
      ],
    },
    NOVA,
  );
  assert.deepEqual(kinds((body['toolConfig'] as JsonObject)['tools']), ['toolSpec']);
  assert.deepEqual(body['system'], [{ text: 'be brief' }, POINT]);
  assert.deepEqual(contents({ body } as Encoded).map(kinds), [['text', 'cachePoint'], ['toolUse'], ['toolResult']]);
  assert.deepEqual(warned, [
    'field-dropped tools[0].cache_control',
    'field-dropped messages[2].content[0].cache_control',
  ]);
});

test('sends no cache points to a model without a cache, and warns once for each mark', () => {
  const { body, warned } = encodeMessages(
    { system: [text('be brief', MARK)], messages: [user(text('go'))], ...MARK },
    model({}),
  );
  assert.ok(!JSON.stringify(body).includes('cachePoint'));
  assert.equal(warned.length, 2, warned.join());
});

test('begins a longer conversation with the bytes of the shorter one', () => {
  const history = [
    user(text('go')),
    assistant(CALL),
    user({ type: 'tool_result', tool_use_id: 'a', content: 'ok' }),
    assistant(text('done')),
    user(
      text('see'),
      { type: 'document', title: 'a', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } },
      text('well'),
    ),
    assistant(text('seen')),
    user(
      text('and'),
      { type: 'document', title: 'a', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } },
      text('well'),
    ),
  ];
  const common = { system: [text('be brief', MARK)], tools: [tool('f', MARK)] };
  const encoded = [3, 5, 7].map((length) =>
    JSON.stringify(encodeMessages({ ...common, messages: history.slice(0, length) }).body),
  );
  for (const [at, shorter] of encoded.slice(0, -1).entries())
    assert.ok(encoded[at + 1]?.startsWith(shorter.slice(0, -']}'.length)), shorter);
});

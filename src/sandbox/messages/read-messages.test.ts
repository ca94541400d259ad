import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Json, JsonObject } from '../../lib/json.ts';
import { readMessages } from './read-messages.ts';
import { Refusal } from '../refusal.ts';
import { signThinking } from '../signature.ts';

const USER = { role: 'user', content: 'hi' };
const TOOL = { name: 'get', input_schema: { type: 'object' } };
const CALL = { type: 'tool_use', id: 'toolu_1', name: 'get', input: {} };
const CALLING = { role: 'assistant', content: [CALL] };
const RESULT = { type: 'tool_result', tool_use_id: 'toolu_1', content: '1' };
const THINKING = { type: 'thinking', thinking: 'hm', signature: signThinking('hm') };
const MARK = { type: 'ephemeral' };

function read(members: JsonObject, isStrict = false): ReturnType<typeof readMessages> {
  return readMessages({ model: 'echo', max_tokens: 2_000, messages: [USER], ...members }, { isStrict, isCount: false });
}

function refusal(members: JsonObject, isStrict = false): Refusal {
  try {
    read(members, isStrict);
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error));
    return error;
  }
  return assert.fail('the request was not refused');
}

const states = (...content: readonly Json[]): JsonObject => ({ messages: [{ role: 'user', content }] });
const text = (words: string, more: JsonObject = {}): JsonObject => ({ type: 'text', text: words, ...more });

test('names blocks without text in an echo', () => {
  const png = { type: 'base64', media_type: 'image/png', data: Buffer.alloc(123).toString('base64') };
  const pdf = { type: 'base64', media_type: 'application/pdf', data: Buffer.alloc(5).toString('base64') };
  const prompt = read(
    states(
      text('look'),
      { type: 'image', source: png },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
      { type: 'document', source: pdf, title: 'A' },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'wörd' } },
      { type: 'document', source: { type: 'content', content: [text('a'), text('b')] } },
      { type: 'document', source: { type: 'file', file_id: 'file_1' } },
      { type: 'search_result', source: 'https://example.com', title: 'T', content: [text('found')] },
    ),
  );
  assert.equal(
    prompt.userText,
    [
      'look',
      '[image image/png 123 bytes]',
      '[image https://example.com/a.png]',
      '[document application/pdf 5 bytes]',
      '[document text/plain 5 bytes]',
      '[document of 2 blocks]',
      '[document file_1]',
      '[search_result https://example.com]',
    ].join('\n'),
  );
});

test('finds the names of the calls for results that end the conversation', () => {
  const other = { ...CALL, id: 'toolu_2', name: 'put' };
  const messages = [
    USER,
    { role: 'assistant', content: [text('wait'), CALL, other] },
    {
      role: 'user',
      content: [{ ...RESULT, tool_use_id: 'toolu_2', content: [text('two')], is_error: true }, RESULT, text('and?')],
    },
  ];
  assert.deepEqual(read({ messages }).toolResults, [
    { name: 'put', text: 'two' },
    { name: 'get', text: '1' },
  ]);
});

test('joins two messages of one role unless it is strict', () => {
  const messages = [USER, { role: 'user', content: 'there' }];
  assert.equal(read({ messages }).userText, 'hi\nthere');
  assert.match(refusal({ messages }, true).message, /roles must alternate.*multiple "user" roles/);
});

test("accepts the vendor's own blocks and tools", () => {
  const messages = [
    USER,
    {
      role: 'assistant',
      content: [{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }, text('x')],
    },
    USER,
    { role: 'system', content: 'now in German' },
  ];
  const tools = [
    { type: 'web_search_20250305', name: 'web_search', max_uses: 1 },
    { type: 'custom', ...TOOL },
  ];
  const prompt = read({ messages, tools, context_management: { edits: [] }, container: 'c' }, true);
  assert.deepEqual(prompt.functions, [{ name: 'get', schema: { type: 'object' } }]);
});

test('restores thinking that the sandbox signed, also with its text omitted', () => {
  for (const thinking of [THINKING, { ...THINKING, thinking: '' }])
    assert.equal(
      read({ messages: [USER, { role: 'assistant', content: [thinking, text('x')] }, USER] }).userText,
      'hi',
    );
});

test('turns thinking on, off or leaves the default', () => {
  assert.deepEqual(read({}).thinking, { requested: 'default', isHidden: false });
  assert.deepEqual(read({ thinking: { type: 'disabled' } }).thinking, { requested: 'off', isHidden: false });
  assert.deepEqual(read({ thinking: { type: 'adaptive', display: 'omitted' } }).thinking, {
    requested: 'on',
    isHidden: true,
  });
  assert.deepEqual(read({ thinking: { type: 'enabled', budget_tokens: 1_024 } }).thinking, {
    requested: 'on',
    isHidden: false,
  });
});

test('marks stand on tools, instructions, blocks and the request', () => {
  const prompt = read({
    tools: [{ ...TOOL, cache_control: { type: 'ephemeral', ttl: '1h' } }],
    system: [text('be brief', { cache_control: { type: 'ephemeral', ttl: '1h' } })],
    ...states(text('a', { cache_control: MARK }), text('b')),
    cache_control: MARK,
  });
  assert.deepEqual(
    prompt.segments.map(({ cache }) => cache),
    ['1h', '1h', '5m', '5m'],
  );
});

for (const [name, members, words] of [
  ['no limit', { max_tokens: undefined }, /^max_tokens: Field required/],
  ['a limit of 0', { max_tokens: 0 }, /^max_tokens: Input should be greater/],
  ['no model', { model: undefined }, /^model: Field required/],
  ['no messages', { messages: undefined }, /^messages: Field required/],
  ['an empty conversation', { messages: [] }, /^messages: at least one message/],
  ['an unknown role', { messages: [{ role: 'tool', content: 'x' }] }, /^messages\.0\.role: Input should be/],
  [
    'an assistant first',
    { messages: [{ role: 'assistant', content: 'x' }, USER] },
    /first message must use the "user" role/,
  ],
  ['a message without content', { messages: [{ role: 'user', content: '' }] }, /non-empty content/],
  [
    'an assistant without content in between',
    { messages: [USER, { role: 'assistant', content: [] }, USER] },
    /messages\.1: all messages must have non-empty/,
  ],
  ['an empty text block', states(text('')), /text content blocks must be non-empty/],
  ['a text block of white space', states(text(' \n')), /non-whitespace/],
  ['a mark on nothing', states(text('', { cache_control: MARK })), /cannot be set for empty text blocks/],
  ['an unknown block', states({ type: 'smell' }), /^messages\.0\.content\.0: Input tag 'smell'/],
  [
    'an unknown image type',
    states({ type: 'image', source: { type: 'base64', media_type: 'image/tiff', data: 'AAAA' } }),
    /image\/jpeg/,
  ],
  [
    'image data that is no base64',
    states({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'data:x' } }),
    /valid base64/,
  ],
  [
    'an image URL that is none',
    states({ type: 'image', source: { type: 'url', url: 'data:image/png;base64,AAAA' } }),
    /http or https/,
  ],
  [
    'a document of another type',
    states({ type: 'document', source: { type: 'base64', media_type: 'text/html', data: 'AAAA' } }),
    /application\/pdf/,
  ],
  [
    'a prefill that ends in white space',
    { messages: [USER, { role: 'assistant', content: 'So ' }] },
    /trailing whitespace/,
  ],
  ['a call without a result', { messages: [USER, CALLING] }, /without `tool_result` blocks immediately after: toolu_1/],
  [
    'a call whose result comes too late',
    { messages: [USER, CALLING, USER, { role: 'user', content: [RESULT] }] },
    /immediately after: toolu_1/,
  ],
  [
    'a result behind a text',
    { messages: [USER, CALLING, { role: 'user', content: [text('x'), RESULT] }] },
    /immediately after: toolu_1/,
  ],
  ['a result without a call', { messages: [{ role: 'user', content: [RESULT] }] }, /unexpected `tool_use_id`.*toolu_1/],
  [
    'two results of one call',
    { messages: [USER, CALLING, { role: 'user', content: [RESULT, RESULT] }] },
    /unexpected `tool_use_id`/,
  ],
  ['a call of a user', { messages: [{ role: 'user', content: [CALL] }] }, /can only be in `assistant`/],
  [
    'one id for two calls',
    { messages: [USER, CALLING, { role: 'user', content: [RESULT] }, CALLING, { role: 'user', content: [RESULT] }] },
    /ids must be unique/,
  ],
  [
    'an id with a dot',
    { messages: [USER, { role: 'assistant', content: [{ ...CALL, id: 'a.b' }] }] },
    /tool_use\.id: String should match/,
  ],
  [
    'input that is a text',
    { messages: [USER, { role: 'assistant', content: [{ ...CALL, input: '{}' }] }] },
    /input: Input should be a valid dictionary/,
  ],
  [
    'a damaged signature',
    { messages: [USER, { role: 'assistant', content: [{ ...THINKING, signature: 'abcd' }] }] },
    /^messages\.1\.content\.0: Invalid `signature` in `thinking` block/,
  ],
  [
    'changed thinking',
    { messages: [USER, { role: 'assistant', content: [{ ...THINKING, thinking: 'ho' }] }] },
    /Invalid `signature`/,
  ],
  [
    'thinking without a signature',
    { messages: [USER, { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm' }] }] },
    /signature: Field required/,
  ],
  [
    'a call without its thinking while thinking is on',
    {
      thinking: { type: 'enabled', budget_tokens: 1_024 },
      messages: [USER, CALLING, { role: 'user', content: [RESULT] }],
    },
    /Expected `thinking` or `redacted_thinking`, but found `tool_use`/,
  ],
  ['a small budget', { thinking: { type: 'enabled', budget_tokens: 1_023 } }, /budget_tokens: Input should be greater/],
  [
    'a budget as large as the limit',
    { thinking: { type: 'enabled', budget_tokens: 2_000 } },
    /must be greater than `thinking.budget_tokens`/,
  ],
  [
    'thinking and a forced tool',
    { thinking: { type: 'adaptive' }, tools: [TOOL], tool_choice: { type: 'any' } },
    /forces tool use/,
  ],
  ['thinking and a temperature', { thinking: { type: 'adaptive' }, temperature: 0.5 }, /may only be set to 1/],
  ['too hot', { temperature: 1.1 }, /^temperature: Input should be less/],
  ['a stop sequence of white space', { stop_sequences: ['\n'] }, /non-whitespace/],
  ['strange metadata', { metadata: { trace: 'x' } }, /^metadata\.trace: Extra inputs/],
  ['a tool without a schema', { tools: [{ name: 'get' }] }, /^tools\.0\.custom\.input_schema: Field required/],
  ['a schema without a type', { tools: [{ name: 'get', input_schema: {} }] }, /input_schema\.type: Field required/],
  ['a bad tool name', { tools: [{ ...TOOL, name: 'a.b' }] }, /^tools\.0\.custom\.name: String should match/],
  ['two tools of one name', { tools: [TOOL, TOOL] }, /names must be unique/],
  ['a choice without tools', { tool_choice: { type: 'auto' } }, /only be specified while providing tools/],
  ['an unknown tool', { tools: [TOOL], tool_choice: { type: 'tool', name: 'x' } }, /'x' not found/],
  ['an unknown format', { output_config: { format: { type: 'json_object' } } }, /^output_config\.format\.type/],
  [
    'five marks',
    states(...['a', 'b', 'c', 'd', 'e'].map((word) => text(word, { cache_control: MARK }))),
    /maximum of 4 blocks.*Found 5/,
  ],
  [
    'a long mark behind a short one',
    states(text('a', { cache_control: MARK }), text('b', { cache_control: { type: 'ephemeral', ttl: '1h' } })),
    /must not come after/,
  ],
  [
    'instructions that are no text',
    { system: [{ type: 'image', source: { type: 'url', url: 'https://a.b' } }] },
    /^system\.0\.type/,
  ],
] as const satisfies readonly (readonly [string, JsonObject, RegExp])[]) {
  test(`answers 400 for ${name}`, () => {
    const { status, message } = refusal(members);
    assert.equal(status, 400);
    assert.match(message, words);
  });
}

test('answers 404 for an unknown model', () => {
  const { status, message } = refusal({ model: 'claude-x' });
  assert.deepEqual([status, message], [404, 'model: claude-x']);
});

test('counts tokens without a limit', () => {
  const prompt = readMessages({ model: 'echo', messages: [USER] }, { isStrict: false, isCount: true });
  assert.equal(prompt.userText, 'hi');
});

test('accepts unknown fields unless it is strict', () => {
  assert.equal(read({ provider: {}, plugins: [] }).userText, 'hi');
  assert.equal(refusal({ provider: {} }, true).message, 'provider: Extra inputs are not permitted');
  assert.equal(refusal({ system: null }, true).message, 'system: Input should not be null');
});

test('parses or refuses any JSON object', () => {
  const member = fc.constantFrom(
    'messages',
    'system',
    'tools',
    'tool_choice',
    'stop_sequences',
    'thinking',
    'output_config',
    'cache_control',
    'metadata',
  );
  fc.assert(
    fc.property(fc.dictionary(member, fc.jsonValue({ maxDepth: 4 })), (members) => {
      try {
        read({ ...members });
      } catch (error) {
        assert.ok(error instanceof Refusal, String(error));
      }
    }),
  );
  const type = fc.constantFrom(
    'text',
    'image',
    'document',
    'tool_use',
    'tool_result',
    'thinking',
    'redacted_thinking',
    'search_result',
    'compaction',
  );
  const block = fc.tuple(
    type,
    fc.dictionary(fc.constantFrom('text', 'source', 'content', 'input', 'id', 'name'), fc.jsonValue({ maxDepth: 3 })),
  );
  fc.assert(
    fc.property(fc.array(block, { minLength: 1, maxLength: 3 }), (blocks) => {
      try {
        read(states(...blocks.map(([kind, members]) => ({ ...members, type: kind }))));
      } catch (error) {
        assert.ok(error instanceof Refusal, String(error));
      }
    }),
  );
});

test('combines tens of thousands of turns in a row in linear time', () => {
  const messages = Array.from({ length: 30_000 }, () => USER);
  const startedMs = performance.now();
  read({ messages });
  const ms = performance.now() - startedMs;
  assert.ok(ms < 4_000, `${ms} ms`);
});

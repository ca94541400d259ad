import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { JsonObject } from '../../lib/json.ts';
import { readChat } from './read-chat.ts';
import { Refusal } from '../refusal.ts';

const USER = { role: 'user', content: 'hi' };
const TOOL = { type: 'function', function: { name: 'get', parameters: { type: 'object' } } };
const CALL = { id: 'call_1', type: 'function', function: { name: 'get', arguments: '{}' } };
const CALLING = { role: 'assistant', content: null, tool_calls: [CALL] };

function read(members: JsonObject, isStrict = false): ReturnType<typeof readChat> {
  return readChat({ model: 'echo', messages: [USER], ...members }, isStrict);
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

test('parses a plain request with the defaults of the format', () => {
  const prompt = read({});
  assert.equal(prompt.userText, 'hi');
  assert.equal(prompt.isStream, false);
  assert.equal(prompt.hasStreamUsage, false);
  assert.equal(prompt.mayCallInParallel, true);
  assert.deepEqual(prompt.choice, { type: 'auto' });
  assert.deepEqual(prompt.stop, []);
});

test('names blocks without text in an echo', () => {
  const content = [
    { type: 'text', text: 'look' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${Buffer.alloc(123).toString('base64')}` } },
    { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } },
    { type: 'input_audio', input_audio: { data: Buffer.alloc(10).toString('base64'), format: 'wav' } },
    {
      type: 'file',
      file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${Buffer.alloc(5).toString('base64')}` },
    },
    { type: 'file', file: { file_id: 'file-1' } },
    { type: 'video_url', video_url: { url: 'https://example.com/a.mp4' } },
  ];
  assert.equal(
    read({ messages: [{ role: 'user', content }] }).userText,
    [
      'look',
      '[image image/png 123 bytes]',
      '[image https://example.com/a.png]',
      '[audio wav 10 bytes]',
      '[document application/pdf 5 bytes]',
      '[document file-1]',
      '[video https://example.com/a.mp4]',
    ].join('\n'),
  );
});

test('finds the names of the calls for results that end the conversation', () => {
  const other = { ...CALL, id: 'call_2', function: { name: 'put', arguments: '{}' } };
  const messages = [
    USER,
    { role: 'assistant', content: 'wait', tool_calls: [CALL, other] },
    { role: 'tool', tool_call_id: 'call_2', content: [{ type: 'text', text: 'two' }] },
    { role: 'tool', tool_call_id: 'call_1', content: 'one' },
  ];
  assert.deepEqual(read({ messages }).toolResults, [
    { name: 'put', text: 'two' },
    { name: 'get', text: 'one' },
  ]);
  assert.deepEqual(read({ messages: [...messages, USER] }).toolResults, []);
});

test('keeps a cache mark out of the text that it marks', () => {
  const part = { type: 'text', text: 'a' };
  const marked = { ...part, cache_control: { type: 'ephemeral', ttl: '1h' } };
  const [plain] = read({ messages: [{ role: 'user', content: [part] }] }).segments;
  const [with1h] = read({ messages: [{ role: 'user', content: [marked] }] }).segments;
  assert.equal(plain?.cache, undefined);
  assert.equal(with1h?.cache, '1h');
  assert.equal(with1h?.text, plain?.text);
  const explicit = { ...part, prompt_cache_breakpoint: { mode: 'explicit' } };
  assert.equal(read({ messages: [{ role: 'user', content: [explicit] }] }).segments[0]?.cache, '5m');
  assert.equal(read({ cache_control: { type: 'ephemeral' } }).segments.at(-1)?.cache, '5m');
  assert.equal(read({ tools: [{ ...TOOL, cache_control: { type: 'ephemeral' } }] }).segments[0]?.cache, '5m');
});

for (const [name, members, param, words] of [
  ['no model', { model: null }, 'model', /expected a string, but got null/],
  ['no messages', { messages: null }, 'messages', /expected an array/],
  ['an empty conversation', { messages: [] }, 'messages', /empty array/],
  ['an unknown role', { messages: [{ role: 'robot', content: 'x' }] }, 'messages[0].role', /'robot'/],
  ['no content', { messages: [{ role: 'user' }] }, 'messages[0].content', /got nothing/],
  [
    'content of a user that is null',
    { messages: [{ role: 'user', content: null }] },
    'messages[0].content',
    /got null/,
  ],
  ['content without parts', { messages: [{ role: 'user', content: [] }] }, 'messages[0].content', /empty array/],
  [
    'an unknown part',
    { messages: [{ role: 'user', content: [{ type: 'smell' }] }] },
    'messages[0].content[0].type',
    /'smell'/,
  ],
  [
    'an image in a tool message',
    {
      messages: [
        USER,
        CALLING,
        { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'image_url', image_url: { url: 'https://a.b' } }] },
      ],
    },
    'messages[2].content[0].type',
    /'image_url'/,
  ],
  [
    'an image that is no URL',
    { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'abc' } }] }] },
    'messages[0].content[0].image_url.url',
    /base64 data URL/,
  ],
  ['a call without an answer', { messages: [USER, CALLING] }, 'messages', /did not have response messages: call_1/],
  ['a call that is answered too late', { messages: [USER, CALLING, USER] }, 'messages', /call_1/],
  [
    'an answer without a call',
    { messages: [USER, { role: 'tool', tool_call_id: 'x', content: '1' }] },
    'messages[1].role',
    /must be a response/,
  ],
  [
    'two answers to one call',
    {
      messages: [
        USER,
        CALLING,
        { role: 'tool', tool_call_id: 'call_1', content: '1' },
        { role: 'tool', tool_call_id: 'call_1', content: '2' },
      ],
    },
    'messages[3].role',
    /must be a response/,
  ],
  [
    'an answer without an id',
    { messages: [USER, CALLING, { role: 'tool', content: '1' }] },
    'messages[2].tool_call_id',
    /got nothing/,
  ],
  [
    'arguments that are no text',
    { messages: [USER, { role: 'assistant', tool_calls: [{ ...CALL, function: { name: 'get', arguments: {} } }] }] },
    'messages[1].tool_calls[0].function.arguments',
    /got an object/,
  ],
  [
    'no calls at all',
    { messages: [USER, { role: 'assistant', content: 'x', tool_calls: [] }] },
    'messages[1].tool_calls',
    /empty array/,
  ],
  ['two limits', { max_tokens: 1, max_completion_tokens: 1 }, 'max_tokens', /at the same time/],
  ['a limit of 0', { max_tokens: 0 }, 'max_tokens', /between 1/],
  ['too hot', { temperature: 2.1 }, 'temperature', /between 0 and 2/],
  ['top_logprobs alone', { top_logprobs: 2 }, 'top_logprobs', /only allowed when 'logprobs'/],
  ['five stop sequences', { stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop', /too long/],
  ['two choices', { n: 2 }, 'n', /'n' = 1/],
  [
    'stream options of a whole answer',
    { stream_options: { include_usage: true } },
    'stream_options',
    /only allowed when 'stream'/,
  ],
  ['no tools in a list of tools', { tools: [] }, 'tools', /empty array/],
  ['a tool of another kind', { tools: [{ type: 'magic' }] }, 'tools[0].type', /expected 'function'/],
  [
    'a bad name',
    { tools: [{ type: 'function', function: { name: 'a.b' } }] },
    'tools[0].function.name',
    /does not match pattern/,
  ],
  ['a choice without tools', { tool_choice: 'auto' }, 'tool_choice', /only allowed when 'tools'/],
  ['parallel calls without tools', { parallel_tool_calls: true }, 'parallel_tool_calls', /only allowed when 'tools'/],
  [
    'an unknown function',
    { tools: [TOOL], tool_choice: { type: 'function', function: { name: 'x' } } },
    'tool_choice',
    /'x' not found/,
  ],
  ['an unknown format', { response_format: { type: 'yaml' } }, 'response_format.type', /json_schema/],
  [
    'a schema without a name',
    { response_format: { type: 'json_schema', json_schema: {} } },
    'response_format.json_schema.name',
    /a string/,
  ],
  ['an unknown effort', { reasoning_effort: 'extreme' }, 'reasoning_effort', /xhigh/],
] as const satisfies readonly (readonly [string, JsonObject, string, RegExp])[]) {
  test(`answers 400 for ${name} at ${param}`, () => {
    const { status, message, param: where } = refusal(members);
    assert.equal(status, 400);
    assert.equal(where, param);
    assert.match(message, words);
  });
}

test('answers 404 for an unknown model', () => {
  const { status, code } = refusal({ model: 'gpt-x' });
  assert.deepEqual([status, code], [404, 'model_not_found']);
  for (const model of ['error-200', 'error-600', 'error-99', 'Echo', '__proto__'])
    assert.equal(refusal({ model }).status, 404);
});

test('refuses a prompt over the context length as such', () => {
  const { status, code, message } = refusal({ messages: [{ role: 'user', content: 'a b '.repeat(600_000) }] });
  assert.deepEqual([status, code], [400, 'context_length_exceeded']);
  assert.match(message, /resulted in 1200000 tokens/);
});

test('accepts unknown fields unless it is strict', () => {
  assert.equal(read({ provider: { order: ['x'] }, metadata: null }).userText, 'hi');
  assert.match(refusal({ provider: {} }, true).message, /Unrecognized request argument supplied: provider/);
  assert.match(refusal({ seed: null }, true).message, /'seed'.*got null/);
  assert.equal(read({ seed: 1, top_k: 2, reasoning_effort: 'low', metadata: {} }, true).thinking.requested, 'on');
});

test('parses or refuses any JSON object', () => {
  const member = fc.constantFrom(
    'messages',
    'tools',
    'tool_choice',
    'stop',
    'response_format',
    'stream_options',
    'reasoning',
    'cache_control',
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
  fc.assert(
    fc.property(fc.array(fc.jsonValue({ maxDepth: 4 }), { minLength: 1 }), (messages) => {
      assert.ok(refusal({ messages: [{ role: 'user', content: messages }] }) instanceof Refusal);
    }),
  );
});

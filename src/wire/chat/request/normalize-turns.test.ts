import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../lib/json.ts';
import type { Dialect } from '../../format.ts';
import { decode, target } from '../../../../tests/support/wire/messages/request.ts';
import { encodeRequest } from './request-out.ts';

const MARK = { type: 'ephemeral', ttl: '1h' };

const request = decode({
  messages: [
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'I call.', cache_control: MARK },
        { type: 'tool_use', id: 'a', name: 'f', input: {}, cache_control: MARK },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'done', cache_control: MARK }] },
  ],
});

function encoded(dialect: Dialect): { readonly messages: readonly JsonObject[]; readonly reported: readonly string[] } {
  const { body, warnings } = encodeRequest(request, target(dialect));
  return { messages: body['messages'] as readonly JsonObject[], reported: warnings.map(({ path }) => path) };
}

test('sends a breakpoint on a text or on a tool result where the upstream takes them', () => {
  const { messages, reported } = encoded({ cacheBreakpoints: 'cache_control' });
  assert.deepEqual(messages[1]?.['content'], [{ type: 'text', text: 'I call.', cache_control: MARK }]);
  assert.deepEqual(messages[2]?.['content'], [{ type: 'text', text: 'done', cache_control: MARK }]);
  assert.deepEqual(reported, ['messages[1].content[1].cache_control']);
});

test('keeps texts plain elsewhere, and reports every omitted breakpoint', () => {
  const { messages, reported } = encoded({});
  assert.deepEqual([messages[1]?.['content'], messages[2]?.['content']], ['I call.', 'done']);
  assert.deepEqual(reported, [
    'messages[1].content[0].cache_control',
    'messages[1].content[1].cache_control',
    'messages[2].content[0].cache_control',
  ]);
});

// @spec request-39
test('refuses a conversation of which nothing is left, and adds no text of its own', () => {
  for (const messages of [
    [{ role: 'user', content: [] }],
    [{ role: 'user', content: '' }],
    [{ role: 'assistant', content: [] }],
  ]) {
    const schema = { format: { type: 'json_schema', schema: { type: 'object' } } };
    for (const more of [{}, { output_config: schema }])
      assert.throws(() => encodeRequest(decode({ messages, ...more }), target({ jsonSchema: false })), {
        status: 400,
        message: /^messages: contains nothing/,
      });
  }
});

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ToolCallBlock } from '../../../canonical/blocks.ts';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import type { Turn } from '../../../canonical/request.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { chatRequest, decode, encode, target, user } from '../../../../tests/support/wire/messages/request.ts';

const VENDOR = target({ vendor: true });
const MISSING = { content: 'No result was given for this tool call.', is_error: true };

function calls(...ids: readonly string[]): Turn {
  const blocks = ids.map((id): ToolCallBlock => ({ type: 'tool-call', id, name: 'f', input: '{}', runBy: 'caller' }));
  return { role: 'assistant', blocks };
}

function result(callId: string, text: string): Turn {
  return { role: 'tool', blocks: [{ type: 'tool-result', callId, plain: true, content: [{ type: 'text', text }] }] };
}

function stated(value: string): JsonObject {
  return { type: 'text', text: value };
}

function response(id: string, content: string): JsonObject {
  return { type: 'tool_result', tool_use_id: id, content };
}

/** The contents of the messages that are sent, and the warnings. */
function repair(...turns: readonly Turn[]): {
  readonly contents: readonly unknown[];
  readonly reported: readonly string[];
} {
  const { body, warnings } = encode(chatRequest(turns), VENDOR);
  return {
    contents: (body['messages'] as readonly JsonObject[]).map(({ content }) => content),
    reported: warnings.map(({ code, path }) => `${code} ${path}`),
  };
}

// @spec translate-4
test('adds an error to a call without a result, and takes the last of two results', () => {
  const { contents, reported } = repair(
    user('go'),
    calls('a', 'b'),
    result('a', 'old'),
    result('a', 'new'),
    calls('c'),
  );
  assert.deepEqual(contents[2], [response('a', 'new'), { type: 'tool_result', tool_use_id: 'b', ...MISSING }]);
  assert.deepEqual(contents[4], [{ type: 'tool_result', tool_use_id: 'c', ...MISSING }]);
  assert.deepEqual(reported, [
    'content-dropped messages[2]',
    'field-changed messages[1].tool_calls[1]',
    'field-changed messages[4].tool_calls[0]',
  ]);
});

// @spec translate-4
test('moves a late result to its call, before the turns between them', () => {
  const { contents, reported } = repair(user('go'), calls('a', 'b'), result('b', '2'), user('wait'), result('a', '1'));
  assert.deepEqual(contents, [
    [stated('go')],
    [
      { type: 'tool_use', id: 'a', name: 'f', input: {} },
      { type: 'tool_use', id: 'b', name: 'f', input: {} },
    ],
    [response('a', '1'), response('b', '2'), stated('wait')],
  ]);
  assert.deepEqual(reported, []);
});

test('moves a result that comes after the next assistant message as well, and warns', () => {
  const { contents, reported } = repair(
    user('go'),
    calls('a'),
    { role: 'assistant', blocks: [{ type: 'text', text: 'hm' }] },
    user('and?'),
    { role: 'assistant', blocks: [{ type: 'text', text: 'well' }] },
    result('a', '1'),
    user('so?'),
  );
  assert.deepEqual(contents.slice(2), [[response('a', '1'), stated('and?')], [stated('well')], [stated('so?')]]);
  assert.deepEqual(reported, ['field-changed messages[5]']);
});

test('matches a result to the nearest call before it where several have its id', () => {
  const { contents } = repair(
    user('go'),
    calls('x'),
    result('x', '1'),
    calls('x'),
    user('hm'),
    calls('y'),
    result('x', '2'),
  );
  assert.deepEqual(contents.slice(2), [
    [response('x', '1')],
    [{ type: 'tool_use', id: 'x_1', name: 'f', input: {} }],
    [response('x_1', '2'), stated('hm')],
    [{ type: 'tool_use', id: 'y', name: 'f', input: {} }],
    [{ type: 'tool_result', tool_use_id: 'y', ...MISSING }],
  ]);
});

suite('a result without a call', () => {
  for (const [when, turns, path] of [
    [
      'of an unknown id',
      [user('go'), calls('a'), result('a', '1'), result('ghost', 'boo')],
      'messages[3].tool_call_id',
    ],
    ['that comes before its call', [user('go'), result('a', '1'), calls('a')], 'messages[1].tool_call_id'],
  ] as const)
    test(`${when} is 400 at the very member for a chat caller`, () => {
      assert.throws(
        () => repair(...turns),
        (error) =>
          error instanceof GatewayError &&
          error.status === 400 &&
          error.type === 'invalid_prompt' &&
          error.issues?.[0]?.path === path,
      );
    });

  test('goes on as it stands from a caller of this format: its vendor is to judge', () => {
    const messages = [{ role: 'user', content: [response('ghost', 'boo')] }];
    assert.deepEqual(encode(decode({ messages }), VENDOR).body['messages'], messages);
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../lib/json.ts';
import { encodeStoredStream } from './stored-stream.ts';
import { checkStream, lastResponse } from '../../../../tests/support/wire/responses/stream-checker.ts';

const TEXT = {
  type: 'output_text',
  text: 'Hello',
  annotations: [{ type: 'url_citation', url: 'https://a.example' }],
  logprobs: [],
};
const OUTPUT: readonly JsonObject[] = [
  {
    id: 'rs_1',
    type: 'reasoning',
    status: 'completed',
    summary: [
      { type: 'summary_text', text: 'First.' },
      { type: 'summary_text', text: 'Then.' },
    ],
    encrypted_content: 'sealed',
  },
  {
    id: 'rs_2',
    type: 'reasoning',
    status: 'completed',
    summary: [],
    content: [{ type: 'reasoning_text', text: 'Raw.' }],
  },
  {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [TEXT, { type: 'refusal', refusal: 'No.' }],
  },
  { id: 'fc_1', type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a":1}', status: 'completed' },
  { id: 'ctc_1', type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: 'x\ny', status: 'completed' },
  { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'q' } },
];

function response(parts: JsonObject): JsonObject {
  return {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    error: null,
    instructions: 'x'.repeat(50),
    tools: [],
    ...parts,
  };
}

// @spec responses-87
test('streams a kept response as it was streamed: its events add up to it, each text in one piece', () => {
  const stored = response({ output: OUTPUT, usage: { input_tokens: 1 }, output_text: 'Hello' });
  const events = checkStream(encodeStoredStream(stored));
  const { output_text: _text, ...object } = stored;
  assert.deepEqual(lastResponse(events), object);
  const deltas = events.filter(({ name }) => name.endsWith('.delta'));
  assert.deepEqual(
    deltas.map(({ data }) => data['delta']),
    ['First.', 'Then.', 'Raw.', 'Hello', 'No.', '{"a":1}', 'x\ny'],
  );
  const [created] = events;
  assert.ok(!JSON.stringify(created?.data).includes('xxx'), 'only the last event has the instructions');
});

test('ends a kept response as it ended: an unfinished call has no end, a cancelled one fails without an error', () => {
  const text = { id: 'msg_1', type: 'message', role: 'assistant', status: 'incomplete', content: [TEXT] };
  const call = { id: 'fc_1', type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a', status: 'incomplete' };
  const names = (status: string, item: JsonObject): readonly string[] =>
    checkStream(encodeStoredStream(response({ status, output: [item] })))
      .slice(2)
      .map(({ name }) => name)
      .filter((name) => !name.includes('part'));
  const textBegins = ['output_item.added', 'output_text.delta', 'output_text.annotation.added'];
  const callBegins = ['output_item.added', 'function_call_arguments.delta'];
  assert.deepEqual(names('incomplete', text), [...textBegins, 'output_text.done', 'output_item.done', 'incomplete']);
  assert.deepEqual(names('incomplete', call), [...callBegins, 'incomplete']);
  for (const status of ['cancelled', 'failed']) {
    assert.deepEqual(names(status, text), [...textBegins, 'failed']);
    assert.deepEqual(names(status, call), [...callBegins, 'failed']);
  }
});

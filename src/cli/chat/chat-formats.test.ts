import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHAT_FORMATS } from './chat-formats.ts';

const OUTPUT = [
  {
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: 'hm' }],
    content: [{ type: 'reasoning_text', text: 'x' }],
  },
  {
    type: 'message',
    content: [
      { type: 'output_text', text: 'No. ' },
      { type: 'refusal', refusal: 'I cannot.' },
    ],
  },
  { type: 'function_call', arguments: '{}' },
];

test('reads texts, refusals and reasoning of a whole response, and why it broke off', () => {
  const { readWhole } = CHAT_FORMATS.responses;
  assert.deepEqual(readWhole({ status: 'completed', output: OUTPUT, error: null }), {
    reasoning: 'hm',
    text: 'No. I cannot.',
  });
  assert.deepEqual(readWhole({ status: 'failed', output: OUTPUT.slice(1), error: { message: 'gone' } }), {
    text: 'No. I cannot.',
    failure: 'gone',
  });
  assert.deepEqual(CHAT_FORMATS.chat.readWhole({ choices: [{ message: { content: 'Yes', reasoning: null } }] }), {
    text: 'Yes',
  });
});

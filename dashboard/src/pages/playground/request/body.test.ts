import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ChatMessage } from '../../../api/generation/response.ts';
import { toBody } from './body.ts';
import { NO_SETTINGS } from './settings.ts';

const PICTURE = 'data:image/png;base64,QUJD';
const CALL = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } } as const;
const CONVERSATION: readonly ChatMessage[] = [
  {
    role: 'user',
    content: [
      { type: 'text', text: 'Here?' },
      { type: 'image_url', image_url: { url: PICTURE } },
    ],
  },
  { role: 'assistant', content: '', tool_calls: [CALL, { ...CALL, id: 'c2' }] },
  { role: 'tool', tool_call_id: 'c1', content: 'rain' },
  { role: 'tool', tool_call_id: 'c2', content: 'sun' },
  { role: 'assistant', content: 'Both.' },
];
const SETTINGS = {
  ...NO_SETTINGS,
  system: 'Be short.',
  temperature: '0.5',
  maxTokens: '100',
  effort: 'low',
  sort: 'price',
  tools:
    '[{"type":"function","function":{"name":"weather","parameters":{"type":"object"}}},{"type":"service:web_search"}]',
  more: '{"seed": 7}',
} as const;
const COMMON = { model: 'acme/one', temperature: 0.5, provider: { sort: 'price' }, seed: 7 };

suite('the request of a column', () => {
  test('is a body of chat with the settings', () => {
    assert.deepEqual(toBody('chat', 'acme/one', CONVERSATION, SETTINGS), {
      ...COMMON,
      messages: [{ role: 'system', content: 'Be short.' }, ...CONVERSATION],
      max_tokens: 100,
      reasoning: { effort: 'low' },
      tools: JSON.parse(SETTINGS.tools) as unknown,
    });
  });

  test('is a body of messages with blocks, and the results of one turn in one message', () => {
    const input = { city: 'Paris' };
    assert.deepEqual(toBody('messages', 'acme/one', CONVERSATION, SETTINGS), {
      ...COMMON,
      system: 'Be short.',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } },
            { type: 'text', text: 'Here?' },
          ],
        },
        {
          role: 'assistant',
          content: ['c1', 'c2'].map((id) => ({ type: 'tool_use', id, name: 'weather', input })),
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c1', content: 'rain' },
            { type: 'tool_result', tool_use_id: 'c2', content: 'sun' },
          ],
        },
        { role: 'assistant', content: 'Both.' },
      ],
      max_tokens: 100,
      thinking: { type: 'adaptive' },
      output_config: { effort: 'low' },
      tools: [{ name: 'weather', input_schema: { type: 'object' } }, { type: 'service:web_search' }],
    });
  });

  test('is a body of responses with items, and is not kept', () => {
    const call = { type: 'function_call', name: 'weather', arguments: '{"city":"Paris"}' };
    assert.deepEqual(toBody('responses', 'acme/one', CONVERSATION, SETTINGS), {
      ...COMMON,
      instructions: 'Be short.',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Here?' },
            { type: 'input_image', image_url: PICTURE },
          ],
        },
        { ...call, call_id: 'c1' },
        { ...call, call_id: 'c2' },
        { type: 'function_call_output', call_id: 'c1', output: 'rain' },
        { type: 'function_call_output', call_id: 'c2', output: 'sun' },
        { role: 'assistant', content: 'Both.' },
      ],
      max_output_tokens: 100,
      reasoning: { effort: 'low' },
      tools: [{ type: 'function', name: 'weather', parameters: { type: 'object' } }, { type: 'service:web_search' }],
      store: false,
    });
  });

  test('leaves out settings that say nothing, and JSON that is not valid', () => {
    const messages = [{ role: 'user', content: 'Hi' }] as const;
    assert.deepEqual(toBody('messages', 'acme/one', messages, { ...NO_SETTINGS, tools: '[', more: '[]' }), {
      model: 'acme/one',
      messages,
    });
  });
});

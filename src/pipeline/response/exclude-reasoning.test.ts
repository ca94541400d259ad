import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GenerationEvent } from '../../canonical/events.ts';
import { foldEvents } from '../../canonical/fold.ts';
import { createReasoningExclusion } from './exclude-reasoning.ts';

const events: GenerationEvent[] = [
  { type: 'start', format: 'messages' },
  { type: 'block-start', index: 0, block: { type: 'reasoning', form: 'text', text: '' } },
  { type: 'block-delta', index: 0, text: 'secret thought' },
  { type: 'block-delta', index: 0, signature: 's' },
  { type: 'block-end', index: 0 },
  { type: 'block-start', index: 1, block: { type: 'text', text: '' } },
  { type: 'block-delta', index: 1, text: 'answer', frame: { head: '{"index":1}', json: '', tail: '' } },
  { type: 'block-end', index: 1 },
  { type: 'end', finish: 'stop' },
];

// @spec chat-response-17
test('removes reasoning and closes the gap behind it, however the events are batched', () => {
  const whole = createReasoningExclusion()(events);
  const exclude = createReasoningExclusion();
  assert.deepEqual(
    events.flatMap((event) => exclude([event])),
    whole,
  );
  assert.deepEqual(foldEvents(whole).blocks, [{ type: 'text', text: 'answer' }]);
});

test('drops the frame of a moved block, which has its old index', () => {
  const delta = createReasoningExclusion()(events).find((event) => event.type === 'block-delta');
  assert.deepEqual([delta?.index, delta?.frame], [0, undefined]);
});

test('passes a response without reasoning unchanged', () => {
  const plain: GenerationEvent[] = [
    { type: 'start', format: 'chat' },
    { type: 'block-start', index: 0, block: { type: 'text', text: 'x' } },
  ];
  assert.deepEqual(createReasoningExclusion()(plain), plain);
});

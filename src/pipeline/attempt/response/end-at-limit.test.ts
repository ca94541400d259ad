import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classifyErrorEvent } from '../../../canonical/failure/classify-failure.ts';
import type { EventBatch, GenerationEvent } from '../../../canonical/events.ts';
import { LimitEnding } from './end-at-limit.ts';

const start: EventBatch = [
  { type: 'start', format: 'chat' },
  { type: 'block-start', index: 0, block: { type: 'text', text: '' } },
];
const failed = (message: string): GenerationEvent => ({
  type: 'failed',
  failure: classifyErrorEvent(400, { code: 'limit', message }),
});
const half: GenerationEvent = { type: 'block-delta', index: 0, text: 'half' };

function through(...batches: EventBatch[]): EventBatch {
  const follow = new LimitEnding();
  return batches.flatMap((batch) => follow.end(batch));
}

for (const words of ['Token limit reached', 'maximum context length is 8192 tokens'])
  // @spec translate-29
  test(`ends the response at the limit for "${words}" after output, and closes what was open`, () => {
    const expected = [...start, half, { type: 'block-end', index: 0 }, { type: 'end', finish: 'length' }];
    assert.deepEqual(through(start, [half, failed(words)]), expected);
    assert.deepEqual(through(start, [half], [failed(words)]), expected);
  });

// @spec translate-29
test('fails for it without output, and always for other errors', () => {
  assert.deepEqual(through(start, [failed('Token limit reached')]), [...start, failed('Token limit reached')]);
  assert.deepEqual(through(start, [half, failed('bad value')]), [...start, half, failed('bad value')]);
});

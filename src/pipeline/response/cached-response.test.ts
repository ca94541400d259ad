import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { EventBatch, GenerationEvent } from '../../canonical/events.ts';
import { foldEvents } from '../../canonical/fold.ts';
import { ExactNumber } from '../../lib/json.ts';
import { ResponseCacheWriter, parseCachedResponse, serializeCachedResponse } from './cached-response.ts';

const START: GenerationEvent = { type: 'start', format: 'chat', id: 'up-1', model: 'one' };
const END: GenerationEvent = { type: 'end', finish: 'stop', nativeFinish: 'stop' };
const text = (index: number, added: string): GenerationEvent => ({
  type: 'block-delta',
  index,
  text: added,
  frame: { head: `{"of":"one upstream ${added}"}`, json: '', tail: '' },
});

function keep(...batches: readonly EventBatch[]): ResponseCacheWriter {
  const cacheWriter = new ResponseCacheWriter();
  for (const batch of batches) cacheWriter.push(batch);
  return cacheWriter;
}

const ANSWER: readonly EventBatch[] = [
  [START, { type: 'block-start', index: 0, block: { type: 'text', text: '' } }, text(0, 'Os')],
  [text(0, 'lo'), text(0, '.'), { type: 'block-end', index: 0 }],
  [
    { type: 'block-start', index: 1, block: { type: 'tool-call', id: 'c1', name: 'f', input: '', runBy: 'caller' } },
    text(1, '{"a":'),
    text(1, '1}'),
    { type: 'block-end', index: 1 },
    END,
  ],
];

suite('an answer that is kept', () => {
  test('folds to the same as the one that came', () => {
    const events = keep(...ANSWER).events() ?? assert.fail();
    assert.deepEqual(foldEvents(events), foldEvents(ANSWER.flat()));
    assert.equal(events.filter(({ type }) => type === 'block-delta').length, 2, 'deltas of a block are joined');
    assert.ok(!JSON.stringify(events).includes('one upstream'), 'nothing of what one upstream wrote');
  });

  test('joins nothing where a delta carries more than text', () => {
    const extra = { format: 'chat', fields: { logprobs: { content: [1] } } } as const;
    const events = keep([
      START,
      { type: 'block-start', index: 0, block: { type: 'text', text: '' } },
      { type: 'block-delta', index: 0, text: 'a', extra },
      { type: 'block-delta', index: 0, text: 'b', extra },
      { type: 'block-end', index: 0 },
      END,
    ]).events();
    assert.equal(events?.filter(({ type }) => type === 'block-delta').length, 2);
  });

  test('is none without its end, and none when there was too much of it', () => {
    assert.equal(keep([START]).events(), undefined);
    const long: EventBatch = [
      START,
      { type: 'block-start', index: 0, block: { type: 'text', text: '' } },
      text(0, 'x'.repeat(1_000_001)),
    ];
    assert.equal(keep(long, [{ type: 'block-end', index: 0 }, END]).events(), undefined);
    const value = { type: 'web_search_tool_result', content: 'x'.repeat(1_000_001) };
    const found: EventBatch = [
      START,
      { type: 'block-start', index: 0, block: { type: 'opaque', format: 'messages', value } },
      { type: 'block-end', index: 0 },
      END,
    ];
    assert.equal(keep(found).events(), undefined);
  });

  test('is written and read without losing a digit', () => {
    const extra = { format: 'chat', fields: { exact: new ExactNumber('12345678901234567890') } } as const;
    const kept = {
      generationId: 'gen-1',
      model: 'acme/one',
      provider: 'alpha',
      format: 'chat',
      storedAtMs: 5,
      ttlMs: 1_000,
      events: [{ ...START, extra }, END],
    } as const;
    const read = parseCachedResponse(serializeCachedResponse(kept)) ?? assert.fail();
    assert.deepEqual(read, { version: 1, ...kept });
    assert.ok(JSON.stringify(read).includes('"exact":12345678901234567890'));
  });

  test('is ignored when another version of the gateway stored it', () => {
    assert.equal(parseCachedResponse('{"version":0,"events":[]}'), undefined);
  });
});

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { Block } from '../../../canonical/blocks.ts';
import type { EventBatch, FinishReason, GenerationEvent } from '../../../canonical/events.ts';
import { foldEvents } from '../../../canonical/fold.ts';
import { AnswerToolRestorer } from './restore-answer-tool.ts';

const START: GenerationEvent = { type: 'start', format: 'messages' };

function open(index: number, name: string, input = ''): GenerationEvent {
  return { type: 'block-start', index, block: { type: 'tool-call', id: `c${index}`, name, input, runBy: 'caller' } };
}

function openText(index: number): GenerationEvent {
  return { type: 'block-start', index, block: { type: 'text', text: '' } };
}

function piece(index: number, text: string): GenerationEvent {
  return { type: 'block-delta', index, text, frame: { head: `{"index":${index}}`, json: '', tail: '' } };
}

function close(index: number): GenerationEvent {
  return { type: 'block-end', index };
}

function end(finish: FinishReason = 'tool_calls'): GenerationEvent {
  return { type: 'end', finish, nativeFinish: 'tool_use' };
}

function restore(...batches: readonly EventBatch[]): readonly GenerationEvent[] {
  const restorer = new AnswerToolRestorer('json');
  return batches.flatMap((batch) => restorer.restore(batch));
}

// @spec translate-22
test('turns the call into text chunk by chunk, and the response into an ordinary stop', () => {
  assert.deepEqual(restore([START, open(0, 'json')], [piece(0, '{"a"'), piece(0, ':1}')], [close(0), end()]), [
    START,
    openText(0),
    { type: 'block-delta', index: 0, text: '{"a"', frame: undefined, extra: undefined },
    { type: 'block-delta', index: 0, text: ':1}', frame: undefined, extra: undefined },
    close(0),
    { type: 'end', finish: 'stop', nativeFinish: 'tool_use' },
  ]);
});

test('turns a whole call into a whole text', () => {
  const answer = foldEvents(restore([START, open(0, 'json', '{"a":1}'), close(0), end()]));
  assert.deepEqual(answer.blocks, [{ type: 'text', text: '{"a":1}' }]);
});

test('keeps the reason of a response that was cut off, or refused', () => {
  for (const finish of ['length', 'content_filter'] as const)
    assert.deepEqual(restore([START, open(0, 'json'), piece(0, '{'), close(0), end(finish)]).at(-1), end(finish));
});

test("keeps a call of the caller's own tool, and its reason to stop", () => {
  const events = [START, open(0, 'f'), piece(0, '{}'), close(0), end()];
  assert.deepEqual(restore(events), events);
});

test('delivers both at once as a text and a call', () => {
  const answer = foldEvents(
    restore([START, open(0, 'f', '{}'), close(0), open(1, 'json', '{"a":1}'), close(1), end()]),
  );
  assert.deepEqual(
    answer.blocks.map(({ type }) => type),
    ['tool-call', 'text'],
  );
  assert.equal(answer.end?.finish, 'tool_calls');
});

suite('calls that overlap', () => {
  test('hold what opens beside the response until its end', () => {
    const events = [
      START,
      open(0, 'json'),
      open(1, 'f'),
      piece(1, '{'),
      piece(0, '{}'),
      piece(1, '}'),
      close(0),
      close(1),
    ];
    const kinds = restore(events, [end()]).map((event) =>
      `${event.type} ${'index' in event ? event.index : ''}`.trim(),
    );
    assert.deepEqual(kinds, [
      'start',
      'block-start 0',
      'block-delta 0',
      'block-end 0',
      'block-start 1',
      'block-delta 1',
      'block-delta 1',
      'block-end 1',
      'end',
    ]);
  });

  test('hold the response until open calls end, and later calls behind it', () => {
    const events = [START, open(0, 'f'), open(1, 'json'), open(2, 'g'), piece(1, '{}'), piece(2, '[]'), piece(0, '{}')];
    const answer = foldEvents(restore(events, [close(2), close(1)], [close(0)], [end()]));
    assert.deepEqual(
      answer.blocks.map((block) => (block.type === 'tool-call' ? block.input : 'text' in block ? block.text : '')),
      ['{}', '{}', '[]'],
    );
  });

  test('end what never ended with the response', () => {
    const answer = foldEvents(restore([START, open(0, 'f'), open(1, 'json', '{}'), piece(0, '1'), end('length')]));
    assert.deepEqual(
      answer.blocks.map(({ type }) => type),
      ['tool-call', 'text'],
    );
    assert.equal(answer.end?.finish, 'length');
  });

  test('fail beyond what may wait, after which nothing comes', () => {
    const flood = Array.from({ length: 10_001 }, () => piece(1, 'x'));
    const restored = restore([START, open(0, 'json'), open(1, 'f')], flood, [close(0), end()]);
    assert.equal(restored.at(-1)?.type, 'failed');
    assert.equal(restored.filter(({ type }) => type === 'failed' || type === 'end').length, 1);
  });
});

/** Calls whose pieces are shuffled among each other, as hosts that translate send them; cut into batches anywhere. */
const arbitraryResponse = fc
  .array(
    fc.record({ name: fc.constantFrom('json', 'f'), pieces: fc.array(fc.constantFrom('a', 'b'), { maxLength: 3 }) }),
    {
      maxLength: 5,
    },
  )
  .chain((calls) =>
    fc.record({
      calls: fc.constant(calls),
      order: fc.array(fc.nat(), { minLength: 40, maxLength: 40 }),
      cuts: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 40, maxLength: 40 }),
    }),
  );

test('deliver every block once, whole, in order, and text alone', () => {
  fc.assert(
    fc.property(arbitraryResponse, ({ calls, order, cuts }) => {
      const events = shuffle(calls, order);
      const batches: GenerationEvent[][] = [];
      for (let at = 0, cut = 0; at < events.length; cut++) {
        const size = cuts[cut % cuts.length] ?? 1;
        batches.push(events.slice(at, at + size));
        at += size;
      }
      const restored = restore(...batches);
      checkGrammar(restored);
      const before = foldEvents(events).blocks.map(contentOf);
      assert.deepEqual(foldEvents(restored).blocks.map(contentOf), before);
    }),
  );
});

function shuffle(
  calls: readonly { name: string; pieces: readonly string[] }[],
  order: readonly number[],
): GenerationEvent[] {
  const queues = calls.map(({ name, pieces }, index) => [
    open(index, name),
    ...pieces.map((text) => piece(index, text)),
    close(index),
  ]);
  const events: GenerationEvent[] = [START];
  let opened = 0;
  for (let step = 0; queues.some((queue) => queue.length > 0); step++) {
    // Blocks open in the order of their indexes.
    const ready = queues.map((_queue, at) => at).filter((at) => (queues[at]?.length ?? 0) > 0 && at <= opened);
    const chosen = ready[(order[step % order.length] ?? 0) % ready.length] ?? 0;
    if (chosen === opened) opened++;
    events.push(...(queues[chosen]?.splice(0, 1) ?? []));
  }
  return [...events, end()];
}

function contentOf(block: Block): string {
  if (block.type === 'tool-call') return block.input;
  return block.type === 'text' ? block.text : '';
}

/** Only calls stand open side by side. @source canonical/events.ts */
function checkGrammar(events: readonly GenerationEvent[]): void {
  const openBlocks = new Map<number, string>();
  let next = 0;
  for (const event of events) {
    if (event.type === 'block-start') {
      assert.equal(event.index, next++, 'indexes are dense');
      const kinds = [...openBlocks.values(), event.block.type];
      assert.ok(kinds.length === 1 || kinds.every((kind) => kind === 'tool-call'), kinds.join());
      openBlocks.set(event.index, event.block.type);
    } else if (event.type === 'block-delta') assert.ok(openBlocks.has(event.index));
    else if (event.type === 'block-end') assert.ok(openBlocks.delete(event.index));
  }
  assert.equal(openBlocks.size, 0);
}

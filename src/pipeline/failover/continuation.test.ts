import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { EventBatch, GenerationEvent } from '../../canonical/events.ts';
import { foldEvents } from '../../canonical/fold.ts';
import { checkEvents } from '../../../tests/support/wire/event-grammar.ts';
import { DeliveredResponse } from './delivered-response.ts';
import { ContinuedResponse, type ContinuationOutcome } from './continuation.ts';
import { spliceContinuation, spliceRestart, type Splice } from './splice.ts';

const start: GenerationEvent = { type: 'start', format: 'chat', id: 'one' };
const end: GenerationEvent = { type: 'end', finish: 'stop' };
const FRAME = { head: '{"index":0}', json: '', tail: '' };

function text(index: number, ...pieces: readonly string[]): readonly GenerationEvent[] {
  return [
    { type: 'block-start', index, block: { type: 'text', text: '' } },
    ...pieces.map((piece) => ({ type: 'block-delta', index, text: piece }) as const),
    { type: 'block-end', index },
  ];
}

function reasoning(index: number, thought: string): readonly GenerationEvent[] {
  return [
    { type: 'block-start', index, block: { type: 'reasoning', form: 'text', text: '' } },
    { type: 'block-delta', index, text: thought },
    { type: 'block-end', index },
  ];
}

function call(index: number): readonly GenerationEvent[] {
  return [
    { type: 'block-start', index, block: { type: 'tool-call', id: 'call_1', name: 'f', input: '{}', runBy: 'caller' } },
    { type: 'block-end', index },
  ];
}

function delivered(events: EventBatch): DeliveredResponse {
  const answer = new DeliveredResponse();
  answer.push(events);
  return answer;
}

/** Everything that the caller gets, or what was in the way. */
function goOn(
  first: EventBatch,
  splice: (text: string) => Splice,
  batches: readonly EventBatch[],
): EventBatch | 'apart' {
  const before = delivered(first);
  const answer = new ContinuedResponse(before, splice(before.text));
  const events = [...first];
  for (const batch of batches) {
    const outcome: ContinuationOutcome = answer.push(batch);
    if (outcome.type === 'apart') return 'apart';
    if (outcome.type === 'joined') events.push(...outcome.events);
  }
  return events;
}

function withoutSecondStart(events: EventBatch): EventBatch {
  return events.filter((event, at) => at === 0 || event.type !== 'start');
}

/** Held to the grammar, and folded. */
function received(events: EventBatch | 'apart'): readonly (readonly [string, string])[] {
  assert.notEqual(events, 'apart');
  const one = withoutSecondStart(events as EventBatch);
  checkEvents(one);
  return foldEvents(one).blocks.map((block) => [block.type, 'text' in block ? block.text : '']);
}

const exactly = (stated: string): Splice => spliceRestart(stated, { exact: true });

const piece = fc.string({ unit: fc.constantFrom('a', 'b', ' '), minLength: 1, maxLength: 6 });
const part = fc.oneof(
  fc.array(piece, { maxLength: 4 }).map((pieces) => (index: number) => text(index, ...pieces)),
  fc.string({ minLength: 1, maxLength: 6 }).map((thought) => (index: number) => reasoning(index, thought)),
);
const answers = fc
  .tuple(fc.array(part, { minLength: 1, maxLength: 4 }), fc.boolean())
  .map(([parts, calls]) => [
    start,
    ...parts.flatMap((serialize, index) => serialize(index)),
    ...(calls ? call(parts.length) : []),
    end,
  ]);

// @spec fallback-27
test('delivers the rest of the text and nothing twice from a restarted response, wherever the first one breaks off', () => {
  fc.assert(
    fc.property(answers, fc.nat(40), fc.integer({ min: 1, max: 5 }), (answer, cut, size) => {
      const first = answer.slice(0, 1 + (cut % (answer.length - 1)));
      if (!delivered(first).canGoOn) return;
      const batches = Array.from({ length: Math.ceil(answer.length / size) }, (_, at) =>
        answer.slice(at * size, (at + 1) * size),
      );
      const events = goOn(first, exactly, batches);
      const textOf = (all: readonly (readonly [string, string])[]): string =>
        all.map(([type, stated]) => (type === 'text' ? stated : '')).join('');
      const blocks = received(events);
      assert.equal(textOf(blocks), textOf(received(answer)));
      assert.equal(
        blocks.filter(([type]) => type === 'tool-call').length,
        answer.filter((event) => event.type === 'block-start' && event.block.type === 'tool-call').length,
      );
    }),
  );
});

test('continues an open text in the same block', () => {
  const first = [start, ...text(0, 'one ').slice(0, 2)];
  const events = goOn(first, exactly, [[start, ...text(0, 'one ', 'two'), end]]);
  assert.deepEqual(received(events), [['text', 'one two']]);
});

test('adds another text behind one that had ended, if the continuation has more', () => {
  const first = [start, ...text(0, 'one ')];
  assert.deepEqual(received(goOn(first, exactly, [[start, ...text(0, 'one ', 'two'), end]])), [
    ['text', 'one '],
    ['text', 'two'],
  ]);
  assert.deepEqual(received(goOn(first, exactly, [[start, ...text(0, 'one '), end]])), [['text', 'one ']]);
});

test('ends reasoning that was left open, and leaves the other reasoning out with a warning', () => {
  const first = [start, ...reasoning(0, 'hm').slice(0, 2)];
  const events = goOn(first, exactly, [
    [start, ...reasoning(0, 'let me see')],
    [...text(1, 'one'), end],
  ]);
  assert.deepEqual(received(events), [
    ['reasoning', 'hm'],
    ['text', 'one'],
  ]);
  assert.equal((events as EventBatch).filter(({ type }) => type === 'warning').length, 1);
});

test('ends the response where it was when the continuation has no more text', () => {
  const first = [start, ...text(0, 'one').slice(0, 2)];
  assert.deepEqual(received(goOn(first, spliceContinuation, [[start, end]])), [['text', 'one']]);
});

test('separates a call that comes before the delivered text was repeated', () => {
  const first = [start, ...text(0, 'one two').slice(0, 2)];
  assert.equal(goOn(first, exactly, [[start, ...text(0, 'one '), ...call(1), end]]), 'apart');
});

test("keeps of the continuation's sources only those of its own text, and moves their positions", () => {
  const source = (start_: number): GenerationEvent => ({
    type: 'citation',
    index: 0,
    citation: { type: 'url', url: 'https://example.com/', start: start_, end: start_ + 3 },
  });
  const first = [start, ...text(0, 'one ').slice(0, 2)];
  const [opening, ...rest] = text(0, 'two ', 'six');
  const events = goOn(first, spliceContinuation, [
    [start, opening as GenerationEvent],
    [rest[0] as GenerationEvent],
    [source(0), ...rest.slice(1), end],
  ]);
  const block = foldEvents(withoutSecondStart(events as EventBatch)).blocks[0];
  assert.deepEqual(block?.type === 'text' && block.citations, [
    { type: 'url', url: 'https://example.com/', start: 4, end: 7 },
  ]);
});

test('counts and frames of its own are not taken for those of the first answer', () => {
  const first = [start, ...text(0, 'one ').slice(0, 2)];
  const usage = { type: 'usage', usage: { ...NOTHING, promptTokens: 3 } } as const;
  const events = goOn(first, spliceContinuation, [
    [{ ...start, id: 'two', format: 'messages' }, usage, ...text(0).slice(0, 1)],
    [{ type: 'block-delta', index: 0, text: 'two', frame: FRAME }],
    [{ type: 'block-delta', index: 0, text: ' three', frame: FRAME }, { type: 'block-end', index: 0 }, end],
  ]);
  assert.deepEqual((events as EventBatch).slice(first.length), [
    { type: 'start', format: 'messages' },
    usage,
    { type: 'block-delta', index: 0, text: 'two' },
    { type: 'block-delta', index: 0, text: ' three' },
    { type: 'block-end', index: 0 },
    end,
  ]);
});

const NOTHING = {
  promptTokens: 0,
  completionTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  estimated: false,
};

test('continues a response while it has nothing but text and unsigned reasoning', () => {
  const signed: GenerationEvent = { type: 'block-delta', index: 0, signature: 's' };
  const sealed = { type: 'reasoning', form: 'encrypted', text: 'x' } as const;
  for (const [events, may] of [
    [[start, ...reasoning(0, 'hm'), ...text(1, 'one')], true],
    [[start, ...reasoning(0, 'hm').slice(0, 2), signed], false],
    [[start, { type: 'block-start', index: 0, block: sealed }], false],
    [[start, { type: 'block-start', index: 0, block: { type: 'refusal', text: '' } }], false],
    [[start, ...call(0)], false],
    [[start, ...text(0, 'one'), end], false],
    [[start, ...text(0, 'x'.repeat(1_048_577))], false],
  ] as const)
    assert.equal(delivered(events).canGoOn, may);
});

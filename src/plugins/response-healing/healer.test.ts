import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { EventBatch, FinishReason, GenerationEvent } from '../../canonical/events.ts';
import { foldEvents } from '../../canonical/fold.ts';
import { checkEvents } from '../../../tests/support/wire/event-grammar.ts';
import { healJson, isJson } from './heal-json.ts';
import { Healer, type Healing } from './healer.ts';
import { brokenOutputs } from '../../../tests/support/plugins/broken-outputs.ts';

const START: GenerationEvent = { type: 'start', format: 'chat' };
const FRAME = { head: '{}', json: '', tail: '' };

/** An answer of one text that comes in these pieces. */
function answerOf(pieces: readonly string[], finish: FinishReason = 'stop'): readonly EventBatch[] {
  return [
    [START, { type: 'block-start', index: 0, block: { type: 'text', text: '' } }],
    ...pieces.map((text): EventBatch => [{ type: 'block-delta', index: 0, text, frame: FRAME }]),
    [{ type: 'block-end', index: 0 }],
    [{ type: 'end', finish }],
  ];
}

interface Seen {
  readonly batches: readonly EventBatch[];
  readonly text: string;
  readonly healings: readonly Healing[];
}

function heal(batches: readonly EventBatch[], streams: boolean): Seen {
  const healings: Healing[] = [];
  const healer = new Healer({ wanted: undefined, streams, onHealed: (healing) => healings.push(healing) });
  const given = batches.map((batch) => healer.push(batch));
  const events = given.flat();
  checkEvents(events);
  const text = foldEvents(events)
    .blocks.map((block) => (block.type === 'text' ? block.text : ''))
    .join('');
  return { batches: given, text, healings };
}

/** What went out before the end. */
function givenEarly({ batches }: Seen): string {
  const deltas = batches.slice(0, -1).flat();
  return deltas.map((event) => (event.type === 'block-delta' ? event.text : '')).join('');
}

function cut(text: string, lengths: readonly number[]): readonly string[] {
  const pieces: string[] = [];
  let at = 0;
  for (const length of lengths) {
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return [...pieces, text.slice(at)].filter((piece) => piece !== '');
}

/** Longer than the repair limit. */
const LONG = '1'.repeat(300_000);

const lengths = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 40 });

for (const streams of [true, false]) {
  const what = streams ? 'a stream' : 'a whole answer';

  // @spec plugin-17
  test(`never alters valid JSON, in any chunks: ${what}`, () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.constantFrom(0, 2),
        fc.constantFrom('', ' ', '\n\n'),
        lengths,
        (value, indent, space, at) => {
          const text = space + JSON.stringify(value, null, indent) + space;
          const seen = heal(answerOf(cut(text, at)), streams);
          assert.equal(seen.text, text);
          assert.deepEqual(seen.healings, []);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test(`delivers a response that never becomes JSON as it came: ${what}`, () => {
    for (const text of ['', 'I cannot do that.', 'see {here}', '"a" and "b"', '{The answer}']) {
      const seen = heal(answerOf(cut(text, [3, 4])), streams);
      assert.equal(seen.text, text);
      assert.ok(seen.healings.every(({ improved }) => !improved));
    }
  });

  for (const finish of ['length', 'content_filter', 'tool_calls'] as const)
    test(`mends no response that ends with '${finish}': ${what}`, () => {
      const seen = heal(answerOf(['{"a": [1,', ' 2'], finish), streams);
      assert.equal(seen.text, '{"a": [1, 2');
      assert.deepEqual(seen.healings, []);
    });

  test(`delivers a response that breaks off as far as it came: ${what}`, () => {
    const [first = [], ...rest] = answerOf(['{"a": "x"', ', ']);
    const failed: GenerationEvent = {
      type: 'failed',
      failure: {
        kind: 'early-end',
        errorType: 'provider_unavailable',
        status: 502,
        mayTry: 'next-endpoint',
        message: '',
      },
    };
    const seen = heal([first, ...rest.slice(0, 2), [failed]], streams);
    assert.equal(seen.text, '{"a": "x", ');
  });

  test(`sources keep their places where the text stays, and lose them where it changes: ${what}`, () => {
    const citation = { type: 'url', url: 'https://a.example', start: 7, end: 10 } as const;
    for (const [pieces, text, places] of [
      [['{"a": ', '"x"}'], '{"a": "x"}', [7, 10]],
      [['Sure: {"a": ', '"x"}'], '{"a": "x"}', [undefined, undefined]],
      [['{"a": ', '"x",}'], '{"a": "x"}', [undefined, undefined]],
      [['no JSON', ' at all'], 'no JSON at all', [7, 10]],
      [['{', LONG], `{${LONG}`, [7, 10]],
    ] as const) {
      const [start, first, second, end, ...rest] = answerOf(pieces);
      const batches = [start, first, [{ type: 'citation', index: 0, citation } as const], second, end, ...rest];
      const seen = heal(
        batches.filter((batch) => batch !== undefined),
        streams,
      );
      assert.equal(seen.text, text);
      const [cited] = seen.batches.flat().flatMap((event) => (event.type === 'citation' ? [event.citation] : []));
      assert.ok(cited?.type === 'url');
      assert.deepEqual([cited.start, cited.end], places, text);
    }
  });

  test(`makes one JSON of several texts, and keeps what is between them: ${what}`, () => {
    const call = { type: 'tool-call', id: 'c', name: 'f', input: '{}', runBy: 'upstream' } as const;
    const citation = { type: 'url', url: 'https://a.example', start: 0, end: 3 } as const;
    const events: EventBatch = [
      START,
      { type: 'block-start', index: 0, block: { type: 'text', text: 'Let me see. ' } },
      { type: 'citation', index: 0, citation },
      { type: 'block-end', index: 0 },
      { type: 'block-start', index: 1, block: call },
      { type: 'block-end', index: 1 },
      { type: 'block-start', index: 2, block: { type: 'text', text: '' } },
      { type: 'block-delta', index: 2, text: '{"a": 1,}' },
      { type: 'block-end', index: 2 },
      { type: 'end', finish: 'stop' },
    ];
    const seen = heal(
      events.map((event) => [event]),
      streams,
    );
    assert.equal(seen.text, '{"a": 1}');
    const { blocks } = foldEvents(seen.batches.flat());
    assert.deepEqual(
      blocks.map(({ type }) => type),
      ['text', 'tool-call'],
    );
    assert.deepEqual(blocks[1], call);
  });
}

test('mends a stream to the text of the whole response, wherever it is cut, and keeps its beginning', () => {
  const outputs = brokenOutputs();
  let early = 0;
  fc.assert(
    fc.property(fc.constantFrom(...outputs), lengths, ({ text }, at) => {
      const seen = heal(answerOf(cut(text, at)), true);
      const whole = heal(answerOf([text]), false);
      const [healing] = seen.healings;
      if (healing?.improved === true) {
        assert.ok(isJson(seen.text));
        assert.ok(seen.text.startsWith(givenEarly(seen)));
        assert.deepEqual([healing.original, healing.healed], [text, seen.text]);
      } else assert.ok(text.endsWith(seen.text));
      if (whole.healings[0]?.improved === true) assert.equal(whole.text, healJson(text, undefined));
      if (givenEarly(seen).length > text.length / 2) early++;
    }),
    { numRuns: 3_000, seed: 7 },
  );
  assert.ok(early > 1_000, 'much of it goes out before the end');
});

test('heals nearly as much of a stream as of a whole response', (t) => {
  const outputs = brokenOutputs();
  const count = (streams: boolean): number =>
    outputs.filter(({ text }) => heal(answerOf(cut(text, [20, 20, 20])), streams).healings[0]?.improved === true)
      .length;
  const [whole, streamed] = [count(false), count(true)];
  t.diagnostic(`of ${outputs.length}: ${whole} whole, ${streamed} streamed`);
  assert.ok(streamed >= whole * 0.95);
});

test('sends what is certain at once, in the frame in which it came', () => {
  const { batches } = heal(answerOf(['{"a": "one', ' two', ' three"', ', "b"', ': tru', 'e}']), true);
  assert.deepEqual(
    batches.map((batch) => batch.flatMap((event) => (event.type === 'block-delta' ? [[event.text, event.frame]] : []))),
    [
      [],
      [['{"a": "one', FRAME]],
      [[' two', FRAME]],
      [[' three', undefined]],
      [['", "b', undefined]],
      [['": ', undefined]],
      [['true}', undefined]],
      [],
      [],
    ],
  );
});

test('keeps log probabilities with the response', () => {
  const extra = { format: 'chat', fields: { logprobs: { content: [{ token: '}' }] } } } as const;
  const [start = [], , end = [], finish = []] = answerOf(['x']);
  for (const streams of [true, false]) {
    const delta: GenerationEvent = { type: 'block-delta', index: 0, text: '{"a": 1,}', extra };
    const seen = heal([start, [delta], end, finish], streams);
    assert.equal(seen.text, '{"a": 1}');
    assert.deepEqual(foldEvents(seen.batches.flat()).blocks[0]?.extra, extra);
  }
});

test('delivers a response unchanged that is too long to keep', () => {
  const text = `{"a": "${'x'.repeat(300_000)}`;
  const seen = heal(answerOf(cut(`${text}, }`, [100_000, 100_000])), true);
  assert.equal(seen.text, `${text}, }`);
});

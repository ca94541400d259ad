import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import type { ReasoningBlock } from '../../../canonical/blocks.ts';
import type { EventBatch, GenerationEvent } from '../../../canonical/events.ts';
import type { FormatId } from '../../../canonical/extra.ts';
import { foldEvents } from '../../../canonical/fold.ts';
import { parseJsonObject, type JsonObject } from '../../../lib/json.ts';
import { objectOf, objectsOf, textOf } from '../../json-fields.ts';
import { ChatStreamEncoder } from './stream-out.ts';
import { encodeWhole } from './response-out.ts';
import { FINAL_USAGE, deltasOf, IDENTITY, readStream } from '../../../../tests/support/wire/chat/streams.ts';

type Piece = Pick<ReasoningBlock, 'form' | 'text' | 'signature'>;

/** A response that thinks in these blocks, each with its text as it opens, or after that in pieces of two characters. */
function think(pieces: readonly Piece[], asItOpens: boolean, format: FormatId = 'responses'): EventBatch {
  const blocks = pieces.flatMap(({ text, ...piece }, index): readonly GenerationEvent[] => [
    { type: 'block-start', index, block: { type: 'reasoning', ...piece, text: asItOpens ? text : '' } },
    ...(asItOpens ? [] : (text.match(/[^]{1,2}/g) ?? [])).map((part): GenerationEvent => ({
      type: 'block-delta',
      index,
      text: part,
    })),
    { type: 'block-end', index },
  ]);
  return [{ type: 'start', format }, ...blocks, { type: 'end', finish: 'stop' }];
}

function wholeOf(events: EventBatch): JsonObject {
  const response = parseJsonObject(encodeWhole(foldEvents(events), IDENTITY, FINAL_USAGE));
  return objectOf(objectsOf(response?.['choices'])[0]?.['message']) ?? assert.fail('the answer has a message');
}

/** The plain reasoning of a stream, and each of its details, as a client puts them together. */
function streamed(events: EventBatch): { readonly plain: string; readonly details: readonly string[] } {
  const encoder = new ChatStreamEncoder(IDENTITY);
  const deltas = deltasOf(readStream(encoder.encode(events) + encoder.close(FINAL_USAGE)));
  const details = new Map<unknown, string>();
  for (const detail of deltas.flatMap((delta) => objectsOf(delta['reasoning_details'])))
    details.set(detail['index'], (details.get(detail['index']) ?? '') + textIn(detail));
  return { plain: deltas.map(({ reasoning }) => textOf(reasoning) ?? '').join(''), details: [...details.values()] };
}

function textIn(detail: JsonObject): string {
  return textOf(detail['text']) ?? textOf(detail['summary']) ?? textOf(detail['data']) ?? '';
}

function summary(text: string): Piece {
  return { form: 'summary', text };
}

suite('summaries in the plain member', () => {
  for (const asItOpens of [true, false])
    test(`do not run together, ${asItOpens ? 'opened whole' : 'in pieces'}; the details stay as they are`, () => {
      const events = think(
        [summary('**Looking** Here.'), { form: 'encrypted', text: 'ZZZZ' }, summary(''), summary('**Finding** There.')],
        asItOpens,
      );
      assert.equal(wholeOf(events)['reasoning'], '**Looking** Here.\n\n**Finding** There.');
      const { plain, details } = streamed(events);
      assert.equal(plain, '**Looking** Here.\n\n**Finding** There.');
      assert.deepEqual(details, ['**Looking** Here.', 'ZZZZ', '**Finding** There.']);
    });

  test('stand apart from nothing but each other', () => {
    const events = think([{ form: 'text', text: 'Let me' }, { form: 'text', text: ' see.' }, summary('S')], false);
    assert.equal(wholeOf(events)['reasoning'], 'Let me see.S');
    assert.equal(streamed(events).plain, 'Let me see.S');
  });

  test('are joined as an upstream of this format joined them', () => {
    const events = think([summary('One'), summary('Two')], false, 'chat');
    assert.equal(wholeOf(events)['reasoning'], 'OneTwo');
    assert.equal(streamed(events).plain, 'OneTwo');
  });

  test('say the same in a stream as in a whole response, whatever stands between them', () => {
    const piece = fc.record(
      {
        form: fc.constantFrom('text', 'summary', 'encrypted'),
        text: fc.string({ maxLength: 5 }),
        signature: fc.string({ maxLength: 3 }),
      },
      { requiredKeys: ['form', 'text'] },
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), fc.boolean(), (pieces, asItOpens) => {
        const events = think(pieces, asItOpens);
        assert.equal(streamed(events).plain, wholeOf(events)['reasoning'] ?? '');
      }),
    );
  });
});

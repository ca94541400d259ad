import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { REASONING_FAMILIES, type ReasoningBlock } from '../../canonical/blocks.ts';
import type { EventBatch, GenerationEvent } from '../../canonical/events.ts';
import { foldEvents } from '../../canonical/fold.ts';
import { parseJsonObject, type JsonObject } from '../../lib/json.ts';
import { FINAL_USAGE, IDENTITY } from '../../../tests/support/wire/chat/streams.ts';
import { objectsOf } from '../json-fields.ts';
import { MessagesStreamEncoder } from './response/stream-out.ts';
import { encodeWhole } from './response/response-out.ts';
import { openSeal, seal } from './reasoning-seal.ts';
import { checkStream, foldContent } from '../../../tests/support/wire/messages/stream-checker.ts';
import { decode, encode, target } from '../../../tests/support/wire/messages/request.ts';

const VENDOR = target({ vendor: true });
const COMPATIBLE = target();
const QUESTION = { role: 'user', content: 'Hi' };

/** A response of another format that thinks in these blocks, and then says something. */
function responseOf(blocks: readonly ReasoningBlock[]): EventBatch {
  const thoughts = blocks.flatMap(({ text, signature, ...block }, index): readonly GenerationEvent[] => [
    { type: 'block-start', index, block: { ...block, text: '' } },
    { type: 'block-delta', index, text },
    ...(signature === undefined ? [] : [{ type: 'block-delta', index, signature } as const]),
    { type: 'block-end', index },
  ]);
  const index = blocks.length;
  return [
    { type: 'start', format: 'responses' },
    ...thoughts,
    { type: 'block-start', index, block: { type: 'text', text: 'So.' } },
    { type: 'block-end', index },
    { type: 'end', finish: 'stop' },
  ];
}

function wholeContent(events: EventBatch): readonly JsonObject[] {
  return objectsOf(parseJsonObject(encodeWhole(foldEvents(events), IDENTITY, FINAL_USAGE))?.['content']);
}

function streamedContent(events: EventBatch): readonly JsonObject[] {
  const encoder = new MessagesStreamEncoder(IDENTITY);
  return foldContent(checkStream(encoder.encode(events) + encoder.close(FINAL_USAGE)));
}

/** The next request of a caller that sends the response back. */
function nextRequest(content: readonly JsonObject[]): ReturnType<typeof decode> {
  return decode({ model: 'acme/one', max_tokens: 9, messages: [QUESTION, { role: 'assistant', content }, QUESTION] });
}

function thoughtsIn(request: ReturnType<typeof decode>): readonly unknown[] {
  return (request.turns[1]?.blocks ?? []).filter((block) => block.type === 'reasoning');
}

/** What goes to a messages upstream of the reasoning in a request. */
function sentThoughts(request: ReturnType<typeof decode>, to = VENDOR): readonly JsonObject[] {
  const { messages } = encode(request, to).body;
  return objectsOf(objectsOf(messages)[1]?.['content']).filter(({ type }) => type !== 'text');
}

const filled = fc.string({ minLength: 1, maxLength: 12, unit: 'binary' });
const FOREIGN_FAMILIES = REASONING_FAMILIES.filter((family) => family !== 'anthropic-claude-v1');
/** Blocks of which something would be lost without a seal. */
const foreignBlock: fc.Arbitrary<ReasoningBlock> = fc
  .record(
    {
      form: fc.constantFrom('text', 'summary', 'encrypted'),
      text: filled,
      family: fc.constantFrom(...FOREIGN_FAMILIES),
      signature: filled,
      id: fc.oneof(filled, fc.constantFrom('a:b', '%3A', '%253A', 'rs_1')),
    },
    { requiredKeys: ['form', 'text', 'family'] },
  )
  .map(({ signature, ...block }): ReasoningBlock => {
    const isSigned = signature !== undefined && block.form !== 'encrypted';
    return { type: 'reasoning', ...block, ...(isSigned && { signature }) };
  })
  .filter(
    ({ family, form, id, signature }) => family !== 'unknown' || form !== 'text' || (id ?? signature) !== undefined,
  );

suite('reasoning of another vendor', () => {
  // @spec messages-31
  test('comes back from a caller as it was, to the last character, streamed and whole', () => {
    fc.assert(
      fc.property(fc.array(foreignBlock, { minLength: 1, maxLength: 4 }), (blocks) => {
        const events = responseOf(blocks);
        for (const content of [wholeContent(events), streamedContent(events)])
          assert.deepEqual(thoughtsIn(nextRequest(content)), blocks);
      }),
    );
  });

  // @spec messages-31
  test('is never sent to the vendor of this format, whatever its family', () => {
    fc.assert(
      fc.property(foreignBlock, (block) => {
        const request = nextRequest(wholeContent(responseOf([block])));
        assert.deepEqual(sentThoughts(request), []);
        assert.ok(encode(request, VENDOR).warnings.some(({ code }) => code === 'content-dropped'));
      }),
    );
  });

  test('is sent to a compatible host where it is readable, and without its seal', () => {
    const thought: ReasoningBlock = { type: 'reasoning', form: 'text', text: 'hm', family: 'google-gemini-v1' };
    const sealed: ReasoningBlock = { type: 'reasoning', form: 'encrypted', text: 'AA==', family: 'google-gemini-v1' };
    const request = nextRequest(wholeContent(responseOf([thought, { ...thought, signature: 'c2ln' }, sealed])));
    assert.deepEqual(sentThoughts(request, COMPATIBLE), [{ type: 'thinking', thinking: 'hm', signature: '' }]);
  });

  test('is not decoded under a seal of a later version', () => {
    const request = nextRequest([
      { type: 'redacted_thinking', data: 'sealed-v2:openai-responses-v9:x' },
      { type: 'thinking', thinking: 'hm', signature: 'sealed-v1:openai-responses-v9:text:rs_1:c2ln' },
      { type: 'text', text: 'So.' },
    ]);
    assert.deepEqual(sentThoughts(request), []);
    assert.deepEqual(sentThoughts(request, COMPATIBLE), []);
  });
});

suite('reasoning of the vendor itself', () => {
  const own: readonly JsonObject[] = [
    { type: 'thinking', thinking: 'hm', signature: 'ErUBCkYIBxgCIkD+/9==' },
    { type: 'thinking', thinking: '', signature: 'c2ln' },
    { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix/LafPsn4a' },
  ];

  test('goes back byte for byte', () => {
    assert.deepEqual(sentThoughts(nextRequest([...own, { type: 'text', text: 'So.' }])), own);
  });

  test('stands without a seal in a response, whichever format brought it', () => {
    const block = { type: 'reasoning', form: 'text', text: 'hm', signature: 'c2ln', id: 'x' } as const;
    const encoded = { type: 'thinking', thinking: 'hm', signature: 'c2ln' };
    for (const family of [{}, { family: 'anthropic-claude-v1' }] as const) {
      const events = responseOf([{ ...block, ...family }]);
      assert.deepEqual(wholeContent(events)[0], encoded);
      assert.deepEqual(streamedContent(events)[0], encoded);
    }
  });

  test('is empty where it is unsigned and nothing else is to be kept', () => {
    const events = responseOf([{ type: 'reasoning', form: 'text', text: 'hm', family: 'unknown' }]);
    assert.deepEqual(wholeContent(events)[0], { type: 'thinking', thinking: 'hm', signature: '' });
  });

  test('comes back under a seal of its own where it looks like one, as a gateway behind this one writes them', () => {
    const inner = seal({ family: 'google-gemini-v1', form: 'encrypted', id: 'call_1' }, 'AA==');
    const events = responseOf([{ type: 'reasoning', form: 'encrypted', text: inner, family: 'anthropic-claude-v1' }]);
    const content = wholeContent(events);
    assert.deepEqual(streamedContent(events), content);
    assert.deepEqual(sentThoughts(nextRequest(content)), [{ type: 'redacted_thinking', data: inner }]);
  });
});

test('whatever stands in a seal, it is read, and nothing of it is lost', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        filled.map((text) => `sealed-v1:${text}`),
      ),
      (text) => {
        const { isSummary, text: inner, ...block } = openSeal(text);
        const form = isSummary ? 'summary' : 'text';
        if (!text.startsWith('sealed-v')) assert.equal(seal({ ...block, form }, inner), text);
      },
    ),
  );
});

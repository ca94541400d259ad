import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { foldEvents } from '../../../canonical/fold.ts';
import { checkEvents } from '../../../../tests/support/wire/event-grammar.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { createStreamDecoder } from './stream.ts';
import {
  callDelta,
  callEnd,
  callsOf,
  callStart,
  citationStart,
  content,
  contentEnd,
  contentStart,
  decodeStream,
  DOCUMENT,
  end,
  FAILED_MIDWAY,
  foldStream,
  plan,
  PLAN_AND_CALLS,
  START,
  stream,
  textOfBlocks,
  THOUGHT_AND_CITED,
  USAGE,
  WITH_LOGPROBS,
} from '../../../../tests/support/wire/cohere/streams.ts';

test('thinking and text are blocks of their own, and the response keeps its id and its end', () => {
  const response = foldStream(THOUGHT_AND_CITED);
  assert.equal(response.format, 'cohere');
  assert.equal(response.id, 'c14c80c3-18eb-4519-9460-6c92edd8cfb4');
  assert.deepEqual(
    response.blocks.map((block) => block.type),
    ['reasoning', 'text'],
  );
  assert.equal(textOfBlocks(response, 'reasoning'), 'The document says it — easily.');
  assert.equal(textOfBlocks(response, 'text'), '🌊 Tides come from the moon.');
  assert.deepEqual(response.end, { type: 'end', finish: 'stop', nativeFinish: 'COMPLETE' });
});

test('decodes thinking as unsigned, so that any model can read it', () => {
  const [thinking] = foldStream(THOUGHT_AND_CITED).blocks;
  assert.ok(thinking?.type === 'reasoning');
  assert.equal(thinking.form, 'text');
  assert.equal(thinking.family, 'unknown');
  assert.equal(thinking.signature, undefined);
});

suite('a citation', () => {
  const [, text] = foldStream(THOUGHT_AND_CITED).blocks;
  assert.ok(text?.type === 'text');

  // @spec translate-30
  test('points at the words that it cites, although the vendor counts characters otherwise', () => {
    const [citation] = text.citations ?? [];
    assert.ok(citation?.type === 'url');
    assert.equal(text.text.slice(citation.start, citation.end), 'moon');
    assert.deepEqual([citation.start, citation.end], [23, 27]);
  });

  test('names its document, whose id stands in for an address', () => {
    const [citation] = text.citations ?? [];
    assert.deepEqual(citation, {
      type: 'url',
      url: 'doc:1',
      title: 'Tides',
      start: 23,
      end: 27,
      excerpt: 'The moon pulls the sea.',
    });
  });

  test('comes once for each of its sources, with the address that a tool gave', () => {
    const tool = { type: 'tool', id: 'search_x:0', tool_output: { url: 'https://a.example/', snippet: 'so' } };
    const response = foldStream([
      START,
      content(0, { text: 'It is so.' }),
      citationStart(0, { start: 6, end: 8, text: 'so', sources: [DOCUMENT, tool] }),
      end('COMPLETE'),
    ]);
    assert.deepEqual(response.blocks[0]?.type === 'text' && response.blocks[0].citations, [
      { type: 'url', url: 'doc:1', title: 'Tides', start: 6, end: 8, excerpt: 'The moon pulls the sea.' },
      { type: 'url', url: 'https://a.example/', start: 6, end: 8, excerpt: 'so' },
    ]);
  });

  test('shows the result that has no words of its own', () => {
    const tool = { type: 'tool', id: 'get_weather_14br:0', tool_output: { temperature: '24°C' } };
    const response = foldStream([
      START,
      content(0, { text: 'It is 24°C.' }),
      citationStart(0, { start: 6, end: 10, text: '24°C', sources: [tool] }),
      end('COMPLETE'),
    ]);
    assert.deepEqual(response.blocks[0]?.type === 'text' && response.blocks[0].citations, [
      { type: 'url', url: 'get_weather_14br:0', start: 6, end: 10, excerpt: '{"temperature":"24°C"}' },
    ]);
  });

  test('counts in the second text from the beginning of the response', () => {
    const response = foldStream([
      START,
      content(0, { text: 'One.' }),
      content(1, { text: ' Two.' }),
      citationStart(0, { start: 1, end: 4, text: 'Two', sources: [DOCUMENT], content_index: 1 }),
      end('COMPLETE'),
    ]);
    const [block] = response.blocks;
    assert.ok(block?.type === 'text' && block.text === 'One. Two.');
    const [citation] = block.citations ?? [];
    assert.ok(citation?.type === 'url');
    assert.equal(block.text.slice(citation.start, citation.end), 'Two');
  });

  test('belongs to the whole response once its text has ended', () => {
    const response = foldStream([
      START,
      content(0, { text: 'So.' }),
      callStart(0, 'a', 'one'),
      citationStart(0, { start: 0, end: 2, text: 'So', sources: [DOCUMENT], content_index: 0 }),
      end('COMPLETE'),
    ]);
    assert.equal(response.citations.length, 1);
  });

  test('is left out of thinking, and noted', () => {
    const response = foldStream([
      START,
      content(0, { thinking: 'Hm, so.' }),
      content(1, { text: 'So.' }),
      citationStart(0, {
        start: 4,
        end: 6,
        text: 'so',
        sources: [DOCUMENT],
        type: 'THINKING_CONTENT',
        content_index: 0,
      }),
      end('COMPLETE'),
    ]);
    assert.equal(response.warnings.length, 1);
    assert.equal(response.blocks[1]?.type === 'text' && response.blocks[1].citations, undefined);
  });

  test('stays closed without a source that has a name', () => {
    const response = foldStream([
      START,
      content(0, { text: 'So.' }),
      citationStart(0, { start: 0, end: 2, text: 'So', sources: [{ type: 'document' }] }),
      end('COMPLETE'),
    ]);
    const [block] = response.blocks;
    assert.equal(block?.type === 'text' && block.citations?.[0]?.type, 'opaque');
  });
});

suite('a tool call', () => {
  test('keeps id, name and the very bytes of its arguments; the plan before it is reasoning', () => {
    const response = foldStream(PLAN_AND_CALLS);
    assert.deepEqual(callsOf(response), ['weather_a1 weather({"city": "Berlin", "days": 1.0})', 'now_b2 now({})']);
    assert.equal(textOfBlocks(response, 'reasoning'), 'I will look up both cities.');
    assert.equal(response.end?.finish, 'tool_calls');
  });

  for (const pieces of [['null'], ['nu', 'll'], ['', ''], [' ']]) {
    test(`has no arguments for ${JSON.stringify(pieces)}`, () => {
      const deltas = pieces.map((piece) => callDelta(0, piece));
      assert.deepEqual(
        callsOf(foldStream([START, callStart(0, 'a', 'now'), ...deltas, callEnd(0), end('TOOL_CALL')])),
        ['a now({})'],
      );
    });
  }

  test('may come beside another that has not ended', () => {
    const response = foldStream([
      START,
      callStart(0, 'a', 'one'),
      callStart(1, 'b', 'two'),
      callDelta(0, '{"x":'),
      callDelta(1, '{"y":'),
      callDelta(0, '1}'),
      callDelta(1, '2}'),
      end('TOOL_CALL'),
    ]);
    assert.deepEqual(callsOf(response), ['a one({"x":1})', 'b two({"y":2})']);
  });

  test('needs no more when its arguments come at its opening', () => {
    const response = foldStream([START, callStart(0, 'a', 'one', '{"x":1}'), callEnd(0), end('TOOL_CALL')]);
    assert.deepEqual(callsOf(response), ['a one({"x":1})']);
  });

  test('gets an id where it has none, and is left out without a name', () => {
    const response = foldStream([START, callStart(0, '', 'one', '{}'), callStart(1, 'b', ''), end('TOOL_CALL')]);
    assert.match(callsOf(response)[0] ?? '', /^call_\w{24} one\(\{\}\)$/);
    assert.equal(response.blocks.length, 1);
    assert.equal(response.warnings.length, 1);
  });

  test('is a call of its own on an index that was used', () => {
    const response = foldStream([
      START,
      callStart(0, 'a', 'one', '{"x":1}'),
      callStart(0, 'b', 'one', '{"x":2}'),
      end('TOOL_CALL'),
    ]);
    assert.deepEqual(callsOf(response), ['a one({"x":1})', 'b one({"x":2})']);
  });

  // @spec translate-26
  test('is what the response ended for, whatever its last word', () => {
    assert.equal(foldStream([START, callStart(0, 'a', 'one'), end('COMPLETE')]).end?.finish, 'tool_calls');
  });

  test('ends when text follows that the upstream sent beside it', () => {
    const response = foldStream([START, callStart(0, 'a', 'one', '{'), content(0, { text: 'So.' }), end('COMPLETE')]);
    assert.deepEqual(
      response.blocks.map((block) => block.type),
      ['tool-call', 'text'],
    );
  });
});

for (const [word, finish] of [
  ['COMPLETE', 'stop'],
  ['STOP_SEQUENCE', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['TOOL_CALL', 'tool_calls'],
  ['ERROR_TOXIC', 'content_filter'],
  ['SOMETHING_NEW', 'stop'],
] as const) {
  test(`${word} means ${finish}`, () => {
    const { end: last } = foldStream([START, content(0, { text: 'x' }), end(word)]);
    assert.deepEqual([last?.finish, last?.nativeFinish], [finish, word]);
  });
}

test('fails a response that ends with an error, and keeps what had come', () => {
  const response = foldStream(FAILED_MIDWAY);
  assert.equal(textOfBlocks(response, 'text'), 'Once upon');
  assert.equal(response.failure?.kind, 'error-event');
  assert.equal(response.failure?.status, 502);
  assert.equal(response.failure?.providerCode, 'ERROR');
  assert.equal(response.failure?.upstreamMessage, 'internal server error');
  assert.equal(response.usage?.promptTokens, 210);
});

test('fails with a timeout a response that took the vendor too long', () => {
  assert.equal(foldStream([START, end('TIMEOUT')]).failure?.errorType, 'timeout');
});

for (const [what, event, status] of [
  ['a named event', 'event: error\ndata: {"message":"boom"}\n\n', 502],
  ['an object without a type', 'data: {"id":"x","message":"internal server error"}\n\n', 502],
  ['a limit', 'data: {"error_type":"TOO_MANY_TOKENS","message":"too many tokens: size limit exceeded"}\n\n', 400],
  ['an error member', 'data: {"error":{"message":"slow down","code":429}}\n\n', 429],
] as const) {
  test(`fails on an error in the stream: ${what}`, () => {
    const { failure } = foldStream([START, content(0, { text: 'x' }), event, content(0, { text: 'y' })]);
    assert.equal(failure?.kind, 'error-event');
    assert.equal(failure?.status, status);
  });
}

test('fails a stream that stops without its end, even after its sentinel', () => {
  assert.equal(foldStream(THOUGHT_AND_CITED.slice(0, -1)).failure?.kind, 'early-end');
  assert.equal(foldEvents(decodeStream(Buffer.alloc(0))).failure?.kind, 'early-end');
});

test('emits the end at once, not when the connection closes', () => {
  const decoder = createStreamDecoder();
  const frames = THOUGHT_AND_CITED.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  const events = decoder.push(Buffer.from(frames));
  assert.equal(events.at(-1)?.type, 'end');
  assert.deepEqual(decoder.end(), []);
});

test('broken and unknown events are left out and noted, after the start', () => {
  const response = foldStream([
    'data: {"type":"content-de\n\n',
    START,
    'data: 17\n\n',
    { type: 'weather-report', index: 0 },
    { type: 'debug', prompt: '<secret>' },
    { type: 'content-delta', index: 0, delta: {} },
    content(0, { type: 'picture' }),
    callDelta(4, '{}'),
    content(0, { text: 'fine' }),
    end('COMPLETE'),
  ]);
  assert.equal(textOfBlocks(response, 'text'), 'fine');
  assert.equal(response.warnings.length, 6);
  assert.ok(response.warnings.every(({ code }) => code === 'event-skipped'));
});

test('bounds the warnings of a flood of broken events', () => {
  const flood = Array.from({ length: 200 }, () => 'data: x\n\n');
  assert.equal(foldStream([START, ...flood, end('COMPLETE')]).warnings.length, 20);
});

test('decodes a stream without its beginning', () => {
  const response = foldStream([content(0, { text: 'x' }), end('COMPLETE')]);
  assert.equal(textOfBlocks(response, 'text'), 'x');
  assert.equal(response.id, undefined);
});

test('empty parts are no blocks', () => {
  const response = foldStream([START, contentStart(0, 'text'), contentEnd(0), plan(''), end('COMPLETE')]);
  assert.deepEqual(response.blocks, []);
  assert.deepEqual(response.warnings, []);
});

test('log probabilities come in the words of the format that callers read them in', () => {
  const [block] = foldStream(WITH_LOGPROBS).blocks;
  assert.deepEqual(block?.extra, {
    format: 'chat',
    fields: {
      choices: {
        logprobs: {
          content: [
            { token: 'Gü', logprob: -0.75, bytes: [71, 195, 188], top_logprobs: [] },
            { token: 'nter', logprob: -1, bytes: [110, 116, 101, 114], top_logprobs: [] },
          ],
        },
      },
    },
  });
});

test('fails on an event larger than the bound, before it fills the memory', () => {
  const decoder = createStreamDecoder();
  const piece = Buffer.alloc(4 * 1024 * 1024, 'x');
  const events = Array.from({ length: 9 }, () => decoder.push(piece)).flat();
  assert.equal(events.at(-1)?.type, 'failed');
});

for (const [name, events] of Object.entries({ THOUGHT_AND_CITED, PLAN_AND_CALLS, FAILED_MIDWAY, WITH_LOGPROBS })) {
  test(`${name} is the same wherever its bytes are cut`, () => {
    const bytes = stream(events);
    const whole = decodeStream(bytes);
    for (let cut = 1; cut < bytes.length; cut++) assert.deepEqual(decodeStream(bytes, [cut]), whole);
    const everywhere = Array.from({ length: bytes.length - 1 }, (_, at) => at + 1);
    assert.deepEqual(decodeStream(bytes, everywhere), whole);
  });
}

test('whatever comes, in whatever order, gives events of the grammar and never throws', () => {
  const known: fc.Arbitrary<JsonObject> = fc.constantFrom(
    ...THOUGHT_AND_CITED,
    ...PLAN_AND_CALLS,
    ...FAILED_MIDWAY,
    ...WITH_LOGPROBS,
  );
  const garbled = fc
    .tuple(fc.constantFrom('content-delta', 'tool-call-start', 'citation-start', 'message-end'), fc.jsonValue())
    .map(([type, delta]) => `data: ${JSON.stringify({ type, delta, index: 0 })}\n\n`);
  const garbage = fc.json().map((text) => `data: ${text}\n\n`);
  fc.assert(
    fc.property(fc.array(fc.oneof(known, garbled, garbage), { maxLength: 30 }), (events) => {
      checkEvents(decodeStream(stream(events)));
    }),
    { numRuns: 500 },
  );
});

test('usage of a response that failed is known', () => {
  assert.deepEqual(foldStream(FAILED_MIDWAY).usage?.billed, { promptTokens: 12, completionTokens: 30 });
  assert.equal(foldStream([START, end('COMPLETE', { usage: USAGE })]).usage?.reasoningTokens, 17);
});

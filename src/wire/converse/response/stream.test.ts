import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { EventBatch } from '../../../canonical/events.ts';
import type { UpstreamFailure } from '../../../canonical/failure/failure.ts';
import { foldEvents } from '../../../canonical/fold.ts';
import { checkEvents } from '../../../../tests/support/wire/event-grammar.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { encodeMessage } from '../../../../tests/support/wire/aws-event-stream.ts';
import { decodeWhole } from './response.ts';
import { ConverseStreamDecoder } from './stream.ts';
import {
  CITED_STREAM,
  delta,
  MESSAGE_START,
  messageStop,
  metadata,
  PARALLEL_STREAM,
  readPieces,
  start,
  stop,
  stream,
  THINKING_STREAM,
  USAGE,
} from '../../../../tests/support/wire/converse/streams.ts';
import type { OwnStream, StreamEvent } from '../../../../tests/support/wire/converse/streams.ts';
import { model } from '../../../../tests/support/wire/converse/request.ts';

const OWN_STREAMS: Readonly<Record<string, OwnStream>> = {
  'one that thinks, speaks and calls': THINKING_STREAM,
  'one that calls several tools at once': PARALLEL_STREAM,
  'one that cites': CITED_STREAM,
};

function read(...given: readonly StreamEvent[]): EventBatch {
  const events = readPieces([stream(...given)]);
  checkEvents(events);
  return events;
}
function failureOf(events: EventBatch): UpstreamFailure {
  const last = events.at(-1);
  assert.equal(last?.type, 'failed');
  return last.failure;
}
function warningsOf(events: EventBatch): readonly string[] {
  return events.flatMap((event) => (event.type === 'warning' ? event.warning.message : []));
}

for (const [name, { events, whole }] of Object.entries(OWN_STREAMS)) {
  const bytes = stream(...events);
  const expected = readPieces([bytes]);

  test(`decodes a stream like the whole response: ${name}`, () => {
    checkEvents(expected);
    const response = decodeWhole(JSON.stringify(whole));
    checkEvents(response);
    assert.deepEqual(foldEvents(expected), foldEvents(response));
    assert.equal(foldEvents(expected).end?.type, 'end');
  });

  test(`decodes the same events from a stream cut at any byte: ${name}`, () => {
    for (let cut = 0; cut <= bytes.length; cut++)
      assert.deepEqual(readPieces([bytes.subarray(0, cut), bytes.subarray(cut)]), expected, `cut at ${cut}`);
    assert.deepEqual(readPieces(Array.from(bytes, (byte) => Uint8Array.of(byte))), expected);
  });

  test(`fails a stream that stops early, whatever came: ${name}`, () => {
    const ended = stream(...events.slice(0, -2)).length;
    for (let cut = 0; cut < ended; cut += 7) {
      const cutOff = readPieces([bytes.subarray(0, cut)]);
      checkEvents(cutOff);
      assert.equal(failureOf(cutOff).kind, 'early-end');
    }
  });
}

test('starts each block with its first delta, and no empty one', () => {
  const events = read(
    MESSAGE_START,
    delta(0, { text: '' }),
    delta(0, { reasoningContent: { text: '' } }),
    stop(0),
    delta(1, { text: 'He' }),
    delta(1, { text: '' }),
    delta(1, { text: 'llo' }),
    stop(1),
    messageStop('end_turn'),
    metadata(),
  );
  assert.deepEqual(
    events.map((event) => event.type),
    ['start', 'block-start', 'block-delta', 'block-delta', 'block-end', 'usage', 'end'],
  );
  assert.deepEqual(foldEvents(events).blocks, [{ type: 'text', text: 'Hello' }]);
});

test('text, reasoning and its signature grow in one block each, also where no block is ever stopped', () => {
  const events = read(
    MESSAGE_START,
    delta(0, { reasoningContent: { text: 'I ' } }),
    delta(0, { reasoningContent: { text: 'see' } }),
    delta(0, { reasoningContent: { signature: 'Eu0' } }),
    delta(0, { reasoningContent: { signature: 'CCk' } }),
    delta(1, { text: 'So.' }),
    messageStop('end_turn'),
    metadata(),
  );
  assert.deepEqual(foldEvents(events).blocks, [
    { type: 'reasoning', form: 'text', text: 'I see', signature: 'Eu0CCk', family: 'anthropic-claude-v1' },
    { type: 'text', text: 'So.' },
  ]);
});

test('reasoning of a model that is no Claude belongs to no family that could take it back', () => {
  const events = [delta(0, { reasoningContent: { text: 'hm' } }), messageStop('end_turn'), metadata()];
  const [block] = foldEvents(readPieces([stream(...events)], model({ reasoning: 'reasoning_effort' }))).blocks;
  assert.deepEqual(block, { type: 'reasoning', form: 'text', text: 'hm', family: 'unknown' });
});

test('redacted reasoning comes in one piece, also where its bytes come in several', () => {
  const data = 'EpAHCoYBGAEiQNHqyJrkm3YPx';
  const pieces = [data.slice(0, 10), data.slice(10, 11), data.slice(11)].map((part) =>
    delta(0, { reasoningContent: { redactedContent: Buffer.from(part).toString('base64') } }),
  );
  const events = read(MESSAGE_START, ...pieces, stop(0), delta(1, { text: 'x' }), messageStop('end_turn'), metadata());
  assert.deepEqual(foldEvents(events).blocks[0], {
    type: 'reasoning',
    form: 'encrypted',
    text: data,
    family: 'anthropic-claude-v1',
  });
});

test('arguments of a call are its pieces, byte for byte, and no piece is an empty object', () => {
  const events = read(
    start(0, { toolUse: { toolUseId: 'a', name: 'f' } }),
    delta(0, { toolUse: { input: '{"n": 1.0, "big"' } }),
    delta(0, { toolUse: { input: ': 12345678901234567890}' } }),
    stop(0),
    start(1, { toolUse: { toolUseId: 'b', name: 'g' } }),
    delta(1, { toolUse: { input: '' } }),
    stop(1),
    messageStop('tool_use'),
    metadata(),
  );
  assert.deepEqual(foldEvents(events).blocks, [
    { type: 'tool-call', id: 'a', name: 'f', input: '{"n": 1.0, "big": 12345678901234567890}', runBy: 'caller' },
    { type: 'tool-call', id: 'b', name: 'g', input: '{}', runBy: 'caller' },
  ]);
});

test('passes a provider-native tool and its result on, but not as a call of the caller', () => {
  const events = read(
    start(0, { toolUse: { toolUseId: 'a', name: 'nova_grounding', type: 'server_tool_use' } }),
    delta(0, { toolUse: { input: '{"q":1}' } }),
    stop(0),
    start(1, { toolResult: { toolUseId: 'a', type: 'nova_grounding_result', status: 'success' } }),
    delta(1, { toolResult: [{ text: 'fo' }] }),
    delta(1, { toolResult: [{ text: 'und' }, { json: { n: 1 } }] }),
    stop(1),
    delta(2, { text: 'It is.' }),
    stop(2),
    messageStop('end_turn'),
    metadata(),
  );
  const { blocks } = foldEvents(events);
  assert.deepEqual(blocks[0], {
    type: 'tool-call',
    id: 'a',
    name: 'nova_grounding',
    input: '{"q":1}',
    runBy: 'upstream',
  });
  const result = {
    toolUseId: 'a',
    type: 'nova_grounding_result',
    status: 'success',
    content: [{ text: 'found' }, { json: { n: 1 } }],
  };
  assert.deepEqual(blocks[1], { type: 'opaque', format: 'converse', value: { toolResult: result } });
  assert.equal(blocks.length, 3);
});

test('decodes an image in one piece', () => {
  const png = Buffer.from('89504e470d0a1a0a00', 'hex');
  const events = read(
    start(0, { image: { format: 'png' } }),
    ...[png.subarray(0, 4), png.subarray(4)].map((part) =>
      delta(0, { image: { source: { bytes: part.toString('base64') } } }),
    ),
    stop(0),
    messageStop('end_turn'),
    metadata(),
  );
  assert.deepEqual(foldEvents(events).blocks, [
    {
      type: 'media',
      media: 'image',
      source: { type: 'base64', mediaType: 'image/png', data: png.toString('base64') },
    },
  ]);
});

test('emits the end with the counts, or without them when the stream is over', () => {
  const decoder = new ConverseStreamDecoder();
  const types = (events: EventBatch): readonly string[] => events.map(({ type }) => type);
  assert.deepEqual(types(decoder.push(stream(delta(0, { text: 'x' }), messageStop('max_tokens')))), [
    'start',
    'block-start',
    'block-delta',
    'block-end',
  ]);
  assert.deepEqual(types(decoder.push(stream(metadata()))), ['usage', 'end']);
  assert.deepEqual(decoder.end(), []);
  const uncounted = read(delta(0, { text: 'x' }), messageStop('end_turn'));
  assert.deepEqual(types(uncounted).slice(-2), ['block-end', 'end']);
  const early = read(delta(0, { text: 'x' }), metadata(), messageStop('end_turn'));
  assert.equal(foldEvents(early).usage?.promptTokens, USAGE.inputTokens);
  assert.equal(early.at(-1)?.type, 'end');
});

test('passes the findings of a guardrail and the service tier through', () => {
  const trace: JsonObject = { guardrail: { actionReason: 'Guardrail blocked.' } };
  const events = read(
    delta(0, { text: 'No.' }),
    messageStop('guardrail_intervened'),
    metadata({ trace, performanceConfig: { latency: 'optimized' }, serviceTier: { type: 'flex' } }),
  );
  const { end, usage } = foldEvents(events);
  assert.equal(usage?.serviceTier, 'flex');
  assert.ok(end?.type === 'end');
  assert.deepEqual([end.finish, end.nativeFinish], ['content_filter', 'guardrail_intervened']);
  assert.deepEqual(
    events.find((event) => event.type === 'extra'),
    { type: 'extra', extra: { format: 'converse', fields: { trace, performanceConfig: { latency: 'optimized' } } } },
  );
});

test('gives an exception in the stream the status that it would have as a response', () => {
  const statuses: readonly (readonly [string, number])[] = [
    ['throttlingException', 429],
    ['modelStreamErrorException', 424],
    ['serviceUnavailableException', 503],
    ['internalServerException', 500],
    ['validationException', 400],
    ['somethingNewException', 500],
  ];
  for (const [type, status] of statuses) {
    const message = { message: 'The upstream’s words' };
    const events = read(MESSAGE_START, delta(0, { text: 'x' }), [type, message], delta(0, { text: 'late' }));
    const failure = failureOf(events);
    assert.deepEqual([failure.kind, failure.upstreamStatus], ['error-event', status], type);
    assert.equal(failure.upstreamMessage, message.message);
  }
});

test('decodes an error of the framing itself from its headers', () => {
  const frame = encodeMessage(
    { ':message-type': 'error', ':error-code': 'ThrottlingException', ':error-message': 'Too fast' },
    '',
  );
  const failure = failureOf(readPieces([frame]));
  assert.deepEqual([failure.upstreamStatus, failure.upstreamMessage], [429, 'Too fast']);
});

test('bytes that are no frames fail as garbage, and a frame beyond all bounds as too large', () => {
  const good = stream(MESSAGE_START, delta(0, { text: 'x' }));
  const bad = Buffer.from(good);
  bad[bad.length - 3] = (bad[bad.length - 3] ?? 0) ^ 1;
  assert.equal(failureOf(readPieces([bad])).kind, 'garbage');
  assert.equal(failureOf(readPieces([Buffer.from('<html>502 Bad Gateway, and more of it</html>')])).kind, 'garbage');
  const huge = encodeMessage({}, Buffer.alloc(16 * 1024 * 1024));
  assert.equal(failureOf(readPieces([good, huge])).kind, 'too-large');
});

test('skips unknown events with a warning, and decodes the rest', () => {
  const events = read(
    ['messageStart', '[1]'],
    ['contentBlockDelta', '{"contentBlockIndex":0,'],
    ['blockOfTheFuture', { a: 1 }],
    start(0, { hologram: {} }),
    delta(0, { hologram: {} }),
    delta(1, { toolUse: { input: '{}' } }),
    delta(2, { image: { source: { bytes: 'AA==' } } }),
    delta(3, { text: 'on' }),
    messageStop('end_turn'),
    metadata(),
  );
  assert.deepEqual(foldEvents(events).blocks, [{ type: 'text', text: 'on' }]);
  assert.equal(warningsOf(events).length, 7);
  const noisy = read(
    ...Array.from({ length: 500 }, (): StreamEvent => ['noise', {}]),
    messageStop('end_turn'),
    metadata(),
  );
  assert.ok(warningsOf(noisy).length < 50);
});

const wild = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...Object.values(OWN_STREAMS).flatMap(({ events }) => events)) },
  fc.tuple(
    fc.constantFrom('contentBlockStart', 'contentBlockDelta', 'contentBlockStop', 'messageStop', 'metadata', 'x'),
    fc.oneof(
      fc.json(),
      fc.jsonValue().map((value) => JSON.stringify({ contentBlockIndex: 0, delta: value, start: value, usage: value })),
    ),
  ),
);

test('keeps the grammar for any order of events and any content', () => {
  fc.assert(
    fc.property(fc.array(wild, { maxLength: 12 }), (events) => {
      const bytes = stream(...events);
      const whole = readPieces([bytes]);
      checkEvents(whole);
      assert.deepEqual(readPieces([bytes.subarray(0, 20), bytes.subarray(20)]), whole);
    }),
  );
});

test('keeps the grammar for any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat({ max: 400 }), (garbage, at) => {
      const good = stream(...THINKING_STREAM.events);
      checkEvents(readPieces([garbage]));
      checkEvents(readPieces([good.subarray(0, at), garbage, good.subarray(at)]));
    }),
  );
});

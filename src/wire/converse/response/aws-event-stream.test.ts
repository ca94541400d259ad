import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import * as fc from 'fast-check';
import { createEventStreamParser } from './aws-event-stream.ts';
import type { EventStreamFault } from './aws-event-stream.ts';
import { encodeMessage, encodeRawMessage } from '../../../../tests/support/wire/aws-event-stream.ts';

interface Seen {
  readonly messages: readonly { readonly headers: Readonly<Record<string, string>>; readonly text: string }[];
  readonly fault: EventStreamFault | undefined;
}

function read(pieces: readonly Uint8Array[], messageBytesMax?: number): Seen {
  const messages: Seen['messages'][number][] = [];
  const parser = createEventStreamParser({
    onMessage: ({ headers, payload }) =>
      messages.push({ headers: Object.fromEntries(headers), text: Buffer.from(payload).toString() }),
    ...(messageBytesMax !== undefined && { messageBytesMax }),
  });
  let fault: EventStreamFault | undefined;
  for (const piece of pieces) fault = parser.push(piece);
  return { messages, fault };
}

const EVENT = { ':event-type': 'contentBlockDelta', ':message-type': 'event' };
const TWO = Buffer.concat([encodeMessage(EVENT, '{"text":"Grüße 👋"}'), encodeMessage({ a: 'é' }, '')]);

test('messages come with their headers and their payload', () => {
  assert.deepEqual(read([TWO]), {
    messages: [
      { headers: EVENT, text: '{"text":"Grüße 👋"}' },
      { headers: { a: 'é' }, text: '' },
    ],
    fault: undefined,
  });
});

test('parses the message of the published example', () => {
  // Smithy "Amazon event stream specification", a message without headers and payload.
  const empty = Buffer.from('000000100000000005c248eb7d98c8ff', 'hex');
  assert.deepEqual(encodeRawMessage(Buffer.alloc(0), Buffer.alloc(0)), empty);
  assert.deepEqual(read([empty]), { messages: [{ headers: {}, text: '' }], fault: undefined });
});

test('parses the same messages after any two cuts of the bytes', () => {
  const whole = read([TWO]);
  for (let first = 0; first <= TWO.length; first++)
    for (const second of [first, first + 1, first + 13, TWO.length])
      assert.deepEqual(read([TWO.subarray(0, first), TWO.subarray(first, second), TWO.subarray(second)]), whole);
  assert.deepEqual(read(Array.from(TWO, (byte) => Uint8Array.of(byte))), whole);
});

test('bytes that a later read overwrites were copied', () => {
  const seen: string[] = [];
  const parser = createEventStreamParser({ onMessage: ({ payload }) => seen.push(Buffer.from(payload).toString()) });
  const buffer = Buffer.alloc(1);
  for (const byte of encodeMessage({}, 'kept')) {
    buffer[0] = byte;
    parser.push(buffer);
  }
  assert.deepEqual(seen, ['kept']);
});

test('detects any changed byte of a message, and parses nothing after it', () => {
  for (let at = 0; at < TWO.length; at++) {
    const broken = Buffer.from(TWO);
    broken[at] = (broken[at] ?? 0) ^ 0x20;
    const { messages, fault } = read([Buffer.concat([broken, TWO])]);
    assert.equal(fault, 'corrupt', `byte ${at}`);
    assert.ok(messages.length < 2, `byte ${at}`);
  }
});

test('keeps a fault', () => {
  const parser = createEventStreamParser({ onMessage: () => assert.fail('nothing can be read any more') });
  assert.equal(parser.push(Buffer.alloc(12)), 'corrupt');
  assert.equal(parser.push(TWO), 'corrupt');
});

test('refuses a message over the limit before its bytes come', () => {
  const message = encodeMessage({}, 'x'.repeat(100));
  assert.equal(read([message], message.length).fault, undefined);
  assert.equal(read([message.subarray(0, 12)], message.length - 1).fault, 'too-large');
});

test('lengths that cannot be are refused, although their checksums are right', () => {
  for (const headerBytes of [1, 5, 0xffff_ffff]) {
    const message = encodeRawMessage(Buffer.alloc(0), Buffer.alloc(0));
    message.writeUInt32BE(headerBytes, 4);
    const sealed = reseal(message);
    assert.equal(read([sealed]).fault, 'corrupt');
  }
  for (const length of [0, 4, 12, 15]) {
    const message = encodeRawMessage(Buffer.alloc(0), Buffer.alloc(0));
    message.writeUInt32BE(length, 0);
    assert.equal(read([reseal(message)]).fault, 'corrupt');
  }
});

test('headers of every other type are passed over', () => {
  const name = (type: number): number[] => [1, 0x78, type];
  const others = [
    [...name(0)],
    [...name(1)],
    [...name(2), 1],
    [...name(3), 1, 2],
    [...name(4), 1, 2, 3, 4],
    [...name(5), 1, 2, 3, 4, 5, 6, 7, 8],
    [...name(6), 0, 2, 9, 9],
    [...name(8), 1, 2, 3, 4, 5, 6, 7, 8],
    [...name(9), ...Array.from({ length: 16 }, () => 7)],
  ].flat();
  const last = [1, 0x79, 7, 0, 2, 0x6f, 0x6b];
  const message = encodeRawMessage(Buffer.from([...others, ...last]), Buffer.from('p'));
  assert.deepEqual(read([message]), { messages: [{ headers: { y: 'ok' }, text: 'p' }], fault: undefined });
});

test('headers that run over their end are corrupt', () => {
  for (const headers of [
    [5],
    [1, 0x78],
    [1, 0x78, 7],
    [1, 0x78, 7, 0],
    [1, 0x78, 7, 0, 9, 1],
    [1, 0x78, 10],
    [0, 4, 1],
  ])
    assert.equal(read([encodeRawMessage(Buffer.from(headers), Buffer.alloc(0))]).fault, 'corrupt', String(headers));
});

test('whatever the messages and the cuts, they come out as they were', () => {
  const header = fc.dictionary(fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme-ascii' }), fc.string(), {
    maxKeys: 4,
    noNullPrototype: true,
  });
  const message = fc.record(
    { headers: header, text: fc.string({ unit: 'grapheme', maxLength: 60 }) },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(fc.array(message, { maxLength: 4 }), fc.array(fc.nat(), { maxLength: 6 }), (messages, cuts) => {
      const bytes = Buffer.concat(messages.map(({ headers, text }) => encodeMessage(headers, text)));
      const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
      const pieces = places.map((place, at) => bytes.subarray(place, places[at + 1] ?? bytes.length));
      assert.deepEqual(read(pieces), { messages, fault: undefined });
    }),
  );
});

test('garbage never throws', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void read([bytes])));
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (headers) => void read([encodeRawMessage(headers, Buffer.alloc(3))])),
  );
});

/** Right checksums for whatever the lengths say. */
function reseal(message: Buffer): Buffer {
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8);
  message.writeUInt32BE(crc32(message.subarray(0, -4)), message.length - 4);
  return message;
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createSseParser } from './sse.ts';

type Seen = [data: string, event: string | undefined];

function parse(chunks: readonly Uint8Array[], eventBytesMax?: number): Seen[] {
  const seen: Seen[] = [];
  const parser = createSseParser({
    onEvent: (data, event) => seen.push([data, event]),
    ...(eventBytesMax !== undefined && { eventBytesMax }),
  });
  for (const chunk of chunks) parser.push(chunk);
  parser.end();
  return seen;
}

const bytes = (text: string): Buffer => Buffer.from(text, 'utf8');

test('joins the data lines of an event, and keeps its name', () => {
  assert.deepEqual(parse([bytes('event: a\ndata: 1\ndata:2\nid: 7\n\ndata: x\n\n')]), [
    ['1\n2', 'a'],
    ['x', undefined],
  ]);
});

test('drops comments, also those that an upstream wrapped into data', () => {
  assert.deepEqual(parse([bytes(': PROCESSING\n\ndata: : keepalive\n\ndata: x\n\n')]), [['x', undefined]]);
});

test('drops an event name without data, also for the next event', () => {
  assert.deepEqual(parse([bytes('event: ping\n\ndata: x\n\n')]), [['x', undefined]]);
});

test('removes a byte order mark from the first line', () => {
  assert.deepEqual(parse([bytes('\uFEFFdata: x\n\n')]), [['x', undefined]]);
});

test('returns the last event without its blank line', () => {
  assert.deepEqual(parse([bytes('data: x\n\ndata: [DONE]')]), [
    ['x', undefined],
    ['[DONE]', undefined],
  ]);
});

for (const [name, end] of [
  ['LF', '\n'],
  ['CRLF', '\r\n'],
  ['CR', '\r'],
] as const) {
  test(`parses a stream with ${name} line ends alike, cut at every byte offset`, () => {
    const whole = bytes(`\uFEFFevent: a${end}data: é😀 1${end}data: 2${end}${end}: c${end}${end}data: "ß"${end}${end}`);
    const expected: Seen[] = [
      ['é😀 1\n2', 'a'],
      ['"ß"', undefined],
    ];
    for (let cut = 0; cut <= whole.length; cut++)
      assert.deepEqual(parse([whole.subarray(0, cut), whole.subarray(cut)]), expected, `cut at ${cut}`);
  });
}

test('parses a stream alike, however it is cut', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.string({ unit: 'binary' }).map((text) => text.replace(/[\r\n]/g, ' ')),
        { maxLength: 6 },
      ),
      fc.array(fc.nat(40), { maxLength: 40 }),
      fc.constantFrom('\n', '\r\n', '\r'),
      (texts, sizes, end) => {
        const whole = bytes(texts.map((text) => `data: ${JSON.stringify(text)}${end}${end}`).join(''));
        const chunks: Buffer[] = [];
        let from = 0;
        for (const size of sizes) {
          chunks.push(whole.subarray(from, from + size));
          from += size;
        }
        chunks.push(whole.subarray(from));
        assert.deepEqual(parse(chunks), parse([whole]));
        assert.equal(parse([whole]).length, texts.length);
      },
    ),
  );
});

test('refuses an event over the limit, in one line or in many', () => {
  assert.throws(() => parse([bytes('data: '), bytes('x'.repeat(100))], 64), RangeError);
  assert.throws(
    () =>
      parse(
        Array.from({ length: 20 }, () => bytes('data: 12345\n')),
        64,
      ),
    RangeError,
  );
});

test('accepts many small events in one read', () => {
  assert.equal(parse([bytes('data: 12345\n\n'.repeat(50))], 64).length, 50);
});

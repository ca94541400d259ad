import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SseBytes } from './sse-bytes.ts';

const STREAM = ': hello\r\n\r\nevent: a\r\ndata: {"x":\r\ndata: 1}\r\n\r\ndata:second\n\nid: 3\n\ndata: last';

function read(text: string, step: number): readonly string[] {
  const parser = new SseBytes(1_000);
  const bytes = Buffer.from(text);
  const events: Buffer[] = [];
  for (let from = 0; from < bytes.length; from += step) events.push(...parser.push(bytes.subarray(from, from + step)));
  events.push(...parser.end());
  return events.map(String);
}

test('gives the data of events as bytes, however they are cut', () => {
  for (let step = 1; step <= STREAM.length; step++)
    assert.deepEqual(read(STREAM, step), ['{"x":\n1}', 'second', 'last'], `in pieces of ${step}`);
});

test('refuses an event over its limit, and counts each event anew', () => {
  const parser = new SseBytes(100);
  for (let at = 0; at < 10; at++) assert.equal(parser.push(Buffer.from(`data: ${'x'.repeat(80)}\n\n`)).length, 1);
  assert.equal(parser.heldBytes, 0);
  parser.push(Buffer.from(`data: ${'x'.repeat(60)}`));
  assert.equal(parser.heldBytes, 66);
  assert.throws(() => parser.push(Buffer.from('x'.repeat(60))), RangeError);
});

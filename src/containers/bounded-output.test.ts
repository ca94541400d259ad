import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBoundedOutput } from './bounded-output.ts';

// @spec container-8
test('keeps the beginning and the end of a stream, and says how much is left out', () => {
  const output = createBoundedOutput(10);
  for (const piece of ['abc', 'defgh', 'ijk', 'lmnopqrstuvwxyz']) assert.equal(output.take(Buffer.from(piece)), true);
  assert.equal(output.text(), 'abcde\n[... 16 bytes left out ...]\nvwxyz');
});

test('keeps what fits as it is, and cuts no character into something that is no text', () => {
  const short = createBoundedOutput(10);
  short.take(Buffer.from('0123456789'));
  assert.equal(short.text(), '0123456789');
  const one = createBoundedOutput(1);
  one.take(Buffer.from('xyz'));
  assert.equal(one.text(), 'x\n[... 2 bytes left out ...]\n');
  const cut = createBoundedOutput(2);
  cut.take(Buffer.from('üü'));
  assert.ok(cut.text().isWellFormed());
});

// @spec container-8
test('ends what writes without end, and holds no more of it than its bound', () => {
  const output = createBoundedOutput(100);
  const piece = Buffer.alloc(1_048_576, 'y');
  let pieces = 0;
  while (output.take(piece)) pieces++;
  assert.equal(pieces, 8);
  assert.ok(output.text().length < 200);
});

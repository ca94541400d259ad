import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PieceQueue } from './piece-queue.ts';

const pieces = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 20 });

test('gives every byte once and in order, however it is taken and compacted', () => {
  fc.assert(
    fc.property(pieces, fc.integer({ min: 1, max: 60 }), fc.boolean(), (all, bytesMax, compacts) => {
      const queue = new PieceQueue();
      for (const piece of all) queue.push(piece);
      if (compacts) queue.compact();
      const taken: Uint8Array[] = [];
      while (queue.bytes > 0) {
        const before = queue.bytes;
        const piece = queue.take(bytesMax);
        assert.ok(piece.length > 0 && piece.length <= bytesMax);
        assert.equal(queue.bytes, before - piece.length);
        taken.push(piece);
      }
      assert.deepEqual(Buffer.concat(taken), Buffer.concat(all));
    }),
  );
});

test('keeps no more than its bytes once it is compacted', () => {
  const socketRead = Buffer.alloc(65_536, 'x');
  const queue = new PieceQueue();
  for (let at = 0; at < 2_000; at += 1_000) queue.push(socketRead.subarray(at, at + 1_000));
  queue.compact();
  assert.notEqual(queue.take(16_384).buffer, socketRead.buffer);
});

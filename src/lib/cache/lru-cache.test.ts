import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLruCache } from './lru-cache.ts';

test('drops the least recently used entry beyond the bound', () => {
  const cache = createLruCache<string, number>(2);
  cache.set('a', 1);
  cache.set('b', 2);
  assert.equal(cache.get('a'), 1);
  cache.set('c', 3);
  assert.deepEqual(
    ['a', 'b', 'c'].map((key) => cache.peek(key)),
    [1, undefined, 3],
  );
  cache.set('c', 4);
  assert.equal(cache.size, 2);
});

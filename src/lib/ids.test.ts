import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newGenerationId } from './ids.ts';

test('the ids of generations sort by the millisecond they were made in', () => {
  const madeMs = [1_795_253_716_000, 1_795_253_716_001, 1_795_253_716_999, 1_795_253_717_000];
  for (let round = 0; round < 100; round++) {
    const ids = madeMs.map(newGenerationId);
    assert.deepEqual(ids.toSorted(), ids);
  }
});

test('two generations of one millisecond have different ids', () => {
  const ids = Array.from({ length: 10_000 }, () => newGenerationId(1_795_253_716_000));
  assert.equal(new Set(ids).size, ids.length);
});

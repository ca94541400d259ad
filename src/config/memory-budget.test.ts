import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findMemoryLimit } from './memory-limit.ts';
import { budgetMemory, CONNECTION_BYTES, IDLE_BYTES, RECALL_MB_MAX } from './memory-budget.ts';

const MB = 1_048_576;

// @spec operation-10
test('fits all shares together into the limit', () => {
  for (const limitMb of [512, 1_024, 1_536, 4_096, 65_536]) {
    const { limitBytes, connections, recallPart, ...shares } = budgetMemory(limitMb * MB);
    assert.equal(limitBytes, limitMb * MB);
    const sum =
      Object.values(shares).reduce((total, bytes) => total + bytes, 0) +
      connections * CONNECTION_BYTES +
      recallPart * RECALL_MB_MAX * MB;
    assert.ok(IDLE_BYTES + sum <= limitBytes, `${limitMb} MB: ${Math.round(sum / MB)} MB of shares`);
    assert.ok(connections >= 900, `${limitMb} MB: ${connections} connections`);
  }
});

test('gives every share something where the limit is too small', () => {
  for (const share of Object.values(budgetMemory(1 * MB))) assert.ok(share > 0);
});

test('stops to grow with a large limit', () => {
  const { limitBytes: _large, ...large } = budgetMemory(64_000 * MB);
  const { limitBytes: _larger, ...larger } = budgetMemory(128_000 * MB);
  assert.deepEqual(larger, large);
});

test('finds a limit on every machine', () => {
  assert.ok(findMemoryLimit() > 64 * MB);
  assert.ok(Number.isFinite(findMemoryLimit()));
});

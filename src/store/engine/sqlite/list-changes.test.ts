import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeChanges, encodeChanges, type Changes } from './list-changes.ts';

test('restores lists that were sent as their differences', () => {
  const value = fc.oneof(fc.constantFrom('a', '', 'é', 0, 1, null), fc.string(), fc.integer());
  fc.assert(
    fc.property(fc.array(fc.array(value, { maxLength: 6 })), (lists) => {
      const sent = lists.map((list, index) => encodeChanges(lists[index - 1] ?? [], list));
      const arrived: readonly Changes[] = JSON.parse(JSON.stringify(sent));
      let before: readonly (string | number | null)[] = [];
      const read = arrived.map((changes) => (before = decodeChanges(before, changes)));
      assert.deepEqual(read, lists);
    }),
  );
});

test('does not send what a list has in common with the one before', () => {
  assert.deepEqual(encodeChanges(['a', 1, null], ['a', 2, null]), [3, 1, 2]);
  assert.deepEqual(encodeChanges(['a', 1], ['a']), [1]);
});

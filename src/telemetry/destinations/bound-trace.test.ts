import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundTrace } from './bound-trace.ts';

// @spec destination-31
test('hides what looks like a key in the trace of a caller, but for its ids', () => {
  const key = 'sk-live-0123456789abcdef';
  const bound = boundTrace({
    trace_id: 'key-2026-11-28-0001',
    parent_span_id: 'key-2026-11-28-0002',
    generation_name: `with ${key}`,
    note: `Bearer abcdef and ${key}`,
    deep: { list: [{ header: key }] },
    [`my ${key}`]: 'kept',
    plain: 'keyboard',
  });
  assert.ok(!JSON.stringify(bound).includes(key), JSON.stringify(bound));
  assert.deepEqual(
    [bound['trace_id'], bound['parent_span_id'], bound['plain'], bound['note']],
    ['key-2026-11-28-0001', 'key-2026-11-28-0002', 'keyboard', '[redacted] and [redacted]'],
  );
  assert.equal(Object.values(bound).includes('kept'), true);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRequestsSearch, parseTyped } from './search.ts';

test('reads typed filters as parameters of the address', () => {
  assert.deepEqual(parseTyped('status:error model:acme/* cost>0.01 session:cart-17'), {
    status: 'error',
    model: 'acme/*',
    min_cost: '0.01',
    session: 'cart-17',
  });
  assert.deepEqual(parseTyped('429 claude'), { status: '429', model: 'claude*' });
  assert.deepEqual(parseTyped('ttft>=500 req-abcdef'), { min_ttft: '500', request_id: 'req-abcdef' });
});

test('keeps filters in the order of the API, and leaves out empty ones', () => {
  const { filters, range } = parseRequestsSearch({ model: 'acme/one', status: 'error', key: '', range: 'never' });
  assert.deepEqual(filters, [
    { name: 'status', value: 'error' },
    { name: 'model', value: 'acme/one' },
  ]);
  assert.equal(range, '1h');
  assert.equal(parseRequestsSearch({ tail: 'true' }).isTailing, true);
});

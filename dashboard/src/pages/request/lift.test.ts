import assert from 'node:assert/strict';
import { test } from 'node:test';
import { liftOf } from './lift.ts';

const ENDPOINT = {
  provider: 'Beta',
  tag: 'beta',
  model: 'acme/one',
  upstream_model: 'one',
  outcome: 'excluded',
  order: null,
  reason: null,
  lacks: null,
  demoted_by: null,
  rest_ms: null,
  price: { prompt: 1, completion: 2 },
} as const;

test('names the members that let an endpoint serve', () => {
  assert.deepEqual(liftOf({ ...ENDPOINT, reason: 'max_price' })?.change, {
    provider: { max_price: { prompt: 1, completion: 2 } },
  });
  assert.deepEqual(liftOf({ ...ENDPOINT, tag: 'beta/fp8', reason: 'allowed_providers' })?.change, {
    provider: { only: ['beta'] },
  });
  assert.match(liftOf({ ...ENDPOINT, reason: 'parameter_value', lacks: 'seed' })?.words ?? '', /Leave out seed/);
});

test('promises nothing where the request cannot change it', () => {
  assert.equal(liftOf({ ...ENDPOINT, reason: 'guardrail:zdr' })?.change, undefined);
  assert.equal(liftOf({ ...ENDPOINT, reason: 'max_price', price: null })?.change, undefined);
  assert.equal(liftOf(ENDPOINT), undefined);
});

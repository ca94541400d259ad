import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canFilterLive, COUNTS_ALONE, filtersOfStream, fitsFilters } from './filters.ts';
import type { LiveRow } from './messages.ts';

const PARTS: unknown = {
  model: 'acme/one',
  requested_model: 'one',
  status: 429,
  cancelled: false,
  total_cost: null,
  latency: 120,
  warnings: 1,
  is_cached: false,
};

function isRow(value: unknown): value is LiveRow {
  return typeof value === 'object';
}

function fits(filters: Readonly<Record<string, string>>): boolean {
  assert.ok(isRow(PARTS));
  return fitsFilters(PARTS, filters);
}

test('judges a row as the list does', () => {
  for (const filters of [
    {},
    { model: 'acme/*' },
    { status: 'error', warned: 'true' },
    { status: '4xx', min_ms: '100' },
  ])
    assert.equal(fits(filters), true, JSON.stringify(filters));
  for (const filters of [
    { model: 'acme/o' },
    { status: '2xx' },
    { cached: 'true' },
    { min_cost: '0' },
    { min_ms: '200' },
  ])
    assert.equal(fits(filters), false, JSON.stringify(filters));
});

test('knows which filters no row can be judged by', () => {
  assert.equal(canFilterLive({ model: 'a', status: 'error' }), true);
  assert.equal(canFilterLive({ country: 'DE' }), false);
});

test('asks the gateway for what all pages want, and for everything where they differ', () => {
  const errors = { status: 'error', model: 'acme/*' };
  assert.equal(filtersOfStream([errors, { model: 'acme/*', status: 'error' }]), '?model=acme%2F*&status=error');
  assert.equal(filtersOfStream([errors, COUNTS_ALONE]), '?model=acme%2F*&status=error');
  assert.equal(filtersOfStream([errors, { key: 'k' }]), '');
  assert.equal(filtersOfStream([{}, errors]), '');
  assert.equal(filtersOfStream([COUNTS_ALONE]), '?status=100');
});

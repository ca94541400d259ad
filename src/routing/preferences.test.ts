import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { DEFAULT_PREFERENCES, type ProviderPreferences } from '../canonical/directives.ts';
import { withDefaults } from './preferences.ts';

function merged(requested: Partial<ProviderPreferences>, defaults: Partial<ProviderPreferences>): ProviderPreferences {
  return withDefaults({ ...DEFAULT_PREFERENCES, ...requested }, defaults);
}

suite("the operator's preferences below the caller's", () => {
  // @spec route-4
  test('intersects allow lists, in any case, down to a part of a provider', () => {
    assert.deepEqual(merged({}, { only: ['a'] }).only, ['a']);
    assert.deepEqual(merged({ only: ['b', 'A'] }, { only: ['a', 'c'] }).only, ['A']);
    assert.deepEqual(merged({ only: ['vertex/eu', 'b'] }, { only: ['vertex'] }).only, ['vertex/eu']);
    assert.deepEqual(merged({ only: ['vertex'] }, { only: ['vertex/eu'] }).only, ['vertex/eu']);
    assert.deepEqual(merged({ only: ['b'] }, { only: ['a'] }).only, []);
  });

  // @spec route-5
  test('unites deny lists', () => {
    assert.deepEqual(merged({ ignore: ['b'] }, { ignore: ['a'] }).ignore, ['a', 'b']);
    assert.deepEqual(merged({}, { ignore: ['a'] }).ignore, ['a']);
  });

  // @spec route-10
  test('applies the stricter data policy of all layers', () => {
    assert.equal(merged({ dataCollection: 'allow' }, { dataCollection: 'deny' }).dataCollection, 'deny');
    assert.equal(merged({ dataCollection: 'deny' }, { dataCollection: 'allow' }).dataCollection, 'deny');
    assert.equal(merged({}, {}).dataCollection, 'allow');
    assert.equal(merged({ zdr: false }, { zdr: true }).zdr, true);
    assert.equal(merged({ zdr: true }, { zdr: false }).zdr, true);
  });

  // @spec route-42
  test("uses the operator's order and sort unless the caller has either", () => {
    assert.deepEqual(merged({}, { order: ['a'], sort: { by: 'price' } }).order, ['a']);
    assert.deepEqual(merged({ order: ['b'] }, { order: ['a'] }).order, ['b']);
    assert.equal(merged({ sort: { by: 'latency' } }, { order: ['a'] }).order, undefined);
    assert.equal(merged({ order: ['b'] }, { sort: { by: 'price' } }).sort, undefined);
    assert.deepEqual(merged({ sort: { partition: 'none' } }, { sort: { by: 'price' } }).sort, {
      by: 'price',
      partition: 'none',
    });
  });
});

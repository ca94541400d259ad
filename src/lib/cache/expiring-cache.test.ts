import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { ExpiringCache } from './expiring-cache.ts';

const LIMITS = { entriesMax: 3, bytesMax: 10_000, lifetimeMs: 100 };

suite('expiring cache', () => {
  test('returns what was set, and nothing else', () => {
    const cache = new ExpiringCache<string>(LIMITS, () => 0);
    cache.set('a', 'one', 3);
    cache.set('a', 'two', 3);
    assert.equal(cache.get('a'), 'two');
    assert.equal(cache.get('b'), undefined);
    assert.equal(cache.size, 1);
  });

  test('drops the least recently used entries beyond the bound on entries', () => {
    const cache = new ExpiringCache<number>(LIMITS, () => 0);
    for (const [at, key] of ['a', 'b', 'c'].entries()) cache.set(key, at, 1);
    assert.equal(cache.get('a'), 0);
    cache.set('d', 3, 1);
    assert.deepEqual(
      ['a', 'b', 'c', 'd'].map((key) => cache.get(key)),
      [0, undefined, 2, 3],
    );
  });

  test('drops the least recently used entries beyond the bound on bytes, and refuses a value that alone exceeds it', () => {
    const cache = new ExpiringCache<number>(LIMITS, () => 0);
    cache.set('a', 1, 6_000);
    cache.set('b', 2, 6_000);
    assert.equal(cache.get('a'), undefined);
    cache.set('c', 3, 20_000);
    assert.deepEqual([cache.get('b'), cache.get('c')], [2, undefined]);
  });

  test('drops an entry that was not used in its lifetime, and frees its memory with the next entry', () => {
    let nowMs = 0;
    const cache = new ExpiringCache<number>(LIMITS, () => nowMs);
    cache.set('a', 1, 1);
    cache.set('b', 2, 1);
    nowMs = 60;
    assert.equal(cache.get('b'), 2);
    nowMs = 110;
    assert.deepEqual([cache.get('a'), cache.get('b')], [undefined, 2]);
    nowMs = 300;
    cache.set('c', 3, 1);
    assert.equal(cache.size, 1);
  });

  test('expires an entry with a life of its own, used or not, and never after the lifetime', () => {
    let nowMs = 0;
    const cache = new ExpiringCache<number>(LIMITS, () => nowMs);
    cache.set('short', 1, 1, 50);
    cache.set('long', 2, 1, 1_000);
    nowMs = 49;
    assert.deepEqual([cache.get('short'), cache.get('long')], [1, 2]);
    nowMs = 50;
    assert.deepEqual([cache.get('short'), cache.get('long')], [undefined, 2]);
    nowMs = 100;
    assert.equal(cache.get('long'), undefined);
  });

  test('does not count a peek as use', () => {
    let nowMs = 0;
    const cache = new ExpiringCache<number>(LIMITS, () => nowMs);
    cache.set('a', 1, 1);
    nowMs = 60;
    assert.deepEqual([cache.peek('a'), cache.peek('b')], [1, undefined]);
    nowMs = 100;
    assert.equal(cache.peek('a'), undefined);
  });

  test('stays within its bounds and counts its bytes under any sequence of calls', () => {
    const step = fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd', 'e'), bytes: fc.nat(5_000), waitMs: fc.nat(80) });
    fc.assert(
      fc.property(fc.array(fc.record({ step, isGet: fc.boolean() }), { maxLength: 60 }), (steps) => {
        let nowMs = 0;
        const cache = new ExpiringCache<number>(LIMITS, () => nowMs);
        for (const { step: one, isGet } of steps) {
          nowMs += one.waitMs;
          if (isGet) cache.get(one.key);
          else cache.set(one.key, one.bytes, one.bytes);
          assert.ok(cache.size <= LIMITS.entriesMax && cache.bytes <= LIMITS.bytesMax);
        }
        nowMs += LIMITS.lifetimeMs;
        cache.set('z', 0, 0);
        assert.equal(cache.size, 1);
        assert.ok(cache.bytes < 250);
      }),
    );
  });
});

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { ExpiringMap } from './expiring-map.ts';

const LIMITS = { entriesMax: 3, bytesMax: 10_000, lifetimeMs: 100 };

suite('a map that forgets', () => {
  test('gives what was put in, and nothing else', () => {
    const map = new ExpiringMap<string>(LIMITS, () => 0);
    map.set('a', 'one', 3);
    map.set('a', 'two', 3);
    assert.equal(map.get('a'), 'two');
    assert.equal(map.get('b'), undefined);
    assert.equal(map.size, 1);
  });

  test('of too many entries those go that were not used for longest', () => {
    const map = new ExpiringMap<number>(LIMITS, () => 0);
    for (const [at, key] of ['a', 'b', 'c'].entries()) map.set(key, at, 1);
    assert.equal(map.get('a'), 0);
    map.set('d', 3, 1);
    assert.deepEqual(
      ['a', 'b', 'c', 'd'].map((key) => map.get(key)),
      [0, undefined, 2, 3],
    );
  });

  test('of too many bytes likewise, and what alone is too large is not kept', () => {
    const map = new ExpiringMap<number>(LIMITS, () => 0);
    map.set('a', 1, 6_000);
    map.set('b', 2, 6_000);
    assert.equal(map.get('a'), undefined);
    map.set('c', 3, 20_000);
    assert.deepEqual([map.get('b'), map.get('c')], [2, undefined]);
  });

  test('what nobody asks for in its lifetime is gone, and takes no memory after the next entry', () => {
    let nowMs = 0;
    const map = new ExpiringMap<number>(LIMITS, () => nowMs);
    map.set('a', 1, 1);
    map.set('b', 2, 1);
    nowMs = 60;
    assert.equal(map.get('b'), 2);
    nowMs = 110;
    assert.deepEqual([map.get('a'), map.get('b')], [undefined, 2]);
    nowMs = 300;
    map.set('c', 3, 1);
    assert.equal(map.size, 1);
  });

  test('a look finds what is there, and keeps nothing from being forgotten', () => {
    let nowMs = 0;
    const map = new ExpiringMap<number>(LIMITS, () => nowMs);
    map.set('a', 1, 1);
    nowMs = 60;
    assert.deepEqual([map.peek('a'), map.peek('b')], [1, undefined]);
    nowMs = 100;
    assert.equal(map.peek('a'), undefined);
  });

  test('whatever is done with it, it keeps to its bounds and counts its bytes right', () => {
    const step = fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd', 'e'), bytes: fc.nat(5_000), waitMs: fc.nat(80) });
    fc.assert(
      fc.property(fc.array(fc.record({ step, isGet: fc.boolean() }), { maxLength: 60 }), (steps) => {
        let nowMs = 0;
        const map = new ExpiringMap<number>(LIMITS, () => nowMs);
        for (const { step: one, isGet } of steps) {
          nowMs += one.waitMs;
          if (isGet) map.get(one.key);
          else map.set(one.key, one.bytes, one.bytes);
          assert.ok(map.size <= LIMITS.entriesMax && map.bytes <= LIMITS.bytesMax);
        }
        nowMs += LIMITS.lifetimeMs;
        map.set('z', 0, 0);
        assert.equal(map.size, 1);
        assert.ok(map.bytes < 200);
      }),
    );
  });
});

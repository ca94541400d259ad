import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findNotFinite, hasDigitRun } from './not-finite.ts';

const find = (text: string): readonly (string | number)[] | undefined => findNotFinite(text, JSON.parse(text));

test('finds the first number that exceeds a double, at any place', () => {
  assert.deepEqual(find('1e400'), []);
  assert.deepEqual(find('{"a":[0,{"b":-1E+999}],"c":1e400}'), ['a', 1, 'b']);
  assert.deepEqual(find(`[${'9'.repeat(310)}]`), [0]);
});

test('leaves text alone that only looks like such a number', () => {
  for (const text of ['"1e400"', '1e300', '1e-400', '{"a":"x1e4000"}', `"${'9'.repeat(400)}"`, 'null'])
    assert.equal(find(text), undefined, text);
});

test('reads rows of digits that are almost too long in linear time', () => {
  const text = `[${`${'1'.repeat(308)},`.repeat(48_000)}0]`;
  const startedMs = performance.now();
  assert.equal(findNotFinite(text, []), undefined);
  const ms = performance.now() - startedMs;
  assert.ok(ms < 4_000, `${ms} ms`);
});

test('finds a run of digits wherever a regular expression does', () => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  for (let round = 0; round < 2_000; round++) {
    const text = Array.from({ length: random(60) }, () => (random(6) === 0 ? 'x' : String(random(10)))).join('');
    const least = 1 + random(12);
    assert.equal(hasDigitRun(text, least), new RegExp(`\\d{${least}}`).test(text), `${least} in ${text}`);
  }
});

test('looks at no character of a text more than twice, however long its rows of digits are', () => {
  const row = '1'.repeat(308);
  const text = `${row} `.repeat(40);
  let looks = 0;
  const counted = new Proxy(Object(text), {
    get: (_, name) => {
      if (name === 'length') return text.length;
      assert.equal(name, 'charCodeAt');
      looks++;
      return (at: number) => text.charCodeAt(at);
    },
  });
  assert.equal(hasDigitRun(counted, 309), false);
  assert.ok(looks <= 2 * text.length, `${looks} looks at ${text.length} characters`);
});

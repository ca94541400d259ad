import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHider } from './hide-values.ts';

const VALUE = 'sk-ü/"canary" 01~?';

// @spec vault-19
test('hides a value in each form in which an answer may repeat it', () => {
  const hide = createHider([VALUE]);
  const texts = [
    VALUE,
    JSON.stringify({ token: VALUE }),
    encodeURIComponent(VALUE),
    encodeURIComponent(VALUE).replaceAll('%20', '+'),
    ...['', 'x', 'xy', 'user:'].flatMap((before) => [
      Buffer.from(before + VALUE).toString('base64'),
      Buffer.from(`${before}${VALUE} and more`).toString('base64'),
      Buffer.from(before + VALUE).toString('base64url'),
    ]),
  ];
  for (const text of texts) {
    const hidden = hide(`before ${text} after`);
    assert.match(hidden, /^before .*\[secret\].* after$/, text);
    assert.ok(!hidden.includes('canary'), hidden);
  }
});

test('leaves other texts, and values that are too short to tell apart', () => {
  assert.equal(createHider(['abc', ''])('abc is the start of the alphabet'), 'abc is the start of the alphabet');
  assert.equal(createHider(['secret-value'])('nothing here'), 'nothing here');
});

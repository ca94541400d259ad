import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainText } from './plain-chunk.ts';

test('reads the text that counts of two members with one name', () => {
  const chunk = '{"choices":[{"index":0,"delta":{"content":"b","content":"a"},"finish_reason":null}]}';
  assert.equal(plainText(JSON.parse(chunk)), 'a');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classifyStatus } from '../../../canonical/failure/classify-failure.ts';
import { decodeError } from './error.ts';

test('decodes the message of an error, and its kind where the vendor names one', () => {
  const body =
    '{"error_type":"TOO_MANY_TOKENS","id":"c167e04b","message":"too many tokens: size limit exceeded by 25836 tokens."}';
  assert.deepEqual(decodeError(body), {
    message: 'too many tokens: size limit exceeded by 25836 tokens.',
    type: 'TOO_MANY_TOKENS',
  });
  assert.equal(classifyStatus(400, decodeError(body)).errorType, 'context_length_exceeded');
});

test('decodes an error without a kind', () => {
  assert.deepEqual(decodeError('{"id":"2d46","message":"invalid api token"}'), { message: 'invalid api token' });
});

for (const [text, message] of [
  ['{"error":{"message":"no"}}', 'no'],
  ['{"detail":"no"}', 'no'],
  ['upstream connect error', 'upstream connect error'],
  ['<html>502</html>', undefined],
  ['', undefined],
  ['17', undefined],
] as const) {
  test(`decodes the error of a proxy: ${JSON.stringify(text)}`, () => {
    assert.equal(decodeError(text).message, message);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeError } from './error.ts';

const named = { 'x-amzn-errortype': 'ThrottlingException:http://internal.amazon.com/coral/com.amazon.bedrock/' };

test('takes the name of an error from its header where the body has only a message', () => {
  assert.deepEqual(decodeError('{"message":"Too many requests"}', named), {
    type: 'ThrottlingException',
    message: 'Too many requests',
  });
  assert.deepEqual(decodeError('', named), { type: 'ThrottlingException' });
});

test('prefers a name in the body to the header', () => {
  const body = '{"__type":"com.amazon.coral.validate#ValidationException","message":"no"}';
  assert.equal(decodeError(body, named).type, 'ValidationException');
});

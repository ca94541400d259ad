import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classify } from './classify.ts';

for (const [message, errorType, status, mayTry] of [
  ['API key not valid. Please pass a valid API key.', 'provider_unavailable', 502, 'next-endpoint'],
  ['User location is not supported for the API use.', 'permission_denied', 403, 'next-endpoint'],
  [
    'The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).',
    'context_length_exceeded',
    400,
    'next-endpoint',
  ],
  ['Function calling is not enabled for models/gemma-3-27b-it', 'invalid_request', 400, 'next-endpoint'],
  ['Thinking level is not supported for this model.', 'invalid_request', 400, 'next-endpoint'],
  ['Unsupported MIME type: image/svg+xml', 'unsupported_image_format', 400, 'next-model'],
  ['Unable to process input image. Please retry', 'invalid_image', 400, 'next-model'],
  ['Request payload size exceeds the limit: 20971520 bytes.', 'payload_too_large', 413, 'next-endpoint'],
] as const) {
  test(`classifies "${message.slice(0, 50)}" as ${errorType}`, () => {
    const meaning = classify({ status: 400, error: { message, type: 'INVALID_ARGUMENT' } });
    assert.deepEqual([meaning?.errorType, meaning?.status, meaning?.mayTry], [errorType, status, mayTry]);
  });
}

test('classifies a busy model as overloaded, but not one that is down', () => {
  const meaning = (message: string) => classify({ status: 503, error: { message } })?.errorType;
  assert.equal(meaning('The model is overloaded. Please try again later.'), 'provider_overloaded');
  assert.equal(meaning('The service is currently unavailable.'), undefined);
});

test('classifies an ordinary refusal by its status', () => {
  assert.equal(classify({ status: 400, error: { message: 'Request contains an invalid argument.' } }), undefined);
});

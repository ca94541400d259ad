import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError, invalid, STATUS_OF_ERROR_TYPE } from '../../../canonical/gateway-error.ts';
import { encodeError, errorTypeOf } from './error-out.ts';
import { decodeError } from './error-in.ts';

const CONTEXT = { generationId: 'gen-1', serviceMetadata: undefined, baseUrl: 'http://localhost:8787/v1' };

// @spec error-5, error-7
test("an error satisfies the vendor's clients and readers of chat errors at once", () => {
  const body = encodeError(invalid('messages', 'is required', 'invalid_prompt'), { ...CONTEXT, generationId: null });
  assert.deepEqual(body, {
    type: 'error',
    error: {
      type: 'invalid_request_error',
      message: 'messages: is required',
      code: 400,
      error_type: 'invalid_prompt',
      metadata: { error_type: 'invalid_prompt', issues: [{ path: 'messages', message: 'is required' }] },
    },
    request_id: null,
    user_id: null,
  });
});

test('availability and metadata stand where clients look for them', () => {
  const error = new GatewayError('rate_limit_exceeded', 'busy', {
    availability: { code: 'capacity_exhausted', retryable: true, retryAfterS: 12, requestedModels: ['acme/one'] },
  });
  const body = encodeError(error, { ...CONTEXT, serviceMetadata: { attempt: 1 } });
  assert.deepEqual(body['error'], {
    type: 'rate_limit_error',
    message: 'busy',
    code: 429,
    error_type: 'rate_limit_exceeded',
    metadata: { error_type: 'rate_limit_exceeded' },
    availability: {
      code: 'capacity_exhausted',
      retryable: true,
      retry_after: 12,
      requested_models: ['acme/one'],
      docs_url: 'http://localhost:8787/v1/errors#capacity_exhausted',
    },
  });
  assert.deepEqual(body['service_metadata'], { attempt: 1 });
});

test('encodes a fault of ours with the generic message', () => {
  const error = new GatewayError('server', 'the secret reason', { metadata: { provider_code: 'x' } });
  const body = JSON.stringify(encodeError(error, { ...CONTEXT, serviceMetadata: { attempt: 1 } }));
  assert.doesNotMatch(body, /secret|provider_code|service_metadata/);
  assert.match(body, /"error_type":"server"/);
});

/** @spec error-6 */
const TYPES = {
  authentication: 'authentication_error',
  permission_denied: 'permission_error',
  payment_required: 'billing_error',
  not_found: 'not_found_error',
  image_not_found: 'not_found_error',
  rate_limit_exceeded: 'rate_limit_error',
  provider_overloaded: 'overloaded_error',
  timeout: 'timeout_error',
  provider_unavailable: 'api_error',
  server: 'api_error',
  unmapped: 'api_error',
} as const;

// @spec error-6
test('has a type of the vendor for every kind of error', () => {
  for (const [type, vendorType] of Object.entries(TYPES))
    assert.equal(errorTypeOf(type as keyof typeof TYPES), vendorType);
  for (const type of Object.keys(STATUS_OF_ERROR_TYPE) as (keyof typeof STATUS_OF_ERROR_TYPE)[])
    if (!Object.hasOwn(TYPES, type)) assert.equal(errorTypeOf(type), 'invalid_request_error', type);
});

for (const [what, text, expected] of [
  [
    "the vendor's envelope",
    '{"type":"error","error":{"type":"invalid_request_error","message":"messages.0.content: too long"},"request_id":"r"}',
    { type: 'invalid_request_error', message: 'messages.0.content: too long', param: 'messages.0.content' },
  ],
  ['an error with a code', '{"error":{"message":"m","code":"c"}}', { message: 'm', code: 'c' }],
  ['an error with a status', '{"error":{"message":"m","code":402}}', { message: 'm', code: '402' }],
  ['an error in one word', '{"error":"no"}', { message: 'no' }],
  ['a message', '{"message":"no"}', { message: 'no' }],
  ['a detail', '{"detail":"no"}', { message: 'no' }],
  ['plain text', 'upstream connect error', { message: 'upstream connect error' }],
  ['nothing', '', {}],
  ['an odd object', '{"error":null}', {}],
] as const) {
  test(`decodes an upstream's error from ${what}`, () => assert.deepEqual(decodeError(text), expected));
}

test('cuts an endless error', () => {
  assert.equal(decodeError('x'.repeat(100_000)).message?.length, 2_000);
  assert.equal(decodeError(JSON.stringify({ error: { message: 'x'.repeat(100_000) } })).message?.length, 2_000);
});

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { encodeError } from './error.ts';

const CONTEXT = { generationId: 'gen-1', serviceMetadata: undefined, baseUrl: 'http://h/v1' };

suite('the error body of this format', () => {
  // @spec error-1
  test('has the status as its code and always a user_id', () => {
    const error = new GatewayError('rate_limit_exceeded', 'Slow down.', {
      availability: { code: 'capacity_exhausted', retryable: true, requestedModels: ['a/one'], retryAfterS: 12 },
    });
    assert.deepEqual(encodeError(error, CONTEXT), {
      error: {
        code: 429,
        message: 'Slow down.',
        metadata: { error_type: 'rate_limit_exceeded' },
        availability: {
          code: 'capacity_exhausted',
          retryable: true,
          requested_models: ['a/one'],
          docs_url: 'http://h/v1/errors#capacity_exhausted',
          retry_after: 12,
        },
      },
      user_id: null,
    });
  });

  test('carries metadata of the route beside the error', () => {
    const error = new GatewayError('permission_denied', 'Blocked.', { metadata: { patterns: ['x'] } });
    const body = encodeError(error, { ...CONTEXT, serviceMetadata: { requested: 'a/one' } });
    assert.deepEqual(body['service_metadata'], { requested: 'a/one' });
  });
});

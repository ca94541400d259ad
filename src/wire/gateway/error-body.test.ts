import assert from 'node:assert/strict';
import test from 'node:test';
import { GatewayError, invalid } from '../../canonical/gateway-error.ts';
import { encodeAvailability, errorServiceMetadata, publicError } from './error-body.ts';

const BASE_URL = 'http://127.0.0.1:8787/v1';

// @spec error-2, error-3, error-8
test('encodes status, message and issues of an error of the request', () => {
  assert.deepEqual(publicError(invalid('temperature', 'must be at most 2, not 3'), BASE_URL), {
    code: 400,
    message: 'temperature: must be at most 2, not 3',
    metadata: {
      error_type: 'invalid_request',
      issues: [{ path: 'temperature', message: 'must be at most 2, not 3' }],
    },
  });
});

// @spec error-8
test('prefers the status of a rule to that of the type', () => {
  assert.equal(publicError(new GatewayError('provider_overloaded', 'Busy.', { status: 529 }), BASE_URL).code, 529);
});

test('encodes further metadata beside the type', () => {
  const error = new GatewayError('permission_denied', 'Blocked.', { metadata: { patterns: ['secret'] } });
  assert.deepEqual(publicError(error, BASE_URL).metadata, { error_type: 'permission_denied', patterns: ['secret'] });
});

// @spec error-4
test('encodes a fault of ours with the generic message', () => {
  const error = new GatewayError('server', 'the password of the database is hunter2', {
    metadata: { provider_code: 'E42', raw: 'stack' },
    issues: [{ path: 'x', message: 'y' }],
    cause: new Error('hunter2'),
  });
  const body = publicError(error, BASE_URL);
  assert.deepEqual(Object.keys(body), ['code', 'message', 'metadata']);
  assert.equal(body.code, 500);
  assert.deepEqual(body.metadata, { error_type: 'server' });
  assert.doesNotMatch(JSON.stringify(body), /hunter2|E42|stack/);
});

// @spec error-4, metadata-2
test('service metadata stands beside every error but a 500', () => {
  const metadata = { requested: 'acme/one' };
  assert.equal(errorServiceMetadata(new GatewayError('provider_unavailable', 'Down.'), metadata), metadata);
  assert.equal(errorServiceMetadata(new GatewayError('server', 'Oops.'), metadata), undefined);
  assert.equal(errorServiceMetadata(new GatewayError('timeout', 'Late.'), undefined), undefined);
});

// @spec error-21
test('encodes availability with the page that explains its code, and without unset members', () => {
  assert.deepEqual(
    encodeAvailability({ code: 'model_not_found', retryable: false, requestedModels: ['a/b'] }, BASE_URL),
    {
      code: 'model_not_found',
      retryable: false,
      requested_models: ['a/b'],
      docs_url: 'http://127.0.0.1:8787/v1/errors#model_not_found',
    },
  );
});

test('encodes every member of availability', () => {
  const error = new GatewayError('not_found', 'No endpoint is left.', {
    availability: {
      code: 'constraint_filtered',
      retryable: false,
      requestedModels: ['a/b', 'c/d'],
      retryAfterS: 7,
      affectedProviders: ['alpha'],
      excludedBy: ['max_price', 'data_policy:zdr'],
      constraint: { field: 'provider.max_price.prompt', detail: 'at most 1, found 3' },
    },
  });
  assert.deepEqual(publicError(error, BASE_URL).availability, {
    code: 'constraint_filtered',
    retryable: false,
    requested_models: ['a/b', 'c/d'],
    docs_url: `${BASE_URL}/errors#constraint_filtered`,
    retry_after: 7,
    affected_providers: ['alpha'],
    excluded_by: ['max_price', 'data_policy:zdr'],
    constraint: { field: 'provider.max_price.prompt', detail: 'at most 1, found 3' },
  });
});

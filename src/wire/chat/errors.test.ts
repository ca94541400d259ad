import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { decodeError, statusOfError } from './decode-error.ts';
import { encodeError } from './encode-error.ts';

const CONTEXT = { generationId: 'gen-1', serviceMetadata: undefined, baseUrl: 'http://h/v1' };

suite('errors of chat upstreams', () => {
  const shapes: readonly (readonly [shape: string, body: unknown, expected: object])[] = [
    [
      'the vendor own',
      { error: { message: 'm', type: 't', param: 'p', code: 'c' } },
      { message: 'm', type: 't', param: 'p', code: 'c' },
    ],
    ['without nulls', { error: { message: 'm', type: null, param: null, code: null } }, { message: 'm' }],
    ['only words', { error: 'no such model' }, { message: 'no such model' }],
    [
      'bare',
      { object: 'error', message: 'm', type: 'BadRequestError', code: 400 },
      { message: 'm', type: 'BadRequestError', code: '400' },
    ],
    ['a detail', { detail: 'Not Found' }, { message: 'Not Found' }],
    ['a list of details', { detail: [{ loc: ['body'], msg: 'field required' }] }, { message: 'field required' }],
    [
      'in an array',
      [{ error: { code: 400, message: 'm', status: 'INVALID_ARGUMENT' } }],
      { message: 'm', code: '400' },
    ],
    [
      'of another gateway',
      { error: { code: 429, message: 'Provider returned error', metadata: { raw: 'slow down' } } },
      { message: 'slow down', code: '429' },
    ],
  ];
  for (const [shape, body, expected] of shapes)
    test(`the shape: ${shape}`, () => assert.deepEqual(decodeError(JSON.stringify(body)), expected));

  test('plain words are a message, a web page and nothing are none', () => {
    assert.deepEqual(decodeError('upstream connect error\n'), { message: 'upstream connect error' });
    assert.deepEqual(decodeError('<html><body>502</body></html>'), {});
    assert.deepEqual(decodeError(''), {});
  });

  test('whatever an upstream says, it is short and not thrown', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        assert.ok(JSON.stringify(decodeError(text)).length < 20_000);
      }),
    );
    assert.equal(decodeError('x'.repeat(100_000)).message?.length, 2_000);
  });

  test('the status is a number of the error, else what its words mean', () => {
    const statuses: readonly (readonly [unknown, number])[] = [
      [{ code: 429 }, 429],
      [{ code: '503' }, 503],
      [{ code: 'tool_use_failed', status_code: 400 }, 400],
      [{ code: 1302, type: 'rate_limit_error' }, 429],
      [{ type: 'overloaded_error' }, 529],
      [{ code: 'insufficient_quota' }, 429],
      [{ code: 'invalid_api_key', type: 'invalid_request_error' }, 401],
      [{ code: 'model_not_found', type: 'invalid_request_error' }, 404],
      [{ type: 'server_error' }, 500],
      [{ code: 200 }, 500],
      ['words', 500],
    ];
    for (const [error, status] of statuses) assert.equal(statusOfError(error), status, JSON.stringify(error));
  });
});

suite('the error body of this format', () => {
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

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { decodeError, statusOfError } from './upstream-error.ts';

suite('errors of upstreams in the shapes of OpenAI', () => {
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
    [
      "of another gateway, with the vendor's own body in it",
      {
        error: { code: 400, message: 'Provider returned error', metadata: { raw: '{"error":{"message":"too long"}}' } },
      },
      { message: 'too long', code: '400' },
    ],
    [
      'of another gateway, with a body that says nothing',
      { error: { code: 500, message: 'Provider returned error', metadata: { raw: '{}' } } },
      { message: '{}', code: '500' },
    ],
    [
      'a list of details for a message',
      { object: 'error', message: { detail: [{ loc: ['body', 'x'], msg: 'Extra inputs are not permitted' }] } },
      { message: 'Extra inputs are not permitted' },
    ],
  ];
  for (const [shape, body, expected] of shapes)
    test(`decodes the shape ${shape}`, () => assert.deepEqual(decodeError(JSON.stringify(body)), expected));

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

  test('takes the status from a number of the error, else from its code', () => {
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

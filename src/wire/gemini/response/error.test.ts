import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { classifyStatus } from '../../../canonical/failure/classify-failure.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { decodeError, errorIn, failureOfError } from './error.ts';

function body(error: JsonObject): string {
  return JSON.stringify({ error });
}

test('decodes kind, member and delay of an error', () => {
  const text = body({
    code: 400,
    message: 'Invalid value',
    status: 'INVALID_ARGUMENT',
    details: [
      { '@type': 'type.googleapis.com/google.rpc.Help', links: [] },
      {
        '@type': 'type.googleapis.com/google.rpc.BadRequest',
        fieldViolations: [{ field: 'tools[0]', description: 'x' }],
      },
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID', domain: 'googleapis.com' },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '1.5s' },
    ],
  });
  const expected = {
    message: 'Invalid value',
    code: 'API_KEY_INVALID',
    type: 'INVALID_ARGUMENT',
    param: 'tools[0]',
    retryAfterMs: 1_500,
  };
  assert.deepEqual(decodeError(text), expected);
  assert.deepEqual(decodeError(`[${text}]`), expected, 'also in a list, as streams without SSE have it');
});

for (const [delay, expected] of [
  ['48s', 48_000],
  ['48.939935699s', 48_940],
  ['0s', 0],
  ['99999999s', 3_600_000],
  ['-5s', undefined],
  ['5m', undefined],
  ['', undefined],
] as const) {
  test(`decodes a delay of ${JSON.stringify(delay)} as ${expected ?? 'none'}`, () => {
    assert.equal(decodeError(body({ details: [{ retryDelay: delay }] })).retryAfterMs, expected);
  });
}

test('gives the failure the delay of the body', () => {
  const failure = classifyStatus(429, decodeError(body({ code: 429, details: [{ retryDelay: '2s' }] })));
  assert.equal(failure.retryAfterMs, 2_000);
});

test('words that are no JSON are the message, bounded', () => {
  assert.deepEqual(decodeError('Bad gateway\n'), { message: 'Bad gateway' });
  assert.deepEqual(decodeError('  '), {});
  assert.ok((decodeError('x'.repeat(100_000)).message ?? '').length <= 2_000);
  assert.deepEqual(decodeError('{"error":"plain"}'), { message: 'plain' });
});

suite('an error inside a response', () => {
  for (const [error, status] of [
    [{ code: 503, status: 'UNAVAILABLE' }, 503],
    [{ status: 'RESOURCE_EXHAUSTED' }, 429],
    [{ code: 8, status: 'RESOURCE_EXHAUSTED' }, 429],
    [{ code: 200, status: 'PERMISSION_DENIED' }, 403],
    [{ message: 'Oh' }, 500],
  ] as const) {
    test(`${JSON.stringify(error)} means ${status}`, () => {
      const failure = failureOfError(error);
      assert.deepEqual([failure.kind, failure.upstreamStatus], ['error-event', status]);
    });
  }
});

test('whatever a body says, reading it never throws and stays bounded', () => {
  const detail = fc.record({ retryDelay: fc.jsonValue(), reason: fc.jsonValue(), fieldViolations: fc.jsonValue() });
  const error = fc.record({
    code: fc.jsonValue(),
    message: fc.jsonValue(),
    status: fc.jsonValue(),
    details: fc.oneof(fc.array(fc.oneof(detail, fc.jsonValue())), fc.jsonValue()),
  });
  fc.assert(
    fc.property(fc.oneof(fc.record({ error }), fc.jsonValue()), (value) => {
      const text = JSON.stringify(value);
      const read = decodeError(text);
      for (const stated of [read.message, read.code, read.type, read.param]) assert.ok((stated ?? '').length <= 2_000);
      assert.ok(read.retryAfterMs === undefined || Number.isSafeInteger(read.retryAfterMs));
      const inside = errorIn(JSON.parse(text));
      if (inside !== undefined) assert.ok(failureOfError(inside).status >= 400);
    }),
    { numRuns: 500 },
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError, invalid } from '../canonical/gateway-error.ts';
import { errorHeaders, problemBody } from './problem.ts';

function build() {
  const logged: { readonly err: unknown }[] = [];
  const log = { error: (fields: { readonly err: unknown }) => void logged.push(fields) };
  return { logged, problem: (error: unknown) => problemBody(error, log) };
}

test('writes an error of the gateway in the shape of the specification', () => {
  const { problem, logged } = build();
  const { status, body } = problem(invalid('limit', 'must be a number'));
  assert.equal(status, 400);
  assert.deepEqual(body, {
    error: {
      code: 400,
      message: 'limit: must be a number',
      metadata: { error_type: 'invalid_request', issues: [{ path: 'limit', message: 'must be a number' }] },
    },
  });
  assert.deepEqual(logged, []);
});

test('answers 500 without details for an unknown error, and logs all of it', () => {
  for (const error of [new Error('password is hunter2'), 'hunter2', undefined, new GatewayError('server', 'hunter2')]) {
    const { problem, logged } = build();
    const { status, body } = problem(error);
    assert.equal(status, 500);
    assert.ok(!JSON.stringify(body).includes('hunter2'));
    assert.equal(logged[0]?.err, error);
  }
});

test('answers 503 while the database is away, says when to retry, and nothing else', () => {
  const { problem, logged } = build();
  const error = Object.assign(new Error('connect ECONNREFUSED 10.0.0.7'), { transient: true });
  const { status, headers, body } = problem(error);
  assert.deepEqual([status, headers['retry-after']], [503, '1']);
  assert.ok(!JSON.stringify(body).includes('10.0.0.7'));
  assert.equal(logged[0]?.err, error);
});

test("keeps the meaning of the framework's refusals within the statuses of the specification", () => {
  const { problem, logged } = build();
  const refused = (code: string, statusCode: number) =>
    problem(Object.assign(new Error('x'), { code, statusCode })).status;
  assert.equal(refused('FST_ERR_CTP_BODY_TOO_LARGE', 413), 413);
  assert.equal(refused('FST_ERR_CTP_INVALID_CONTENT_LENGTH', 400), 400);
  assert.equal(refused('FST_ERR_CTP_INVALID_MEDIA_TYPE', 415), 400);
  assert.equal(refused('toString', 404), 400);
  assert.deepEqual(logged, []);
  assert.equal(refused('FST_ERR_OWN', 500), 500);
  assert.equal(refused('ODD', 302), 500);
});

// @spec error-19
test('headers follow from the error', () => {
  assert.deepEqual(errorHeaders(new GatewayError('authentication', 'x')), { 'www-authenticate': 'Bearer' });
  assert.deepEqual(errorHeaders(new GatewayError('rate_limit_exceeded', 'x', { retryAfterMs: 1_001 })), {
    'retry-after': '2',
  });
  assert.deepEqual(errorHeaders(new GatewayError('not_found', 'x')), {});
  assert.deepEqual(errorHeaders(new GatewayError('provider_unavailable', 'x', { shouldRetry: false })), {
    'x-should-retry': 'false',
  });
});

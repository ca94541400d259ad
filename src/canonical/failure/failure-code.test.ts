import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classifyErrorEvent, classifyStatus } from './classify-failure.ts';
import type { UpstreamFailure } from './failure.ts';

function response(status: number, code: string, type = 'invalid_request_error', message = ''): UpstreamFailure {
  return classifyStatus(status, { code, type, message });
}

for (const [name, given, expected] of [
  [
    'a spent quota is no rate limit',
    response(429, 'insufficient_quota', 'insufficient_quota'),
    ['provider_unavailable', 502, 'next-endpoint'],
  ],
  [
    'nor is a quota under a code that is not known yet',
    response(429, 'some_new_limit_exceeded', 'insufficient_quota'),
    ['provider_unavailable', 502, 'next-endpoint'],
  ],
  [
    'nor is a project at its limit',
    response(429, 'project_spend_limit_exceeded'),
    ['provider_unavailable', 502, 'next-endpoint'],
  ],
  [
    'a long prompt may fit elsewhere',
    response(400, 'context_length_exceeded'),
    ['context_length_exceeded', 400, 'next-endpoint'],
  ],
  [
    'a flagged prompt goes to another model at most',
    response(400, 'content_policy_violation'),
    ['content_policy_violation', 400, 'next-model'],
  ],
  [
    'an invalid_prompt is a flagged one',
    response(400, 'invalid_prompt'),
    ['content_policy_violation', 400, 'next-model'],
  ],
  ['a model that is not there may be elsewhere', response(404, 'model_not_found'), ['not_found', 404, 'next-endpoint']],
  ['also when the project may not see it', response(403, 'model_not_found'), ['not_found', 404, 'next-endpoint']],
  [
    'another endpoint may know the parameter',
    response(400, 'unsupported_parameter'),
    ['invalid_request', 400, 'next-endpoint'],
  ],
  [
    'an image that cannot be fetched is named so',
    response(400, 'invalid_image_url'),
    ['image_download_failed', 400, 'next-model'],
  ],
  [
    'an overloaded engine is overloaded',
    response(503, 'server_is_overloaded', 'server_error'),
    ['provider_overloaded', 529, 'next-endpoint'],
  ],
  [
    'also by its words',
    response(503, '', 'server_error', 'The engine is currently overloaded, please try again later'),
    ['provider_overloaded', 529, 'next-endpoint'],
  ],
  [
    'a country that is not served is no rejected key',
    response(403, 'unsupported_country_region_territory'),
    ['permission_denied', 403, 'next-endpoint'],
  ],
] as const) {
  test(name, () => {
    assert.deepEqual([given.errorType, given.status, given.mayTry], expected);
  });
}

test('classifies an ordinary failure by its status', () => {
  const types = [response(429, 'rate_limit_exceeded', 'requests'), response(500, 'server_error'), response(400, '')];
  assert.deepEqual(
    types.map(({ errorType }) => errorType),
    ['rate_limit_exceeded', 'provider_unavailable', 'invalid_request'],
  );
});

// @spec error-14
test('classifies a code the same with a status and inside a response', () => {
  const error = { code: 'invalid_prompt', message: 'flagged' };
  const { kind: _, ...asStatus } = classifyStatus(400, error);
  const { kind: __, ...inResponse } = classifyErrorEvent(400, error);
  assert.deepEqual(inResponse, asStatus);
});

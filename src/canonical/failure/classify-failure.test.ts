import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classifyStatus, timeoutFailure, transportFailure } from './classify-failure.ts';
import type { UpstreamErrorBody } from './failure.ts';

type Row = [status: number, error: UpstreamErrorBody, errorType: string, answered: number, mayTry: string];

const rows: Row[] = [
  [400, { message: 'bad value' }, 'invalid_request', 400, 'next-model'],
  [400, { code: 'context_length_exceeded' }, 'context_length_exceeded', 400, 'next-endpoint'],
  [
    400,
    { message: 'prompt is too long: 300000 tokens > 200000 maximum' },
    'context_length_exceeded',
    400,
    'next-endpoint',
  ],
  [
    400,
    { message: 'input length and max_tokens exceed context limit' },
    'context_length_exceeded',
    400,
    'next-endpoint',
  ],
  [400, { message: "Unsupported parameter: 'seed'" }, 'invalid_request', 400, 'next-endpoint'],
  [400, { message: 'foo: Extra inputs are not permitted' }, 'invalid_request', 400, 'next-endpoint'],
  [400, { code: 'content_policy_violation' }, 'content_policy_violation', 400, 'next-model'],
  [400, { message: 'Failed to download image from https://x' }, 'image_download_failed', 400, 'next-model'],
  [400, { message: 'Could not process image' }, 'invalid_image', 400, 'next-model'],
  [
    400,
    { message: "This model's maximum prompt length is 131072 but the request contains 200000 tokens." },
    'context_length_exceeded',
    400,
    'next-endpoint',
  ],
  [
    400,
    { message: 'Invalid request: Your request exceeded model token limit: 131072' },
    'context_length_exceeded',
    400,
    'next-endpoint',
  ],
  [400, { code: '1261', message: 'Prompt exceeds max length' }, 'context_length_exceeded', 400, 'next-endpoint'],
  [
    422,
    { message: '`inputs` tokens + `max_new_tokens` must be <= 32769' },
    'context_length_exceeded',
    400,
    'next-endpoint',
  ],
  [400, { code: 'data_inspection_failed' }, 'content_policy_violation', 400, 'next-model'],
  [
    403,
    { message: 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO' },
    'content_policy_violation',
    400,
    'next-model',
  ],
  [
    403,
    { message: 'Your chosen model requires moderation and your input was flagged for "violence".' },
    'content_policy_violation',
    400,
    'next-model',
  ],
  [401, {}, 'provider_unavailable', 502, 'next-endpoint'],
  [402, {}, 'provider_unavailable', 502, 'next-endpoint'],
  [403, {}, 'provider_unavailable', 502, 'next-endpoint'],
  [404, {}, 'not_found', 404, 'next-endpoint'],
  [405, {}, 'not_found', 404, 'next-endpoint'],
  [408, {}, 'timeout', 524, 'next-endpoint'],
  [409, {}, 'provider_unavailable', 502, 'next-endpoint'],
  [410, {}, 'not_found', 404, 'next-endpoint'],
  [413, {}, 'payload_too_large', 413, 'next-endpoint'],
  [422, {}, 'unprocessable', 422, 'next-model'],
  [425, {}, 'provider_unavailable', 502, 'next-endpoint'],
  [429, {}, 'rate_limit_exceeded', 429, 'next-endpoint'],
  [451, {}, 'permission_denied', 403, 'next-endpoint'],
  [500, {}, 'provider_unavailable', 502, 'next-endpoint'],
  [502, {}, 'provider_unavailable', 502, 'next-endpoint'],
  [503, {}, 'provider_unavailable', 502, 'next-endpoint'],
  [503, { message: 'The model is overloaded' }, 'provider_overloaded', 529, 'next-endpoint'],
  [504, {}, 'timeout', 524, 'next-endpoint'],
  [524, {}, 'timeout', 524, 'next-endpoint'],
  [529, {}, 'provider_overloaded', 529, 'next-endpoint'],
  [302, {}, 'provider_unavailable', 502, 'next-endpoint'],
];

for (const [status, error, errorType, answered, mayTry] of rows)
  // @spec error-9, error-13
  test(`classifies an upstream's ${status} ${JSON.stringify(error)} as ${errorType}, ${answered} for the caller, ${mayTry}`, () => {
    const failure = classifyStatus(status, error);
    assert.deepEqual([failure.errorType, failure.status, failure.mayTry], [errorType, answered, mayTry]);
    assert.equal(failure.upstreamStatus, status);
  });

test('reports an exhausted quota at the provider, not a rejected key', () => {
  assert.match(classifyStatus(402, {}).message, /quota/);
  assert.match(classifyStatus(401, {}).message, /credentials/);
});

test("an upstream's words are kept without the keys that it echoes, and bounded", () => {
  const { upstreamMessage } = classifyStatus(401, {
    message: `Incorrect API key provided: sk-abcdef123456. ${'x'.repeat(9_000)}`,
  });
  assert.match(upstreamMessage ?? '', /^Incorrect API key provided: \[redacted\]/);
  assert.ok((upstreamMessage ?? '').length <= 2_010);
});

test('does not redact a text that only begins like a key', () => {
  const messages = [
    'Unknown parameter: skip_special_tokens',
    'keyframe_interval is not supported',
    'key_frames_interval and pkcs12_bundle are unknown',
  ];
  for (const message of messages) assert.equal(classifyStatus(400, { message }).upstreamMessage, message);
});

// @spec error-10
test('reports a slow provider as 524, and the time limit of the request as 408', () => {
  assert.equal(timeoutFailure('first-token').status, 524);
  assert.equal(timeoutFailure('total').status, 408);
  assert.equal(timeoutFailure('total').mayTry, 'nothing');
});

test('ends the request after a cancelled attempt, and tries the next endpoint after a broken connection', () => {
  assert.equal(transportFailure('aborted').mayTry, 'nothing');
  assert.equal(transportFailure('reset').mayTry, 'next-endpoint');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SettingError } from '../contract.ts';
import { TEST_SETTINGS, testCall } from '../../../tests/support/providers/call.ts';
import { bedrockAdapter } from './adapter.ts';

function connect(setup: Partial<Parameters<NonNullable<typeof bedrockAdapter.connect>>[0]>) {
  const connection = bedrockAdapter.connect?.({ options: {}, env: {}, ...setup });
  assert.ok(connection !== undefined);
  return connection;
}

test('calls the run-time of the region', () => {
  assert.equal(
    connect({ options: { region: 'eu-west-3' } }).baseUrl,
    'https://bedrock-runtime.eu-west-3.amazonaws.com',
  );
  assert.equal(
    connect({ options: { region: 'cn-north-1' } }).baseUrl,
    'https://bedrock-runtime.cn-north-1.amazonaws.com.cn',
  );
});

test('reads the region from the environment, after the configuration', () => {
  const env = { AWS_REGION: 'us-west-2', AWS_DEFAULT_REGION: 'us-east-1' };
  assert.match(connect({ env }).baseUrl, /us-west-2/);
  assert.match(connect({ env: { AWS_REGION: ' ', AWS_DEFAULT_REGION: 'us-east-1' } }).baseUrl, /us-east-1/);
  assert.match(connect({ env, options: { region: 'ap-south-1' } }).baseUrl, /ap-south-1/);
});

test("keeps the address of the operator's own endpoint", () => {
  const baseUrl = 'https://vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com';
  assert.equal(connect({ baseUrl, options: { region: 'us-east-1' } }).baseUrl, baseUrl);
});

test('sends a Bedrock key as a bearer, and signs nothing then', async () => {
  const { authorize } = connect({ apiKey: 'bedrock-key', options: { region: 'us-east-1' } });
  assert.equal(authorize, undefined);
  const call = testCall({ format: 'converse', settings: { ...TEST_SETTINGS, apiKey: 'bedrock-key' } });
  assert.deepEqual(await bedrockAdapter.authorize(call), { authorization: 'Bearer bedrock-key' });
});

for (const [name, options, member] of [
  ['no region', {}, 'options.region'],
  ['a secret without its id', { region: 'us-east-1', secret_access_key: 's' }, 'options.access_key_id'],
  ['an id without its secret', { region: 'us-east-1', access_key_id: 'i' }, 'options.secret_access_key'],
  ['a session alone', { region: 'us-east-1', session_token: 't' }, 'options.access_key_id'],
  [
    'keys beside a profile',
    { region: 'us-east-1', access_key_id: 'i', secret_access_key: 's', profile: 'p' },
    'options.profile',
  ],
] as const) {
  test(`refuses ${name} by name`, () => {
    assert.throws(
      () => connect({ options }),
      (error: unknown) => error instanceof SettingError && error.member === member,
    );
  });
}

test('refuses an invalid region by the name of its variable', () => {
  for (const [env, member] of [
    [{ AWS_REGION: 'us east 1' }, 'AWS_REGION'],
    [{ AWS_DEFAULT_REGION: 'evil.example/#' }, 'AWS_DEFAULT_REGION'],
  ] as const)
    assert.throws(
      () => connect({ env }),
      (error: unknown) => error instanceof SettingError && error.member === member,
    );
});

test('never replaces other credentials silently by a Bedrock key, wherever it comes from', () => {
  for (const options of [{ profile: 'p' }, { access_key_id: 'i', secret_access_key: 's' }])
    assert.throws(() => connect({ apiKey: 'bedrock-key', options: { region: 'us-east-1', ...options } }), SettingError);
});

for (const [message, errorType, status] of [
  ['Input is too long for requested model.', 'context_length_exceeded', 400],
  ['The provided model identifier is invalid.', 'not_found', 404],
  [
    "Invocation of model ID anthropic.claude-sonnet-4 with on-demand throughput isn't supported. Retry with an inference profile.",
    'not_found',
    404,
  ],
  ["This model doesn't support the stopSequences field. Remove stopSequences and try again.", 'invalid_request', 400],
  ['Malformed input request: extraneous key [top_k] is not permitted', 'invalid_request', 400],
] as const) {
  test(`classifies "${message.slice(0, 40)}..." as ${errorType}`, () => {
    const meaning = bedrockAdapter.classify?.({ status: 400, error: { message } });
    assert.deepEqual([meaning?.errorType, meaning?.status, meaning?.mayTry], [errorType, status, 'next-endpoint']);
  });
}

test('tries the next endpoint after a failure of the model itself', () => {
  assert.equal(bedrockAdapter.classify?.({ status: 424, error: {} })?.errorType, 'provider_unavailable');
});

test('classifies a quota of the account as no bad request, whatever its status', () => {
  const error = { type: 'ServiceQuotaExceededException', message: 'Your request exceeds a quota.' };
  assert.equal(bedrockAdapter.classify?.({ status: 400, error })?.errorType, 'rate_limit_exceeded');
});

test('classifies an ordinary refusal by its status', () => {
  const error = { message: 'The text field in the ContentBlock object is blank.' };
  assert.equal(bedrockAdapter.classify?.({ status: 400, error }), undefined);
});

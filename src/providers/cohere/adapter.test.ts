import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TEST_SETTINGS, testCall } from '../../../tests/support/providers/call.ts';
import { cohereAdapter } from './adapter.ts';

for (const [model, plansIn, forcesTools] of [
  ['command-r-08-2024', 'tool_plan', true],
  ['command-r-plus-08-2024', 'tool_plan', true],
  ['command-r7b-12-2024', 'tool_plan', true],
  ['command-a-03-2025', 'tool_plan', true],
  ['command-a-translate-08-2025', 'tool_plan', true],
  ['command-a-vision-07-2025', 'tool_plan', false],
  ['c4ai-aya-expanse-32b', 'tool_plan', false],
  ['command-a-reasoning-08-2025', 'thinking', false],
  ['command-a-plus-05-2026', 'thinking', false],
  ['north-1-2027', 'thinking', false],
] as const) {
  test(`finds the plan of ${model} in ${plansIn}, and ${forcesTools ? 'sends' : 'omits'} a choice of tools`, () => {
    assert.deepEqual(cohereAdapter.dialect({ format: 'cohere', model }), { plansIn, forcesTools });
  });
}

test('sends the key as a bearer token', () => {
  const call = testCall({ format: 'cohere', settings: { ...TEST_SETTINGS, apiKey: 'co-1' } });
  assert.deepEqual(cohereAdapter.authorize(call), { authorization: 'Bearer co-1' });
  assert.deepEqual(cohereAdapter.authorize(testCall()), {});
});

for (const [status, message, errorType, mayTry] of [
  [400, 'too many tokens: size limit exceeded by 25836 tokens.', 'context_length_exceeded', 'next-endpoint'],
  [
    400,
    'too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model - received 8192.',
    'max_tokens_exceeded',
    'next-endpoint',
  ],
  [400, 'tool_choice is not supported for this model', 'invalid_request', 'next-endpoint'],
  [400, 'invalid request: response_format is not supported with RAG.', 'invalid_request', 'next-endpoint'],
  [402, 'Please add or update your payment method', 'provider_unavailable', 'next-endpoint'],
  [498, 'deny-listed token', 'content_policy_violation', 'next-model'],
] as const) {
  test(`classifies ${status} "${message.slice(0, 40)}" as ${errorType}`, () => {
    const meaning = cohereAdapter.classify?.({ status, error: { message } });
    assert.deepEqual([meaning?.errorType, meaning?.mayTry], [errorType, mayTry]);
  });
}

test('classifies by the kind of an error where its text differs', () => {
  const error = { type: 'TOO_MANY_TOKENS', message: 'the prompt does not fit' };
  assert.equal(cohereAdapter.classify?.({ status: 400, error })?.errorType, 'context_length_exceeded');
});

for (const [status, message] of [
  [400, 'invalid request: message must not be empty in a turn'],
  [401, 'invalid api token'],
  [404, "model 'xyz' not found"],
  [429, 'You are past the per minute request limit, please wait and try again later.'],
  [500, 'internal server error'],
] as const) {
  test(`classifies ${status} by the status alone`, () => {
    assert.equal(cohereAdapter.classify?.({ status, error: { message } }), undefined);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TEST_SETTINGS, testCall } from '../../../tests/support/providers/call.ts';
import { anthropicAdapter } from './adapter.ts';

for (const [model, thinking, efforts, structuredOutput] of [
  ['claude-2.1', 'none', [], false],
  ['claude-instant-1.2', 'none', [], false],
  ['claude-3-haiku-20240307', 'none', [], false],
  ['claude-3-5-sonnet-20241022', 'none', [], false],
  ['claude-3-7-sonnet-20250219', 'budget', [], false],
  ['claude-opus-4-20250514', 'budget', [], false],
  ['claude-sonnet-4-0', 'budget', [], false],
  ['claude-opus-4-1-20250805', 'budget', [], true],
  ['claude-sonnet-4-5-20250929', 'budget', [], true],
  ['claude-haiku-4-5', 'budget', [], true],
  ['claude-opus-4-5', 'budget', [], true],
  ['claude-opus-4-6', 'adaptive', ['max'], true],
  ['claude-sonnet-4.6', 'adaptive', ['max'], true],
  ['claude-opus-4-7', 'adaptive-only', ['xhigh', 'max'], true],
  ['claude-opus-4-10', 'adaptive-only', ['xhigh', 'max'], true],
  ['claude-sonnet-5', 'adaptive-only', ['xhigh', 'max'], true],
  ['claude-haiku-5-5', 'adaptive-only', ['xhigh', 'max'], true],
  ['claude-mythos-preview', 'adaptive-only', ['xhigh', 'max'], true],
] as const) {
  // @spec reasoning-8
  test(`sends ${model} thinking by ${thinking}`, () => {
    const dialect = anthropicAdapter.dialect({ format: 'messages', model });
    // The models that came with structured output are those that take `temperature` or `top_p`, not both.
    const oneSampler = structuredOutput;
    // Those that came with adaptive thinking went without prefill.
    const continuesResponses = thinking === 'none' || thinking === 'budget';
    assert.deepEqual(dialect, {
      vendor: true,
      readsAttribution: true,
      thinking,
      efforts,
      structuredOutput,
      oneSampler,
      continuesResponses,
    });
  });
}

test('sends the version and the key with a call', () => {
  const call = testCall({ format: 'messages', settings: { ...TEST_SETTINGS, apiKey: 'sk-1' } });
  assert.deepEqual(anthropicAdapter.authorize(call), {
    'anthropic-version': '2023-06-01',
    'x-api-key': 'sk-1',
  });
});

for (const [name, status, error, expected] of [
  [
    'an overloaded vendor is overloaded',
    529,
    { type: 'overloaded_error', message: 'Overloaded' },
    ['provider_overloaded', 529],
  ],
  [
    'a spent balance is not the fault of the request',
    400,
    { type: 'invalid_request_error', message: 'Your credit balance is too low to access the Anthropic API.' },
    ['provider_unavailable', 502],
  ],
  [
    'nor is a spend limit',
    400,
    { type: 'invalid_request_error', message: 'You have reached your specified workspace API usage limits.' },
    ['provider_unavailable', 502],
  ],
  [
    'a monthly cap is no rate limit',
    429,
    { type: 'rate_limit_error', code: 'enforced_spend_limit_reached', message: '' },
    ['provider_unavailable', 502],
  ],
  [
    'a long prompt may fit elsewhere',
    400,
    { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' },
    ['context_length_exceeded', 400],
  ],
  [
    'so may a prompt and its answer together',
    400,
    { type: 'invalid_request_error', message: 'input length and `max_tokens` exceed context limit: 1 + 2 > 2' },
    ['context_length_exceeded', 400],
  ],
] as const) {
  test(name, () => {
    const meaning = anthropicAdapter.classify?.({ status, error });
    assert.deepEqual([meaning?.errorType, meaning?.status], expected);
    assert.equal(meaning?.mayTry, 'next-endpoint');
  });
}

test('classifies an ordinary failure by its status', () => {
  const ordinary = { type: 'rate_limit_error', message: 'This request would exceed your rate limit.' };
  assert.equal(anthropicAdapter.classify?.({ status: 429, error: ordinary }), undefined);
});

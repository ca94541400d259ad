import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FailedAnswer } from '../contract.ts';
import { openAiAdapter } from './adapter.ts';

const dialectOf = (model: string): ReturnType<typeof openAiAdapter.dialect> =>
  openAiAdapter.dialect({ format: 'chat', model });

for (const [model, developerRole, reasoningSettings] of [
  ['o1', true, 'reasoning_effort'],
  ['o3-mini-2025-01-31', true, 'reasoning_effort'],
  ['o4-mini', true, 'reasoning_effort'],
  ['gpt-5', true, 'reasoning_effort'],
  ['gpt-5.4-nano', true, 'reasoning_effort'],
  ['gpt-6-astra', true, 'reasoning_effort'],
  ['gpt-10', true, 'reasoning_effort'],
  ['ft:gpt-5-mini:team', true, 'reasoning_effort'],
  ['gpt-5-chat-latest', true, 'none'],
  ['gpt-4o-2024-08-06', false, 'none'],
  ['gpt-4.1', false, 'none'],
  ['ft:gpt-4.1-mini:team', false, 'none'],
  ['gpt-3.5-turbo', false, 'none'],
  ['chatgpt-4o-latest', false, 'none'],
  // Unknown: the role that every model knows, and an effort only when the caller asks for one.
  ['codex-mini-latest', false, 'reasoning_effort'],
] as const) {
  test(`${model} gets ${developerRole ? 'developer' : 'system'} messages and ${reasoningSettings}`, () => {
    assert.equal(dialectOf(model).developerRole, developerRole);
    assert.equal(dialectOf(model).reasoningSettings, reasoningSettings);
    assert.equal(dialectOf(model).maxCompletionTokens, true);
    assert.equal(dialectOf(model).endUserMember, 'safety_identifier');
    assert.equal(dialectOf(model).messageNames, true);
  });
}

test('cache breakpoints go to gpt-5.6 and later only', () => {
  for (const model of ['gpt-5.6-sol', 'gpt-5.10', 'gpt-6-luna', 'gpt-6.1-terra', 'gpt-12'])
    assert.equal(dialectOf(model).cacheMarks, 'prompt_cache_breakpoint', model);
  for (const model of ['gpt-5', 'gpt-5.5', 'gpt-5-mini', 'gpt-4.1', 'o3', 'gpt-5-2025-08-07'])
    assert.equal(dialectOf(model).cacheMarks, undefined, model);
});

test('images in their original resolution go to gpt-5.4 and later only', () => {
  for (const model of ['gpt-5.4', 'gpt-5.5-2026-04-23', 'gpt-5.10', 'gpt-6-luna', 'gpt-12'])
    assert.equal(dialectOf(model).originalDetail, true, model);
  for (const model of ['gpt-5', 'gpt-5.3', 'gpt-5.4-nano', 'gpt-4.1', 'o3', 'gpt-5-2025-08-07'])
    assert.equal(dialectOf(model).originalDetail, undefined, model);
});

function answer(status: number, code: string, type = 'invalid_request_error', message = ''): FailedAnswer {
  return { status, error: { code, type, message } };
}

for (const [name, given, expected] of [
  [
    'a spent quota is no rate limit',
    answer(429, 'insufficient_quota', 'insufficient_quota'),
    ['provider_unavailable', 502, 'next-endpoint'],
  ],
  [
    'nor is a quota under a code that is not known yet',
    answer(429, 'some_new_limit_exceeded', 'insufficient_quota'),
    ['provider_unavailable', 502, 'next-endpoint'],
  ],
  [
    'nor is a project at its limit',
    answer(429, 'project_spend_limit_exceeded'),
    ['provider_unavailable', 502, 'next-endpoint'],
  ],
  [
    'a long prompt may fit elsewhere',
    answer(400, 'context_length_exceeded'),
    ['context_length_exceeded', 400, 'next-endpoint'],
  ],
  [
    'a flagged prompt goes to another model at most',
    answer(400, 'content_policy_violation'),
    ['content_policy_violation', 400, 'next-model'],
  ],
  [
    'an invalid_prompt is a flagged one',
    answer(400, 'invalid_prompt'),
    ['content_policy_violation', 400, 'next-model'],
  ],
  ['a model that is not there may be elsewhere', answer(404, 'model_not_found'), ['not_found', 404, 'next-endpoint']],
  ['also when the project may not see it', answer(403, 'model_not_found'), ['not_found', 404, 'next-endpoint']],
  [
    'another endpoint may know the parameter',
    answer(400, 'unsupported_parameter'),
    ['invalid_request', 400, 'next-endpoint'],
  ],
  [
    'an image that cannot be fetched is named so',
    answer(400, 'invalid_image_url'),
    ['image_download_failed', 400, 'next-model'],
  ],
  [
    'an overloaded engine is overloaded',
    answer(503, 'server_is_overloaded', 'server_error'),
    ['provider_overloaded', 529, 'next-endpoint'],
  ],
  [
    'also by its words',
    answer(503, '', 'server_error', 'The engine is currently overloaded, please try again later'),
    ['provider_overloaded', 529, 'next-endpoint'],
  ],
  [
    'a country that is not served is no rejected key',
    answer(403, 'unsupported_country_region_territory'),
    ['permission_denied', 403, 'next-endpoint'],
  ],
] as const) {
  test(name, () => {
    const meaning = openAiAdapter.classify?.(given);
    assert.deepEqual([meaning?.errorType, meaning?.status, meaning?.mayTry], expected);
  });
}

test('an ordinary failure means what its status says', () => {
  for (const given of [answer(429, 'rate_limit_exceeded', 'requests'), answer(500, 'server_error'), answer(400, '')])
    assert.equal(openAiAdapter.classify?.(given), undefined);
});

for (const [model, formats] of [
  ['gpt-4o', ['chat', 'responses']],
  ['gpt-5.2', ['chat', 'responses']],
  ['o3', ['chat', 'responses']],
  ['gpt-5-pro', ['responses']],
  ['gpt-5.2-pro-2025-12-11', ['responses']],
  ['o1-pro', ['responses']],
  ['gpt-5.1-codex-max', ['responses']],
  ['codex-mini-latest', ['responses']],
  ['o4-mini-deep-research', ['responses']],
  ['computer-use-preview', ['responses']],
] as const) {
  test(`${model} can be asked in ${formats.join(' and ')}`, () => {
    assert.deepEqual(openAiAdapter.formatsOf?.(model), formats);
  });
}

for (const [model, formats] of [
  ['gpt-4o', undefined],
  ['o4-mini', undefined],
  ['gpt-5.1', undefined],
  ['gpt-5.3-chat-latest', undefined],
  ['gpt-5.4-mini', ['responses']],
  ['gpt-5.6-luna', ['responses']],
  ['ft:gpt-5.10:team', ['responses']],
  ['gpt-6-sol', ['responses']],
  ['gpt-6-astra', ['responses']],
  ['gpt-6.1-sol', ['responses']],
  ['my-deployment', undefined],
] as const) {
  test(`${model} calls tools in ${formats?.join() ?? 'all formats'}`, () => {
    assert.deepEqual(openAiAdapter.toolFormatsOf?.(model), formats);
  });
}

test('the highest effort goes to the responses format alone', () => {
  const efforts = (format: 'chat' | 'responses', model: string): readonly string[] | undefined =>
    openAiAdapter.dialect({ format, model }).reasoningEfforts;
  for (const model of ['gpt-5.6-sol', 'gpt-6-luna', 'gpt-6-astra']) {
    assert.equal(efforts('responses', model)?.includes('max'), true, model);
    assert.deepEqual(
      efforts('chat', model),
      efforts('responses', model)?.filter((effort) => effort !== 'max'),
    );
  }
  assert.deepEqual(efforts('chat', 'gpt-5'), efforts('responses', 'gpt-5'));
  assert.equal(efforts('chat', 'gpt-4o'), undefined);
});

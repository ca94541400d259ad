import assert from 'node:assert/strict';
import { test } from 'node:test';
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
  // Unknown: the role that every model knows, and an effort only when the request has one.
  ['codex-mini-latest', false, 'reasoning_effort'],
] as const) {
  test(`sends ${model} ${developerRole ? 'developer' : 'system'} messages and ${reasoningSettings}`, () => {
    assert.equal(dialectOf(model).developerRole, developerRole);
    assert.equal(dialectOf(model).reasoningSettings, reasoningSettings);
    assert.equal(dialectOf(model).maxCompletionTokens, true);
    assert.equal(dialectOf(model).endUserMember, 'safety_identifier');
    assert.equal(dialectOf(model).messageNames, true);
  });
}

test('sends cache breakpoints and their options to gpt-5.6 and later only', () => {
  for (const model of ['gpt-5.6-sol', 'gpt-5.10', 'gpt-6-luna', 'gpt-6.1-terra', 'gpt-12']) {
    assert.equal(dialectOf(model).cacheBreakpoints, 'prompt_cache_breakpoint', model);
    assert.equal(dialectOf(model).refused?.has('prompt_cache_options'), false, model);
  }
  for (const model of ['gpt-5', 'gpt-5.5', 'gpt-5-mini', 'gpt-4.1', 'o3', 'gpt-5-2025-08-07']) {
    assert.equal(dialectOf(model).cacheBreakpoints, undefined, model);
    assert.equal(dialectOf(model).refused?.has('prompt_cache_options'), true, model);
  }
});

test('images in their original resolution go to gpt-5.4 and later only', () => {
  for (const model of ['gpt-5.4', 'gpt-5.5-2026-04-23', 'gpt-5.10', 'gpt-6-luna', 'gpt-12'])
    assert.equal(dialectOf(model).originalDetail, true, model);
  for (const model of ['gpt-5', 'gpt-5.3', 'gpt-5.4-nano', 'gpt-4.1', 'o3', 'gpt-5-2025-08-07'])
    assert.equal(dialectOf(model).originalDetail, undefined, model);
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
  test(`calls ${model} in ${formats.join(' and ')}`, () => {
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
  test(`lets ${model} call tools in ${formats?.join() ?? 'all formats'}`, () => {
    assert.deepEqual(openAiAdapter.toolFormatsOf?.(model), formats);
  });
}

test('sends the highest effort in the responses format alone', () => {
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

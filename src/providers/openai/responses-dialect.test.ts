import assert from 'node:assert/strict';
import { test } from 'node:test';
import { responsesDialectOf } from './responses-dialect.ts';

const LOW_TO_HIGH = ['low', 'medium', 'high'];
const LOW_TO_MAX = [...LOW_TO_HIGH, 'xhigh', 'max'];

for (const [model, efforts] of [
  ['o1-pro', LOW_TO_HIGH],
  ['o3-mini-2025-01-31', LOW_TO_HIGH],
  ['o4-mini-deep-research', ['medium']],
  ['gpt-5', ['minimal', ...LOW_TO_HIGH]],
  ['gpt-5-nano-2025-08-07', ['minimal', ...LOW_TO_HIGH]],
  ['gpt-5-codex', LOW_TO_HIGH],
  ['gpt-5-pro', ['high']],
  ['gpt-5.1', ['none', ...LOW_TO_HIGH]],
  ['gpt-5.1-codex-max', [...LOW_TO_HIGH, 'xhigh']],
  ['gpt-5.2-pro', ['medium', 'high', 'xhigh']],
  ['gpt-5.2-chat-latest', ['medium']],
  ['gpt-5.4-mini', ['none', ...LOW_TO_HIGH, 'xhigh']],
  ['gpt-5.6-sol', ['none', ...LOW_TO_MAX]],
  ['ft:gpt-5.10:team', ['none', ...LOW_TO_MAX]],
  ['gpt-6-sol', ['none', ...LOW_TO_MAX]],
  ['gpt-6-astra', LOW_TO_MAX],
  ['gpt-6.1-sol', LOW_TO_MAX],
] as const) {
  test(`lets ${model} reason, with the efforts ${efforts.join(' ')}`, () => {
    const dialect = responsesDialectOf(model);
    assert.deepEqual(dialect.reasoningEfforts, efforts);
    assert.equal(dialect.encryptedReasoning, true);
  });
}

for (const model of [
  'gpt-4o-2024-08-06',
  'gpt-4.1',
  'gpt-5-chat-latest',
  'gpt-3.5-turbo',
  'gpt-daybreak-blue-latest',
]) {
  test(`requests no encrypted reasoning of ${model}`, () => {
    assert.equal(responsesDialectOf(model).encryptedReasoning, false);
    assert.notEqual(responsesDialectOf(model).textVerbosity, true);
  });
}

test('stores no response of any model', () => {
  for (const model of ['gpt-6-sol', 'gpt-4o', 'something-new']) {
    const { storesResponses, reasoningFamily, toolOutputParts } = responsesDialectOf(model);
    assert.deepEqual([storesResponses, reasoningFamily, toolOutputParts], [true, 'openai-responses-v1', true]);
  }
});

test('sends a verbosity to models from GPT-5 on, but not to its codex and chat models', () => {
  for (const model of ['gpt-5', 'gpt-5.4-mini', 'gpt-6.1-terra'])
    assert.equal(responsesDialectOf(model).textVerbosity, true, model);
  for (const model of ['o3', 'gpt-4.1', 'gpt-5.2-codex', 'gpt-5.3-chat-latest'])
    assert.equal(responsesDialectOf(model).textVerbosity, false, model);
});

test('sends modes, contexts, phases and concise summaries to the models that know them', () => {
  assert.deepEqual(responsesDialectOf('o4-mini').reasoningSummaries, ['auto', 'detailed']);
  assert.equal(responsesDialectOf('gpt-5.1').reasoningSummaries, undefined);
  assert.deepEqual(
    ['gpt-5.5', 'gpt-5.6-luna', 'gpt-6-sol'].map((model) => responsesDialectOf(model).reasoningModes),
    [false, true, true],
  );
  assert.deepEqual(responsesDialectOf('gpt-5.2').reasoningContexts, ['auto', 'current_turn']);
  assert.deepEqual(responsesDialectOf('gpt-5.4').reasoningContexts, ['auto', 'current_turn', 'all_turns']);
  assert.deepEqual(
    ['gpt-5.2-codex', 'gpt-5.3-codex', 'gpt-5.3', 'gpt-5.4'].map((model) => responsesDialectOf(model).messagePhases),
    [false, true, false, true],
  );
});

test('tiers and tools go to the models that have them', () => {
  const tiers = (model: string): readonly string[] => responsesDialectOf(model).serviceTiers ?? [];
  assert.deepEqual(
    ['gpt-4o', 'gpt-5-nano', 'gpt-5-chat-latest', 'o3', 'o1', 'gpt-6-sol'].map((model) => [
      tiers(model).includes('flex'),
      tiers(model).includes('priority'),
    ]),
    [
      [false, true],
      [true, false],
      [false, false],
      [true, true],
      [false, false],
      [true, true],
    ],
  );
  const tools = (model: string): unknown[] => [
    responsesDialectOf(model).webSearchTool,
    responsesDialectOf(model).imageTool,
  ];
  assert.deepEqual(tools('gpt-4o'), [true, true]);
  assert.deepEqual(tools('gpt-4-turbo'), [false, false]);
  assert.deepEqual(tools('gpt-4.1-nano'), [false, false]);
  assert.deepEqual(tools('o4-mini'), [true, false]);
  assert.deepEqual(tools('gpt-5.4'), [true, true]);
});

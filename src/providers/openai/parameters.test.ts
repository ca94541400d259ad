import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parametersOf } from './parameters.ts';

const SAMPLING = ['temperature', 'top_p', 'logprobs', 'top_logprobs'];
const PENALTIES = ['presence_penalty', 'frequency_penalty', 'logit_bias'];

test('words of the format that the vendor never had are in the list of no model', () => {
  for (const model of ['gpt-4o', 'gpt-5', 'o3']) {
    const { parameters } = parametersOf(model);
    for (const unknown of ['top_k', 'top_a', 'min_p', 'repetition_penalty', 'grammar', 'python'])
      assert.equal(parameters?.has(unknown), false, unknown);
    for (const known of ['temperature', 'seed', 'tools', 'structured_outputs', 'reasoning', 'verbosity'])
      assert.equal(parameters?.has(known), true, known);
  }
});

for (const [model, refused, whileReasoning, byDefault] of [
  ['gpt-4o-2024-08-06', [], [], false],
  ['gpt-4.1', [], [], false],
  ['ft:gpt-4.1-mini:team', [], [], false],
  ['gpt-5-chat-latest', [], [], false],
  ['chatgpt-4o-latest', [], [], false],
  ['codex-mini-latest', [], [], false],
  ['o1', [...SAMPLING, ...PENALTIES, 'parallel_tool_calls'], [], true],
  ['o3-mini-2025-01-31', [...SAMPLING, ...PENALTIES, 'parallel_tool_calls'], [], true],
  ['o3', [...SAMPLING, ...PENALTIES, 'parallel_tool_calls', 'stop'], [], true],
  ['o4-mini', [...SAMPLING, ...PENALTIES, 'parallel_tool_calls', 'stop'], [], true],
  ['gpt-5', [...SAMPLING, ...PENALTIES, 'stop'], [], true],
  ['gpt-5-2025-08-07', [...SAMPLING, ...PENALTIES, 'stop'], [], true],
  ['ft:gpt-5-mini:team', [...SAMPLING, ...PENALTIES, 'stop'], [], true],
  ['gpt-5.1', [...PENALTIES, 'stop'], SAMPLING, false],
  ['gpt-5.4-nano', [...PENALTIES, 'stop'], SAMPLING, false],
  ['gpt-5.2-pro', [...SAMPLING, ...PENALTIES, 'stop'], [], true],
  ['gpt-5.3-codex', [...PENALTIES, 'stop'], SAMPLING, true],
  ['gpt-5.1-codex', [...SAMPLING, ...PENALTIES, 'stop'], [], true],
  ['gpt-5.1-chat-latest', [...SAMPLING, ...PENALTIES, 'stop'], [], true],
  ['gpt-5.6-sol', [...PENALTIES, 'stop'], SAMPLING, true],
  ['gpt-5.10', [...PENALTIES, 'stop'], SAMPLING, true],
  ['gpt-6-sol', [...PENALTIES, 'stop'], SAMPLING, true],
  ['gpt-6-luna-2026-09-22', [...PENALTIES, 'stop'], SAMPLING, true],
  ['gpt-6-astra', [...SAMPLING, ...PENALTIES, 'stop'], [], true],
  ['gpt-6.1-sol', [...SAMPLING, ...PENALTIES, 'stop'], [], true],
  ['gpt-12.1', [...SAMPLING, ...PENALTIES, 'stop'], [], true],
] as const)
  test(`sends ${model} none of ${refused.length} parameters, and none of ${whileReasoning.length} more while it reasons`, () => {
    const facts = parametersOf(model);
    assert.deepEqual(facts.refused ?? new Set(), new Set(refused));
    assert.deepEqual(facts.refusedWhileReasoning ?? new Set(), new Set(whileReasoning));
    assert.equal(facts.reasonsByDefault ?? false, byDefault);
  });

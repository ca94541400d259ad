import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReasoningSettings } from '../canonical/request.ts';
import type { JsonObject } from '../lib/json.ts';
import { createEncodeContext } from '../wire/chat/request/encode-context.ts';
import { encodeReasoningSettings } from '../wire/chat/request/thinking-out.ts';
import type { Dialect } from '../wire/format.ts';
import { ADAPTERS, type AdapterId } from './index.ts';
import { testCall } from '../../tests/support/providers/call.ts';

const OFF: ReasoningSettings = { enabled: false };
const HIGH: ReasoningSettings = { effort: 'high' };

function stated(id: AdapterId, model: string, settings: ReasoningSettings): JsonObject {
  const dialect = ADAPTERS[id].dialect({ format: 'chat', model });
  return encodeReasoningSettings(settings, createEncodeContext('chat', { model, endUserId: '', dialect }), undefined);
}

for (const [id, model, off, high] of [
  [
    'deepseek',
    'deepseek-v4-pro',
    { thinking: { type: 'disabled' } },
    { thinking: { type: 'enabled' }, reasoning_effort: 'high' },
  ],
  ['z-ai', 'glm-4.7', { thinking: { type: 'disabled' } }, { thinking: { type: 'enabled' } }],
  ['z-ai', 'glm-5.1', { thinking: { type: 'disabled' } }, { thinking: { type: 'enabled' } }],
  ['z-ai', 'glm-5.2', { thinking: { type: 'disabled' } }, { thinking: { type: 'enabled' }, reasoning_effort: 'high' }],
  ['z-ai', 'glm-5.3-flash', {}, { thinking: { type: 'enabled' }, reasoning_effort: 'high' }],
  ['moonshotai', 'kimi-k2.6', { thinking: { type: 'disabled' } }, { thinking: { type: 'enabled' } }],
  ['moonshotai', 'kimi-k2.7-code', {}, { thinking: { type: 'enabled' } }],
  ['moonshotai', 'kimi-k3', {}, { reasoning_effort: 'high' }],
  ['moonshotai', 'moonshot-v1-128k', {}, {}],
  ['alibaba', 'qwen3.6-plus', { enable_thinking: false }, { enable_thinking: true }],
  ['together', 'moonshotai/Kimi-K2.6', { reasoning: { enabled: false } }, { reasoning: { enabled: true } }],
  ['together', 'openai/gpt-oss-120b', {}, { reasoning_effort: 'high' }],
  ['groq', 'openai/gpt-oss-20b', {}, { reasoning_effort: 'high' }],
  ['groq', 'qwen/qwen3-32b', { reasoning_effort: 'none' }, {}],
  ['groq', 'qwen/qwen3.6-27b', { reasoning_effort: 'none' }, {}],
  ['groq', 'qwen/qwen3.8-27b', { reasoning_effort: 'none' }, { reasoning_effort: 'high' }],
  ['groq', 'llama-3.3-70b-versatile', {}, {}],
  ['xai', 'grok-4.3', { reasoning_effort: 'none' }, { reasoning_effort: 'high' }],
  ['xai', 'grok-4.7', {}, { reasoning_effort: 'high' }],
  ['xai', 'grok-3-mini', {}, { reasoning_effort: 'high' }],
  ['xai', 'grok-4-fast-reasoning', {}, {}],
  ['xai', 'grok-4-1-fast-non-reasoning', {}, {}],
  ['xai', 'grok-2-vision', {}, {}],
  ['xai', 'grok-code-fast-1', {}, {}],
  ['mistral', 'magistral-medium-latest', { reasoning_effort: 'none' }, { reasoning_effort: 'high' }],
  ['mistral', 'mistral-medium-3.5', { reasoning_effort: 'none' }, { reasoning_effort: 'high' }],
  ['mistral', 'mistral-large-4', {}, { reasoning_effort: 'high' }],
  ['mistral', 'codestral-latest', {}, {}],
  ['cerebras', 'gpt-oss-120b', {}, { reasoning_effort: 'high' }],
  ['cerebras', 'qwen-3.8-27b', { reasoning_effort: 'none' }, { reasoning_effort: 'high' }],
  ['cerebras', 'zai-glm-4.7', { reasoning_effort: 'none' }, { reasoning_effort: 'high' }],
  ['minimax', 'MiniMax-M3', { thinking: { type: 'disabled' } }, { thinking: { type: 'adaptive' } }],
  ['minimax', 'MiniMax-M2.7', {}, { thinking: { type: 'adaptive' } }],
  ['openrouter', 'z-ai/glm-5.2', { reasoning: { enabled: false } }, { reasoning: { effort: 'high' } }],
  [
    'vllm',
    'Qwen/Qwen3-32B',
    { chat_template_kwargs: { enable_thinking: false } },
    { chat_template_kwargs: { enable_thinking: true }, reasoning_effort: 'high' },
  ],
  ['ollama', 'gpt-oss:20b', { reasoning_effort: 'none' }, { reasoning_effort: 'high' }],
] as const satisfies readonly (readonly [AdapterId, string, JsonObject, JsonObject])[]) {
  // @spec reasoning-13, reasoning-15
  test(`turns reasoning of ${model} on and off in the words of ${id}`, () => {
    assert.deepEqual(stated(id, model, OFF), off);
    assert.deepEqual(stated(id, model, HIGH), high);
  });
}

function dialectOf(id: AdapterId, model: string): Dialect {
  return ADAPTERS[id].dialect({ format: 'chat', model });
}

for (const [id, model, refused] of [
  ['moonshotai', 'kimi-k2.6', ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty']],
  ['moonshotai', 'kimi-k3.1-pro', ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty']],
  ['moonshotai', 'kimi-k2-0905-preview', []],
  ['xai', 'grok-4.7', ['presence_penalty', 'frequency_penalty', 'stop']],
  ['xai', 'grok-4-0709', ['presence_penalty', 'frequency_penalty', 'stop']],
  ['xai', 'grok-4-1-fast-non-reasoning', []],
  ['xai', 'grok-3', []],
  ['groq', 'llama-3.3-70b-versatile', ['prediction', 'prompt_cache_key', 'prompt_cache_options']],
  ['mistral', 'mistral-small-latest', ['service_tier', 'prompt_cache_options']],
] as const satisfies readonly (readonly [AdapterId, string, readonly string[]])[])
  test(`sends ${model} of ${id} none of ${refused.length} members that it answers with an error`, () => {
    assert.deepEqual(dialectOf(id, model).refused ?? new Set(), new Set(refused));
  });

test('hosts with a closed list of parameters get none that only engines of open models have', () => {
  for (const id of ['groq', 'mistral', 'cerebras'] as const) {
    const { parameters } = dialectOf(id, 'any');
    for (const strange of ['top_k', 'min_p', 'top_a', 'repetition_penalty', 'verbosity'])
      assert.equal(parameters?.has(strange), false, `${id} ${strange}`);
    for (const known of ['temperature', 'seed', 'tools', 'reasoning', 'structured_outputs', 'presence_penalty'])
      assert.equal(parameters?.has(known), true, `${id} ${known}`);
  }
  assert.equal(dialectOf('mistral', 'any').seedMember, 'random_seed');
});

test('keeps the order and the ids that Mistral wants wherever its models run', () => {
  for (const [id, model] of [
    ['mistral', 'devstral-medium-latest'],
    ['nvidia', 'mistralai/mistral-small-4-119b-2603'],
    ['vllm', 'mistralai/Devstral-Small-2-24B-Instruct-2512'],
  ] as const)
    assert.deepEqual([dialectOf(id, model).repliesToResults, dialectOf(id, model).callIds], [true, 'nine'], id);
  assert.equal(dialectOf('nvidia', 'nvidia/nemotron-4').callIds, undefined);
});

test('sends a schema only to hosts and models that take one', () => {
  for (const [id, model, takes] of [
    ['deepseek', 'deepseek-v4', false],
    ['z-ai', 'glm-5.2', false],
    ['minimax', 'MiniMax-M3', false],
    ['groq', 'llama-3.3-70b-versatile', false],
    ['groq', 'openai/gpt-oss-120b', true],
    ['groq', 'meta-llama/llama-4-scout-17b-16e-instruct', true],
    ['mistral', 'mistral-small-latest', true],
  ] as const)
    assert.equal(dialectOf(id, model).jsonSchema ?? true, takes, `${id} ${model}`);
});

test('gives a family members of its own beside those of its host', () => {
  const call = testCall({ model: 'qwen/qwen3-32b' });
  assert.deepEqual(ADAPTERS.groq.adjust?.({ model: 'x' }, call), { reasoning_format: 'parsed', model: 'x' });
  assert.deepEqual(ADAPTERS.groq.adjust?.({ model: 'x' }, testCall({ model: 'openai/gpt-oss-20b' })), { model: 'x' });
});

test('keeps facts of a responses format beside those of the host and of its families', () => {
  const inResponses = (id: AdapterId, model: string): Dialect => ADAPTERS[id].dialect({ format: 'responses', model });
  const grok = inResponses('xai', 'grok-4.7');
  assert.deepEqual(
    [grok.reasoningFamily, grok.storesResponses, grok.encryptedReasoning, grok.documentInputs, grok.mustReason],
    ['xai-responses-v1', true, true, 'links', true],
  );
  assert.deepEqual(grok.serviceTiers, ['default', 'priority']);
  assert.equal(dialectOf('xai', 'grok-4.7').storesResponses, undefined);
  const deepseek = inResponses('deepseek', 'deepseek-v4-pro');
  assert.deepEqual(
    [deepseek.reasoningFamily, deepseek.reasoningText, deepseek.callsLast, deepseek.documentInputs],
    ['unknown', true, true, 'none'],
  );
  assert.deepEqual(deepseek.reasoningEfforts, ['none', 'low', 'high', 'max']);
  assert.equal(dialectOf('deepseek', 'deepseek-v4-pro').reasoningEfforts?.includes('none'), false);
  assert.equal(inResponses('openrouter', 'vendor/one').reasoningText, true);
  assert.equal(inResponses('perplexity', 'sonar').documentInputs, 'none');
});

test('puts chat first where a host has both formats of OpenAI', () => {
  for (const id of ['xai', 'deepseek', 'openrouter'] as const)
    assert.deepEqual(ADAPTERS[id].formats.map(({ format }) => format).slice(0, 2), ['chat', 'responses']);
});

test('hosts that refuse turns without reasoning, and forced calls beside it, are known in either format', () => {
  for (const [id, model] of [
    ['deepseek', 'deepseek-v4-pro'],
    ['moonshotai', 'kimi-k2.6'],
    ['moonshotai', 'kimi-k3.1-pro'],
  ] as const)
    for (const format of ['chat', 'messages'] as const) {
      const dialect = ADAPTERS[id].dialect({ format, model });
      assert.deepEqual([dialect.reasoningFiller, dialect.unforcedReasoning], [' ', true], `${model} ${format}`);
    }
  assert.equal(dialectOf('alibaba', 'qwen3.8-max').unforcedReasoning, true);
  assert.equal(dialectOf('alibaba', 'qwen3-235b-a22b-thinking-2507').mustReason, true);
  assert.equal(dialectOf('moonshotai', 'moonshot-v1-8k').reasoningFiller, undefined);
});

test('knows by the model whether a host continues a last message of the assistant', () => {
  for (const [id, model, goesOn] of [
    ['groq', 'llama-3.3-70b-versatile', true],
    ['groq', 'meta-llama/llama-4-scout-17b-16e-instruct', true],
    ['groq', 'openai/gpt-oss-20b', false],
    ['llama.cpp', 'whatever', true],
    ['openrouter', 'z-ai/glm-5.2', false],
  ] as const)
    assert.equal(ADAPTERS[id].dialect({ format: 'chat', model }).continuesResponses ?? false, goesOn, model);
});

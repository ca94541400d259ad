import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReasoningSettings } from '../canonical/request.ts';
import type { JsonObject } from '../lib/json.ts';
import { createEncodeContext } from '../wire/chat/encode-context.ts';
import { encodeReasoningSettings } from '../wire/chat/encode-reasoning-settings.ts';
import { ADAPTERS, type AdapterId } from './index.ts';

const OFF: ReasoningSettings = { enabled: false };
const HIGH: ReasoningSettings = { effort: 'high' };

function said(id: AdapterId, model: string, settings: ReasoningSettings): JsonObject {
  const dialect = ADAPTERS[id].dialect({ format: 'chat', model });
  return encodeReasoningSettings(settings, createEncodeContext({ model, endUserId: '', dialect }), undefined);
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
  ['xai', 'grok-code-fast-1', {}, {}],
  ['mistral', 'magistral-medium-latest', { reasoning_effort: 'none' }, { reasoning_effort: 'high' }],
  ['mistral', 'mistral-medium-3.5', { reasoning_effort: 'none' }, { reasoning_effort: 'high' }],
  ['mistral', 'mistral-large-4', {}, { reasoning_effort: 'high' }],
  ['mistral', 'codestral-latest', {}, {}],
  ['cerebras', 'gpt-oss-120b', {}, { reasoning_effort: 'high' }],
  ['cerebras', 'qwen-3.8-27b', { reasoning_effort: 'none' }, { reasoning_effort: 'high' }],
  ['openrouter', 'z-ai/glm-5.2', { reasoning: { enabled: false } }, { reasoning: { effort: 'high' } }],
  [
    'vllm',
    'Qwen/Qwen3-32B',
    { chat_template_kwargs: { enable_thinking: false } },
    { chat_template_kwargs: { enable_thinking: true }, reasoning_effort: 'high' },
  ],
  ['ollama', 'gpt-oss:20b', { reasoning_effort: 'none' }, { reasoning_effort: 'high' }],
] as const satisfies readonly (readonly [AdapterId, string, JsonObject, JsonObject])[]) {
  test(`${id} tells ${model} to reason, and not to, in its own words`, () => {
    assert.deepEqual(said(id, model, OFF), off);
    assert.deepEqual(said(id, model, HIGH), high);
  });
}

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { shareAllUpstreams } from '../support/upstreams/all-upstreams.ts';
import { objectOf } from '../support/reported.ts';

const shared = shareAllUpstreams();

interface Rule {
  readonly promise: string;
  /** `<provider>/<the upstream's name of the model>`. */
  readonly model: string;
  readonly requested: JsonObject;
  /** Members of the body that leaves; `undefined`: it is not there. */
  readonly sent: Readonly<Record<string, unknown>>;
}

const effort = (word: string, maxTokens = 8_000): JsonObject => ({
  reasoning: { effort: word },
  max_completion_tokens: maxTokens,
});
const budget = (tokens: number, maxTokens = 8_000): JsonObject => ({
  reasoning: { max_tokens: tokens },
  max_completion_tokens: maxTokens,
});
const thinking = (tokens: number): unknown => ({ type: 'enabled', budget_tokens: tokens });

/** @spec reasoning-5, reasoning-6 */
const CHAT_RULES: Readonly<Record<string, readonly Rule[]>> = {
  'Claude up to 4.5 thinks by a budget': [
    {
      promise: 'maps high of 8000 to 6400, and leaves out what thinking forbids',
      model: 'claude/claude-sonnet-4-5',
      requested: { ...effort('high'), temperature: 0.3, top_k: 5 },
      sent: { thinking: thinking(6_400), max_tokens: 8_000, temperature: undefined, top_k: undefined },
    },
    {
      promise: 'raises minimal of 8000 to 1024',
      model: 'claude/claude-sonnet-4-5',
      requested: effort('minimal'),
      sent: { thinking: thinking(1_024) },
    },
    {
      promise: 'cuts xhigh of 200000 to 128000',
      model: 'claude/claude-sonnet-4-5',
      requested: effort('xhigh', 200_000),
      sent: { thinking: thinking(128_000) },
    },
    {
      promise: 'raises the maximum to 2048 for medium of 1000',
      model: 'claude/claude-sonnet-4-5',
      requested: effort('medium', 1_000),
      sent: { thinking: thinking(1_024), max_tokens: 2_048 },
    },
    {
      promise: 'keeps a budget',
      model: 'claude/claude-sonnet-4-5',
      requested: budget(3_000),
      sent: { thinking: thinking(3_000), max_tokens: 8_000 },
    },
    {
      promise: 'keeps none',
      model: 'claude/claude-sonnet-4-5',
      requested: { ...effort('none'), temperature: 0.3 },
      sent: { thinking: undefined, output_config: undefined, temperature: 0.3 },
    },
  ],
  'Claude 4.6 thinks by an effort or a budget': [
    {
      promise: 'maps an effort to adaptive thinking',
      model: 'claude/claude-sonnet-4-6',
      requested: effort('high'),
      sent: { 'thinking.type': 'adaptive', 'output_config.effort': 'high' },
    },
    {
      promise: 'maps minimal to low and xhigh to high, and keeps max',
      model: 'claude/claude-opus-4-6',
      requested: effort('minimal'),
      sent: { 'output_config.effort': 'low' },
    },
    {
      promise: 'maps xhigh to high',
      model: 'claude/claude-opus-4-6',
      requested: effort('xhigh'),
      sent: { 'output_config.effort': 'high' },
    },
    {
      promise: 'keeps max',
      model: 'claude/claude-opus-4-6',
      requested: effort('max'),
      sent: { 'output_config.effort': 'max' },
    },
    {
      promise: 'keeps a budget',
      model: 'claude/claude-sonnet-4-6',
      requested: budget(3_000),
      sent: { 'thinking.type': 'enabled', 'thinking.budget_tokens': 3_000 },
    },
  ],
  'Claude since 4.7 thinks by an effort alone': [
    {
      promise: 'keeps xhigh, and leaves sampling out',
      model: 'claude/claude-opus-4-7',
      requested: { ...effort('xhigh'), temperature: 0.3, top_p: 0.9, top_k: 5 },
      sent: {
        'thinking.type': 'adaptive',
        'output_config.effort': 'xhigh',
        temperature: undefined,
        top_p: undefined,
        top_k: undefined,
      },
    },
    {
      promise: 'drops a budget',
      model: 'claude/claude-opus-4-7',
      requested: budget(3_000),
      sent: { 'thinking.type': 'adaptive', 'thinking.budget_tokens': undefined },
    },
    {
      promise: 'turns reasoning off for a model that reasons by default',
      model: 'claude/claude-opus-5',
      requested: { reasoning: { enabled: false }, max_completion_tokens: 8_000 },
      sent: { thinking: { type: 'disabled' } },
    },
  ],
  'Claude at Bedrock thinks like Claude': [
    {
      promise: 'sets a budget',
      model: 'converse/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
      requested: effort('high'),
      sent: { 'additionalModelRequestFields.thinking': thinking(6_400), 'inferenceConfig.maxTokens': 8_000 },
    },
    {
      promise: 'sets an effort',
      model: 'converse/us.anthropic.claude-opus-4-6-v1',
      requested: effort('high'),
      sent: {
        'additionalModelRequestFields.thinking.type': 'adaptive',
        'additionalModelRequestFields.output_config.effort': 'high',
      },
    },
    {
      promise: 'sets one of three efforts for Nova 2',
      model: 'converse/us.amazon.nova-2-lite-v1:0',
      requested: effort('xhigh'),
      sent: { 'additionalModelRequestFields.reasoningConfig': { type: 'enabled', maxReasoningEffort: 'high' } },
    },
  ],
  'Gemini 2.5 thinks by a budget, each model in its own range': [
    {
      promise: 'cannot turn Pro off',
      model: 'gemini/gemini-2.5-pro',
      requested: effort('none'),
      sent: { 'generationConfig.thinkingConfig.thinkingBudget': 128 },
    },
    {
      promise: 'turns Flash off',
      model: 'gemini/gemini-2.5-flash',
      requested: effort('none'),
      sent: { 'generationConfig.thinkingConfig.thinkingBudget': 0 },
    },
    {
      promise: 'cuts a budget to the range',
      model: 'gemini/gemini-2.5-flash',
      requested: budget(30_000, 60_000),
      sent: { 'generationConfig.thinkingConfig.thinkingBudget': 24_576 },
    },
    {
      promise: 'raises a budget to the range',
      model: 'gemini/gemini-2.5-flash-lite',
      requested: budget(100),
      sent: { 'generationConfig.thinkingConfig.thinkingBudget': 512 },
    },
    {
      promise: 'maps a plain "on" to dynamic',
      model: 'gemini/gemini-2.5-pro',
      requested: { reasoning: { enabled: true } },
      sent: { 'generationConfig.thinkingConfig': { thinkingBudget: -1, includeThoughts: true } },
    },
    {
      promise: 'maps an effort to a share of the completion',
      model: 'gemini/gemini-2.5-pro',
      requested: effort('medium'),
      sent: { 'generationConfig.thinkingConfig.thinkingBudget': 4_000 },
    },
  ],
  'Gemini 3 thinks by a level': [
    {
      promise: 'maps max to high',
      model: 'gemini/gemini-3-pro-preview',
      requested: effort('max'),
      sent: { 'generationConfig.thinkingConfig.thinkingLevel': 'high' },
    },
    {
      promise: 'has no minimal for Pro',
      model: 'gemini/gemini-3-pro-preview',
      requested: effort('minimal'),
      sent: { 'generationConfig.thinkingConfig.thinkingLevel': 'low' },
    },
    {
      promise: 'has minimal for Flash',
      model: 'gemini/gemini-3-flash-preview',
      requested: effort('minimal'),
      sent: { 'generationConfig.thinkingConfig.thinkingLevel': 'minimal' },
    },
    {
      promise: 'keeps a budget',
      model: 'gemini/gemini-3-pro-preview',
      requested: budget(3_000),
      sent: { 'generationConfig.thinkingConfig.thinkingBudget': 3_000 },
    },
  ],
  'OpenAI takes the nearest effort that the model knows': [
    {
      promise: 'maps minimal to low for the o-series',
      model: 'openai/o4-mini',
      requested: effort('minimal'),
      sent: { reasoning_effort: 'low' },
    },
    {
      promise: 'maps a budget to the effort with the nearest share',
      model: 'openai/gpt-5.6',
      requested: budget(4_000),
      sent: { reasoning_effort: 'medium', reasoning: undefined },
    },
    {
      promise: 'requests no reasoning of a model without it',
      model: 'openai/gpt-4.1',
      requested: effort('high'),
      sent: { reasoning_effort: undefined, reasoning: undefined },
    },
    {
      promise: 'stores nothing and requests encrypted reasoning in the responses format',
      model: 'responses/gpt-5.4-pro',
      requested: effort('high'),
      sent: { 'reasoning.effort': 'high', store: false, include: ['reasoning.encrypted_content'] },
    },
  ],
  'switches of other vendors': [
    {
      promise: 'turns Qwen on',
      model: 'alibaba/qwen-next',
      requested: budget(3_000),
      sent: { enable_thinking: true, thinking_budget: 3_000, reasoning: undefined },
    },
    {
      promise: 'turns Qwen off',
      model: 'alibaba/qwen-next',
      requested: effort('none'),
      sent: { enable_thinking: false, reasoning_effort: undefined },
    },
    {
      promise: 'turns DeepSeek on',
      model: 'deepseek/deepseek-chat',
      requested: effort('high'),
      sent: { thinking: { type: 'enabled' }, reasoning: undefined },
    },
    {
      promise: 'turns DeepSeek off',
      model: 'deepseek/deepseek-chat',
      requested: effort('none'),
      sent: { thinking: { type: 'disabled' } },
    },
  ],
};

/** What a messages caller says reaches others in their words. */
const MESSAGES_RULES: readonly Rule[] = [
  {
    promise: 'maps a budget to a budget for Gemini',
    model: 'gemini/gemini-2.5-pro',
    requested: { max_tokens: 8_000, thinking: { type: 'enabled', budget_tokens: 3_000 } },
    sent: { 'generationConfig.thinkingConfig.thinkingBudget': 3_000 },
  },
  {
    promise: 'maps a budget to an effort for OpenAI',
    model: 'openai/gpt-5.6',
    requested: { max_tokens: 8_000, thinking: { type: 'enabled', budget_tokens: 6_400 } },
    sent: { reasoning_effort: 'high' },
  },
  {
    promise: 'maps an effort to a level for Gemini 3',
    model: 'gemini/gemini-3-pro-preview',
    requested: { max_tokens: 8_000, thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
    sent: { 'generationConfig.thinkingConfig.thinkingLevel': 'low' },
  },
  {
    promise: 'maps an effort to one for the responses format',
    model: 'responses/gpt-5.4-pro',
    requested: { max_tokens: 8_000, thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    sent: { 'reasoning.effort': 'high' },
  },
  {
    promise: 'maps disabled to off for DeepSeek',
    model: 'deepseek/deepseek-chat',
    requested: { max_tokens: 8_000, thinking: { type: 'disabled' } },
    sent: { thinking: { type: 'disabled' } },
  },
  {
    promise: 'is passed on to Claude unchanged',
    model: 'claude/claude-sonnet-4-5',
    requested: { max_tokens: 8_000, thinking: { type: 'enabled', budget_tokens: 3_000 } },
    sent: { thinking: thinking(3_000) },
  },
];

/** @param path with dots */
function memberAt(body: JsonObject, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => objectOf(value as JsonObject)[name], body);
}

function declare(caller: 'chat' | 'messages', { promise, model, requested, sent }: Rule): void {
  // @spec messages-7, messages-8
  test(`${promise} (${model})`, async () => {
    const { ask } = shared();
    const { arrived } = await ask(caller, model, { ...requested, messages: [{ role: 'user', content: 'Think.' }] });
    for (const [path, expected] of Object.entries(sent))
      assert.deepEqual(memberAt(arrived.body as JsonObject, path), expected, `${path} of ${arrived.text}`);
  });
}

for (const [title, rules] of Object.entries(CHAT_RULES))
  suite(title, () => {
    for (const rule of rules) declare('chat', rule);
  });

suite('thinking settings of a messages caller', () => {
  for (const rule of MESSAGES_RULES) declare('messages', rule);
});

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { shareAllUpstreams } from '../support/all-upstreams.ts';
import { objectOf } from '../support/told.ts';

const shared = shareAllUpstreams();

interface Rule {
  readonly promise: string;
  /** `<provider>/<the upstream's name of the model>`. */
  readonly model: string;
  readonly asked: JsonObject;
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

/** @source generation.md 11.4, C.6 */
const CHAT_RULES: Readonly<Record<string, readonly Rule[]>> = {
  'Claude up to 4.5 thinks by a budget': [
    {
      promise: 'high of 8000 is 6400, and what thinking forbids is left out',
      model: 'claude/claude-sonnet-4-5',
      asked: { ...effort('high'), temperature: 0.3, top_k: 5 },
      sent: { thinking: thinking(6_400), max_tokens: 8_000, temperature: undefined, top_k: undefined },
    },
    {
      promise: 'minimal of 8000 is raised to 1024',
      model: 'claude/claude-sonnet-4-5',
      asked: effort('minimal'),
      sent: { thinking: thinking(1_024) },
    },
    {
      promise: 'xhigh of 200000 is cut to 128000',
      model: 'claude/claude-sonnet-4-5',
      asked: effort('xhigh', 200_000),
      sent: { thinking: thinking(128_000) },
    },
    {
      promise: 'medium of 1000 raises the maximum to 2048',
      model: 'claude/claude-sonnet-4-5',
      asked: effort('medium', 1_000),
      sent: { thinking: thinking(1_024), max_tokens: 2_048 },
    },
    {
      promise: 'a budget is taken as it is',
      model: 'claude/claude-sonnet-4-5',
      asked: budget(3_000),
      sent: { thinking: thinking(3_000), max_tokens: 8_000 },
    },
    {
      promise: 'none is none',
      model: 'claude/claude-sonnet-4-5',
      asked: { ...effort('none'), temperature: 0.3 },
      sent: { thinking: undefined, output_config: undefined, temperature: 0.3 },
    },
  ],
  'Claude 4.6 thinks by an effort or a budget': [
    {
      promise: 'an effort is adaptive thinking',
      model: 'claude/claude-sonnet-4-6',
      asked: effort('high'),
      sent: { 'thinking.type': 'adaptive', 'output_config.effort': 'high' },
    },
    {
      promise: 'minimal is low, xhigh is high, max is max',
      model: 'claude/claude-opus-4-6',
      asked: effort('minimal'),
      sent: { 'output_config.effort': 'low' },
    },
    {
      promise: 'xhigh is high',
      model: 'claude/claude-opus-4-6',
      asked: effort('xhigh'),
      sent: { 'output_config.effort': 'high' },
    },
    {
      promise: 'max is max',
      model: 'claude/claude-opus-4-6',
      asked: effort('max'),
      sent: { 'output_config.effort': 'max' },
    },
    {
      promise: 'a budget is a budget',
      model: 'claude/claude-sonnet-4-6',
      asked: budget(3_000),
      sent: { 'thinking.type': 'enabled', 'thinking.budget_tokens': 3_000 },
    },
  ],
  'Claude since 4.7 thinks by an effort alone': [
    {
      promise: 'xhigh is xhigh, and sampling is left out',
      model: 'claude/claude-opus-4-7',
      asked: { ...effort('xhigh'), temperature: 0.3, top_p: 0.9, top_k: 5 },
      sent: {
        'thinking.type': 'adaptive',
        'output_config.effort': 'xhigh',
        temperature: undefined,
        top_p: undefined,
        top_k: undefined,
      },
    },
    {
      promise: 'a budget is not said',
      model: 'claude/claude-opus-4-7',
      asked: budget(3_000),
      sent: { 'thinking.type': 'adaptive', 'thinking.budget_tokens': undefined },
    },
    {
      promise: 'what thinks by itself is told not to',
      model: 'claude/claude-opus-5',
      asked: { reasoning: { enabled: false }, max_completion_tokens: 8_000 },
      sent: { thinking: { type: 'disabled' } },
    },
  ],
  'Claude at Bedrock thinks like Claude': [
    {
      promise: 'by a budget',
      model: 'converse/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
      asked: effort('high'),
      sent: { 'additionalModelRequestFields.thinking': thinking(6_400), 'inferenceConfig.maxTokens': 8_000 },
    },
    {
      promise: 'by an effort',
      model: 'converse/us.anthropic.claude-opus-4-6-v1',
      asked: effort('high'),
      sent: {
        'additionalModelRequestFields.thinking.type': 'adaptive',
        'additionalModelRequestFields.output_config.effort': 'high',
      },
    },
    {
      promise: 'Nova 2 by three efforts',
      model: 'converse/us.amazon.nova-2-lite-v1:0',
      asked: effort('xhigh'),
      sent: { 'additionalModelRequestFields.reasoningConfig': { type: 'enabled', maxReasoningEffort: 'high' } },
    },
  ],
  'Gemini 2.5 thinks by a budget, each model in its own range': [
    {
      promise: 'Pro cannot be off',
      model: 'gemini/gemini-2.5-pro',
      asked: effort('none'),
      sent: { 'generationConfig.thinkingConfig.thinkingBudget': 128 },
    },
    {
      promise: 'Flash can',
      model: 'gemini/gemini-2.5-flash',
      asked: effort('none'),
      sent: { 'generationConfig.thinkingConfig.thinkingBudget': 0 },
    },
    {
      promise: 'a budget is cut to the range',
      model: 'gemini/gemini-2.5-flash',
      asked: budget(30_000, 60_000),
      sent: { 'generationConfig.thinkingConfig.thinkingBudget': 24_576 },
    },
    {
      promise: 'and raised to it',
      model: 'gemini/gemini-2.5-flash-lite',
      asked: budget(100),
      sent: { 'generationConfig.thinkingConfig.thinkingBudget': 512 },
    },
    {
      promise: 'merely on is dynamic',
      model: 'gemini/gemini-2.5-pro',
      asked: { reasoning: { enabled: true } },
      sent: { 'generationConfig.thinkingConfig': { thinkingBudget: -1, includeThoughts: true } },
    },
    {
      promise: 'an effort is a share of the answer',
      model: 'gemini/gemini-2.5-pro',
      asked: effort('medium'),
      sent: { 'generationConfig.thinkingConfig.thinkingBudget': 4_000 },
    },
  ],
  'Gemini 3 thinks by a level': [
    {
      promise: 'max is high',
      model: 'gemini/gemini-3-pro-preview',
      asked: effort('max'),
      sent: { 'generationConfig.thinkingConfig.thinkingLevel': 'high' },
    },
    {
      promise: 'Pro has no minimal',
      model: 'gemini/gemini-3-pro-preview',
      asked: effort('minimal'),
      sent: { 'generationConfig.thinkingConfig.thinkingLevel': 'low' },
    },
    {
      promise: 'Flash has',
      model: 'gemini/gemini-3-flash-preview',
      asked: effort('minimal'),
      sent: { 'generationConfig.thinkingConfig.thinkingLevel': 'minimal' },
    },
    {
      promise: 'a budget is a budget',
      model: 'gemini/gemini-3-pro-preview',
      asked: budget(3_000),
      sent: { 'generationConfig.thinkingConfig.thinkingBudget': 3_000 },
    },
  ],
  'OpenAI takes the nearest effort that the model knows': [
    {
      promise: 'minimal is low for the o-series',
      model: 'openai/o4-mini',
      asked: effort('minimal'),
      sent: { reasoning_effort: 'low' },
    },
    {
      promise: 'a budget is the effort with the nearest share',
      model: 'openai/gpt-5.6',
      asked: budget(4_000),
      sent: { reasoning_effort: 'medium', reasoning: undefined },
    },
    {
      promise: 'what does not reason is not asked to',
      model: 'openai/gpt-4.1',
      asked: effort('high'),
      sent: { reasoning_effort: undefined, reasoning: undefined },
    },
    {
      promise: 'in the responses format it keeps nothing and gives its reasoning encrypted',
      model: 'responses/gpt-5.4-pro',
      asked: effort('high'),
      sent: { 'reasoning.effort': 'high', store: false, include: ['reasoning.encrypted_content'] },
    },
  ],
  'switches of other vendors': [
    {
      promise: 'Qwen',
      model: 'alibaba/qwen-next',
      asked: budget(3_000),
      sent: { enable_thinking: true, thinking_budget: 3_000, reasoning: undefined },
    },
    {
      promise: 'Qwen, off',
      model: 'alibaba/qwen-next',
      asked: effort('none'),
      sent: { enable_thinking: false, reasoning_effort: undefined },
    },
    {
      promise: 'DeepSeek',
      model: 'deepseek/deepseek-chat',
      asked: effort('high'),
      sent: { thinking: { type: 'enabled' }, reasoning: undefined },
    },
    {
      promise: 'DeepSeek, off',
      model: 'deepseek/deepseek-chat',
      asked: effort('none'),
      sent: { thinking: { type: 'disabled' } },
    },
  ],
};

/** What a messages caller says reaches others in their words. */
const MESSAGES_RULES: readonly Rule[] = [
  {
    promise: 'a budget is one for Gemini',
    model: 'gemini/gemini-2.5-pro',
    asked: { max_tokens: 8_000, thinking: { type: 'enabled', budget_tokens: 3_000 } },
    sent: { 'generationConfig.thinkingConfig.thinkingBudget': 3_000 },
  },
  {
    promise: 'a budget is an effort for OpenAI',
    model: 'openai/gpt-5.6',
    asked: { max_tokens: 8_000, thinking: { type: 'enabled', budget_tokens: 6_400 } },
    sent: { reasoning_effort: 'high' },
  },
  {
    promise: 'an effort is a level for Gemini 3',
    model: 'gemini/gemini-3-pro-preview',
    asked: { max_tokens: 8_000, thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
    sent: { 'generationConfig.thinkingConfig.thinkingLevel': 'low' },
  },
  {
    promise: 'an effort is one for the responses format',
    model: 'responses/gpt-5.4-pro',
    asked: { max_tokens: 8_000, thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    sent: { 'reasoning.effort': 'high' },
  },
  {
    promise: 'disabled is off for DeepSeek',
    model: 'deepseek/deepseek-chat',
    asked: { max_tokens: 8_000, thinking: { type: 'disabled' } },
    sent: { thinking: { type: 'disabled' } },
  },
  {
    promise: 'to a Claude it goes as it stands',
    model: 'claude/claude-sonnet-4-5',
    asked: { max_tokens: 8_000, thinking: { type: 'enabled', budget_tokens: 3_000 } },
    sent: { thinking: thinking(3_000) },
  },
];

/** @param path with dots */
function memberAt(body: JsonObject, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => objectOf(value as JsonObject)[name], body);
}

function declare(caller: 'chat' | 'messages', { promise, model, asked, sent }: Rule): void {
  test(`${promise} (${model})`, async () => {
    const { ask } = shared();
    const { arrived } = await ask(caller, model, { ...asked, messages: [{ role: 'user', content: 'Think.' }] });
    for (const [path, expected] of Object.entries(sent))
      assert.deepEqual(memberAt(arrived.body as JsonObject, path), expected, `${path} of ${arrived.text}`);
  });
}

for (const [title, rules] of Object.entries(CHAT_RULES))
  suite(title, () => {
    for (const rule of rules) declare('chat', rule);
  });

suite('what a messages caller says of thinking', () => {
  for (const rule of MESSAGES_RULES) declare('messages', rule);
});

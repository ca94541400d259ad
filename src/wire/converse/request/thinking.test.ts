import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../lib/json.ts';
import { CLAUDE, encodeChat, encodeMessages, model } from '../../../../tests/support/wire/converse/request.ts';
import type { Encoded } from '../../../../tests/support/wire/converse/request.ts';

const GO: JsonObject = { role: 'user', content: 'go' };
const ADAPTIVE = { ...CLAUDE, thinking: 'adaptive', efforts: ['max'] } as const;
const ADAPTIVE_ONLY = { ...CLAUDE, thinking: 'adaptive-only', efforts: ['xhigh', 'max'] } as const;
const NOVA = model({ reasoning: 'reasoningConfig', topK: 'inferenceConfig' });

function think(reasoning: JsonObject, dialect = CLAUDE, more: JsonObject = {}): Encoded {
  return encodeChat({ messages: [GO], reasoning, ...more }, dialect);
}
function fieldsOf({ body }: Encoded): unknown {
  return body['additionalModelRequestFields'];
}
function configOf({ body }: Encoded): unknown {
  return body['inferenceConfig'];
}

test('maps an effort to a budget for a Claude of budgets', () => {
  const high = think({ effort: 'high' }, CLAUDE, { max_tokens: 10_000 });
  assert.deepEqual(fieldsOf(high), { thinking: { type: 'enabled', budget_tokens: 8000 } });
  assert.deepEqual(configOf(high), { maxTokens: 10_000 });
  const requested = think({ max_tokens: 3000 }, CLAUDE, { max_tokens: 2000 });
  assert.deepEqual(fieldsOf(requested), { thinking: { type: 'enabled', budget_tokens: 3000 } });
  assert.deepEqual(configOf(requested), { maxTokens: 4024 });
  assert.deepEqual(requested.warned, ['field-changed max_tokens']);
  const open = think({ effort: 'low' });
  assert.deepEqual(fieldsOf(open), { thinking: { type: 'enabled', budget_tokens: 6400 } });
  assert.equal(configOf(open), undefined);
});

test('sends an effort to a Claude with adaptive thinking', () => {
  const high = think({ effort: 'high' }, ADAPTIVE);
  assert.deepEqual(fieldsOf(high), { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } });
  const newer = think({ effort: 'xhigh' }, ADAPTIVE_ONLY);
  assert.deepEqual(fieldsOf(newer), {
    thinking: { type: 'adaptive', display: 'summarized' },
    output_config: { effort: 'xhigh' },
  });
  assert.deepEqual(fieldsOf(think({ enabled: true }, ADAPTIVE)), {
    thinking: { type: 'adaptive' },
    output_config: { effort: 'medium' },
  });
  assert.deepEqual(fieldsOf(encodeChat({ messages: [GO], verbosity: 'low' }, ADAPTIVE)), {
    output_config: { effort: 'low' },
  });
});

test('thinking that is turned off is turned off where it would be on', () => {
  assert.equal(fieldsOf(think({ effort: 'none' })), undefined);
  assert.deepEqual(fieldsOf(think({ enabled: false }, ADAPTIVE)), { thinking: { type: 'disabled' } });
  const always = model({ claude: true, alwaysThinks: true }, { thinking: 'adaptive-only', efforts: ['max'] });
  const kept = think({ effort: 'none' }, always);
  assert.deepEqual([fieldsOf(kept), kept.warned], [undefined, ['field-dropped reasoning']]);
});

test('sends the thinking settings of a messages caller', () => {
  const budget = encodeMessages({
    max_tokens: 5000,
    messages: [GO],
    thinking: { type: 'enabled', budget_tokens: 2000 },
    temperature: 1,
  });
  assert.deepEqual(fieldsOf(budget), { thinking: { type: 'enabled', budget_tokens: 2000 } });
  const adaptive = encodeMessages({ messages: [GO], thinking: { type: 'adaptive', display: 'omitted' } }, ADAPTIVE);
  assert.deepEqual(fieldsOf(adaptive), { thinking: { type: 'adaptive', display: 'omitted' } });
  const effort = encodeMessages({ messages: [GO], output_config: { effort: 'low' } }, ADAPTIVE);
  assert.deepEqual(fieldsOf(effort), { output_config: { effort: 'low' } });
  const unknown = encodeMessages({ messages: [GO], output_config: { effort: 'low' } });
  assert.equal(fieldsOf(unknown), undefined);
  assert.deepEqual(unknown.warned, ['field-dropped output_config.effort']);
});

test('switches thinking off after a call that a Claude made without thinking', () => {
  const history = (...thought: readonly JsonObject[]): JsonObject => ({
    max_tokens: 5000,
    thinking: { type: 'enabled', budget_tokens: 2000 },
    tools: [{ name: 'f', input_schema: { type: 'object' } }],
    messages: [
      GO,
      { role: 'assistant', content: [...thought, { type: 'tool_use', id: 'a', name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'ok' }] },
    ],
  });
  const unthought = encodeMessages(history());
  assert.equal(fieldsOf(unthought), undefined);
  assert.deepEqual(unthought.warned, ['field-dropped thinking']);
  const thought = encodeMessages(history({ type: 'thinking', thinking: 'hm', signature: 'c2ln' }));
  assert.deepEqual(fieldsOf(thought), { thinking: { type: 'enabled', budget_tokens: 2000 } });
});

test('limits sampling beside the thinking of a Claude, and omits it for a newer one', () => {
  const sampled = { temperature: 0.5, top_p: 0.9, top_k: 5, max_tokens: 9000 };
  const thinks = think({ effort: 'low' }, CLAUDE, sampled);
  assert.deepEqual(configOf(thinks), { maxTokens: 9000 });
  assert.deepEqual(thinks.warned, ['field-dropped temperature', 'field-dropped top_p', 'field-dropped top_k']);
  assert.deepEqual(configOf(think({ effort: 'low' }, CLAUDE, { top_p: 0.95, max_tokens: 9000 })), {
    maxTokens: 9000,
    topP: 0.95,
  });
  const newer = encodeChat({ messages: [GO], ...sampled }, ADAPTIVE_ONLY);
  assert.deepEqual(configOf(newer), { maxTokens: 9000 });
  assert.deepEqual(newer.warned, ['field-dropped temperature', 'field-dropped top_p', 'field-dropped top_k']);
});

test('switches thinking of a chat request off when a Claude is forced to call a tool', () => {
  const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
  for (const more of [{}, { parallel_tool_calls: false }]) {
    const encoded = think({ effort: 'low' }, CLAUDE, { tools, tool_choice: 'required', ...more });
    assert.equal((fieldsOf(encoded) as JsonObject | undefined)?.['thinking'], undefined);
    assert.deepEqual(encoded.warned, ['field-dropped reasoning']);
  }
});

test('other models think as their vendors say it', () => {
  const fields = (reasoning: JsonObject, facts: Parameters<typeof model>[0], more: JsonObject = {}): unknown =>
    fieldsOf(think(reasoning, model(facts), more));
  assert.deepEqual(fields({ effort: 'medium' }, { reasoning: 'reasoning_effort' }), { reasoning_effort: 'medium' });
  assert.deepEqual(fields({ effort: 'xhigh' }, { reasoning: 'reasoning_effort' }), { reasoning_effort: 'high' });
  assert.deepEqual(fields({ enabled: true }, { reasoning: 'reasoning_config' }), { reasoning_config: 'low' });
  assert.deepEqual(fields({ max_tokens: 800 }, { reasoning: 'reasoning_effort' }, { max_tokens: 1000 }), {
    reasoning_effort: 'high',
  });
  assert.deepEqual(fields({ max_tokens: 200 }, { reasoning: 'reasoning_effort' }, { max_tokens: 1000 }), {
    reasoning_effort: 'low',
  });
  assert.equal(fields({ effort: 'none' }, { reasoning: 'reasoning_effort' }), undefined);
  const unreported = think({ effort: 'low' }, model({}));
  assert.deepEqual([fieldsOf(unreported), unreported.warned], [undefined, ['field-dropped reasoning']]);
  const kept = think({ enabled: false }, model({ reasoning: 'reasoning_effort', alwaysThinks: true }));
  assert.deepEqual([fieldsOf(kept), kept.warned], [undefined, ['field-dropped reasoning']]);
});

test('sends neither a maximum nor sampling to a Nova that thinks hard', () => {
  const config = (maxReasoningEffort: string): JsonObject => ({
    reasoningConfig: { type: 'enabled', maxReasoningEffort },
  });
  const sampled = { temperature: 0.5, top_k: 5, max_tokens: 9000 };
  const low = think({ effort: 'low' }, NOVA, sampled);
  assert.deepEqual(fieldsOf(low), { ...config('low'), inferenceConfig: { topK: 5 } });
  assert.deepEqual(configOf(low), { maxTokens: 9000, temperature: 0.5 });
  const high = think({ effort: 'max' }, NOVA, sampled);
  assert.deepEqual(fieldsOf(high), config('high'));
  assert.equal(configOf(high), undefined);
  assert.deepEqual(high.warned.toSorted(), [
    'field-dropped max_tokens',
    'field-dropped temperature',
    'field-dropped top_k',
  ]);
});

test('warns of other reasoning settings, which are lost', () => {
  const userTexts = { effort: 'low', summary: 'auto', mode: 'pro', context: 'all_turns' };
  const lost = ['field-dropped reasoning.context', 'field-dropped reasoning.mode', 'field-dropped reasoning.summary'];
  assert.deepEqual(think(userTexts).warned.toSorted(), lost);
  assert.deepEqual(think(userTexts, model({ reasoning: 'reasoning_effort' })).warned.toSorted(), lost);
});

test('sends no reasoning settings to an endpoint that does not take them', () => {
  const { body, warned } = encodeChat({ messages: [GO], reasoning: { effort: 'low' } }, CLAUDE, {
    supportedParameters: new Set(['tools']),
  });
  assert.deepEqual([body['additionalModelRequestFields'], warned], [undefined, ['field-dropped reasoning']]);
});

import assert from 'node:assert/strict';
import { test, suite } from 'node:test';
import { EFFORTS, type Effort, type ReasoningSettings } from '../../../canonical/request.ts';
import type { JsonObject, Json } from '../../../lib/json.ts';
import { createEncodeContext } from './encode-context.ts';
import { encodeReasoningSettings } from './thinking-out.ts';
import type { Dialect, EncodedRequest } from '../../format.ts';
import { encodeRequest } from './request-out.ts';
import { decodeChat, PLAIN_TARGET } from '../../../../tests/support/wire/chat/request.ts';

interface Stated {
  readonly members: JsonObject;
  readonly warnings: readonly string[];
}

function emit(dialect: Dialect, settings: ReasoningSettings, outputTokensMax?: number): Stated {
  const context = createEncodeContext('chat', { model: 'm', endUserId: 'u', dialect });
  const members = encodeReasoningSettings(settings, context, outputTokensMax);
  return { members, warnings: context.warnings.map(({ code, message }) => `${code}: ${message}`) };
}

const OFF: readonly ReasoningSettings[] = [{ enabled: false }, { maxTokens: 0 }, { effort: 'none' }];

for (const [spelling, on, off] of [
  ['thinking', { thinking: { type: 'enabled' } }, { thinking: { type: 'disabled' } }],
  ['enable_thinking', { enable_thinking: true }, { enable_thinking: false }],
  ['reasoning.enabled', { reasoning: { enabled: true } }, { reasoning: { enabled: false } }],
  [
    'chat_template_kwargs',
    { chat_template_kwargs: { enable_thinking: true } },
    { chat_template_kwargs: { enable_thinking: false } },
  ],
] as const) {
  test(`${spelling}: switches reasoning on and off by its own member, whatever the request sets`, () => {
    const dialect = { reasoningSettings: spelling };
    for (const settings of [{ enabled: true }, { effort: 'low' }, { maxTokens: 2_000 }, { adaptive: true }] as const)
      assert.deepEqual(emit(dialect, settings), { members: on, warnings: [] });
    for (const settings of OFF) assert.deepEqual(emit(dialect, settings), { members: off, warnings: [] });
    assert.deepEqual(emit(dialect, { summary: 'auto' }), { members: {}, warnings: [] });
  });

  test(`${spelling}: does not switch a model off that must reason, and warns`, () => {
    for (const settings of OFF) {
      assert.deepEqual(emit({ reasoningSettings: spelling, mustReason: true }, settings), {
        members: {},
        warnings: ['field-dropped: the model has no setting that turns reasoning off'],
      });
    }
  });
}

test('sends an effort beside a switch where the model knows efforts', () => {
  const dialect: Dialect = { reasoningSettings: 'thinking', reasoningEfforts: ['high', 'max'] };
  assert.deepEqual(emit(dialect, { effort: 'max' }).members, {
    thinking: { type: 'enabled' },
    reasoning_effort: 'max',
  });
  assert.deepEqual(emit(dialect, { effort: 'low' }), {
    members: { thinking: { type: 'enabled' }, reasoning_effort: 'high' },
    warnings: ['field-changed: the model knows no effort low: it gets high'],
  });
});

test('switched on alone, a model decides itself how much', () => {
  const dialect: Dialect = { reasoningSettings: 'thinking', reasoningEfforts: ['high', 'max'] };
  assert.deepEqual(emit(dialect, { enabled: true }).members, { thinking: { type: 'enabled' } });
});

test('sends a budget where the host takes one, and an effort where it takes those', () => {
  const qwen: Dialect = { reasoningSettings: 'enable_thinking', reasoningBudget: 'thinking_budget' };
  assert.deepEqual(emit(qwen, { maxTokens: 3_000 }).members, { enable_thinking: true, thinking_budget: 3_000 });
  const efforts: Dialect = { reasoningSettings: 'thinking', reasoningEfforts: ['low', 'high'] };
  assert.deepEqual(emit(efforts, { maxTokens: 8_000 }, 10_000).members, {
    thinking: { type: 'enabled' },
    reasoning_effort: 'high',
  });
});

for (const [effort, outputTokensMax, budget] of [
  ['high', 10_000, 8_000],
  ['medium', 3_001, 1_500],
  ['minimal', 2_000, 1_024],
  ['max', 1_000_000, 128_000],
] as const) {
  test(`maps an effort ${effort} of ${outputTokensMax} tokens to a budget of ${budget}`, () => {
    const qwen: Dialect = { reasoningSettings: 'enable_thinking', reasoningBudget: 'thinking_budget' };
    assert.equal(emit(qwen, { effort }, outputTokensMax).members['thinking_budget'], budget);
  });
}

test('makes no budget of an effort where the limit of the response is unknown', () => {
  const qwen: Dialect = { reasoningSettings: 'enable_thinking', reasoningBudget: 'thinking_budget' };
  assert.deepEqual(emit(qwen, { effort: 'high' }).members, { enable_thinking: true });
});

for (const [known, requested, sent] of [
  [['low', 'medium', 'high'], 'max', 'high'],
  [['low', 'medium', 'high'], 'minimal', 'low'],
  [['low', 'high'], 'medium', 'low'],
  [['none', 'high'], 'minimal', 'high'],
  [['none', 'low', 'xhigh'], 'high', 'xhigh'],
] as const satisfies readonly (readonly [readonly Effort[], Effort, Effort])[]) {
  test(`maps ${requested} to ${sent} where the model knows ${known.join(', ')}`, () => {
    assert.deepEqual(emit({ reasoningEfforts: known }, { effort: requested }).members, { reasoning_effort: sent });
  });
}

test('sends every effort as it is without a list, none too', () => {
  for (const effort of EFFORTS) assert.deepEqual(emit({}, { effort }).members, { reasoning_effort: effort });
});

test('none goes only to a model that knows it', () => {
  assert.deepEqual(emit({ reasoningEfforts: ['none', 'high'] }, { enabled: false }).members, {
    reasoning_effort: 'none',
  });
  assert.deepEqual(emit({ reasoningEfforts: ['low', 'high'] }, { enabled: false }), {
    members: {},
    warnings: ['field-dropped: the model has no setting that turns reasoning off'],
  });
});

test('sends no effort to a model that knows nothing but off, and warns', () => {
  assert.deepEqual(emit({ reasoningEfforts: ['none'] }, { effort: 'high' }), {
    members: {},
    warnings: ['field-dropped: the model knows no efforts'],
  });
});

test('sends nothing to a model that does not reason, and warns only of a lost effort', () => {
  assert.deepEqual(emit({ reasoningSettings: 'none' }, { enabled: false }), { members: {}, warnings: [] });
  assert.equal(emit({ reasoningSettings: 'none' }, { effort: 'low' }).warnings.length, 1);
});

const HOST: Dialect = { unforcedReasoning: true, reasoningSettings: 'thinking' };
const NAMED: Json = { type: 'function', function: { name: 'look' } };

function encode(dialect: Dialect, members: Record<string, Json>, listed?: readonly string[]): EncodedRequest {
  const tools: Json = [{ type: 'function', function: { name: 'look', parameters: {} } }];
  const request = decodeChat({ messages: [{ role: 'user', content: 'hi' }], tools, ...members });
  const supportedParameters = listed === undefined ? undefined : new Set(listed);
  return encodeRequest(request, { ...PLAIN_TARGET, dialect, ...(supportedParameters && { supportedParameters }) });
}

const warned = (encoded: EncodedRequest): readonly string[] =>
  encoded.warnings.map(({ code, path }) => `${code} ${path}`);

suite('a host that cannot be forced to call a tool while it reasons', () => {
  test('does not reason then, whether reasoning is requested or its default', () => {
    for (const choice of ['required', NAMED]) {
      const requested = encode(HOST, { tool_choice: choice, reasoning: { effort: 'high' } });
      assert.deepEqual([requested.body['thinking'], requested.body['tool_choice']], [{ type: 'disabled' }, choice]);
      assert.deepEqual(warned(requested), ['field-dropped reasoning']);
      const unrequested = encode(HOST, { tool_choice: choice });
      assert.deepEqual([unrequested.body['thinking'], warned(unrequested)], [{ type: 'disabled' }, []]);
    }
  });

  test('reasons where it is not forced', () => {
    const free = encode(HOST, { tool_choice: 'auto', reasoning: { effort: 'high' } });
    assert.deepEqual([free.body['thinking'], free.body['tool_choice']], [{ type: 'enabled' }, 'auto']);
    assert.equal(encode(HOST, {}).body['thinking'], undefined);
  });

  test('chooses itself where it always reasons', () => {
    const encoded = encode({ ...HOST, mustReason: true }, { tool_choice: NAMED });
    assert.deepEqual([encoded.body['thinking'], encoded.body['tool_choice']], [undefined, 'auto']);
    assert.deepEqual(warned(encoded), ['field-changed tool_choice']);
  });

  test('gets no reasoning setting where its list says that it does not reason', () => {
    const { body, warnings } = encode(HOST, { tool_choice: 'required' }, ['tools', 'tool_choice']);
    assert.deepEqual([body['thinking'], body['tool_choice'], warnings], [undefined, 'required', []]);
  });
});

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { FormatId } from '../../src/canonical/extra.ts';
import type { Usage } from '../../src/canonical/usage.ts';
import { costOf, priceTableOf } from '../../src/catalog/price.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { UPSTREAM_FORMATS } from '../../src/app/upstream-formats.ts';

/** USD per million tokens, a prime or so for each kind; a search a cent, the request a fifth of one. */
const PRICE = priceTableOf({
  prompt: 3,
  cacheRead: 0.5,
  cacheWrite: 4,
  cacheWrite1h: 6,
  completion: 7,
  reasoning: 11,
  audio: 13,
  audioOutput: 17,
  imageOutput: 19,
  webSearch: 0.01,
  request: 0.002,
});

interface Case {
  readonly format: FormatId;
  readonly answer: JsonObject;
  readonly usage: Partial<Usage>;
  /** By pencil. */
  readonly costNanoUsd: number;
  readonly sum: string;
}

/** Every kind that a format has a word for, all in one answer. Recordings have most of them; these have the others, too. */
const CASES: readonly Case[] = [
  {
    format: 'chat',
    answer: {
      id: 'c',
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: 1_000,
        completion_tokens: 500,
        total_tokens: 1_500,
        prompt_tokens_details: { cached_tokens: 200, cache_write_tokens: 100, audio_tokens: 50 },
        completion_tokens_details: { reasoning_tokens: 100, audio_tokens: 40, image_tokens: 30 },
        server_tool_use_details: { web_search_requests: 2 },
      },
    },
    usage: {
      promptTokens: 1_000,
      cacheReadTokens: 200,
      cacheWriteTokens: 100,
      audioPromptTokens: 50,
      completionTokens: 500,
      reasoningTokens: 100,
      audioCompletionTokens: 40,
      imageCompletionTokens: 30,
      webSearchRequests: 2,
    },
    sum: '650 x 3 + 50 x 13 + 200 x 0.5 + 100 x 4 + 330 x 7 + 100 x 11 + 40 x 17 + 30 x 19, 2 searches, the request',
    costNanoUsd: 29_760_000,
  },
  {
    format: 'messages',
    answer: {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'x' }],
      stop_reason: 'end_turn',
      usage: {
        input_tokens: 700,
        cache_read_input_tokens: 200,
        cache_creation_input_tokens: 100,
        cache_creation: { ephemeral_5m_input_tokens: 60, ephemeral_1h_input_tokens: 40 },
        output_tokens: 500,
        output_tokens_details: { thinking_tokens: 100 },
        server_tool_use: { web_search_requests: 1, web_fetch_requests: 3 },
      },
    },
    usage: {
      promptTokens: 1_000,
      cacheReadTokens: 200,
      cacheWriteTokens: 100,
      cacheWrite1hTokens: 40,
      completionTokens: 500,
      reasoningTokens: 100,
      webSearchRequests: 1,
      webFetchRequests: 3,
    },
    sum: '700 x 3 + 200 x 0.5 + 60 x 4 + 40 x 6 + 400 x 7 + 100 x 11, a search, the request',
    costNanoUsd: 18_580_000,
  },
  {
    format: 'gemini',
    answer: {
      responseId: 'g',
      candidates: [{ content: { role: 'model', parts: [{ text: 'x' }] }, finishReason: 'STOP' }],
      usageMetadata: {
        promptTokenCount: 900,
        toolUsePromptTokenCount: 100,
        cachedContentTokenCount: 200,
        candidatesTokenCount: 400,
        thoughtsTokenCount: 100,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 850 },
          { modality: 'AUDIO', tokenCount: 50 },
        ],
        candidatesTokensDetails: [
          { modality: 'AUDIO', tokenCount: 40 },
          { modality: 'IMAGE', tokenCount: 30 },
        ],
      },
    },
    usage: {
      promptTokens: 1_000,
      cacheReadTokens: 200,
      audioPromptTokens: 50,
      completionTokens: 500,
      reasoningTokens: 100,
      audioCompletionTokens: 40,
      imageCompletionTokens: 30,
    },
    sum: '750 x 3 + 50 x 13 + 200 x 0.5 + 330 x 7 + 100 x 11 + 40 x 17 + 30 x 19, the request',
    costNanoUsd: 9_660_000,
  },
  {
    format: 'converse',
    answer: {
      output: { message: { role: 'assistant', content: [{ text: 'x' }] } },
      stopReason: 'end_turn',
      usage: {
        inputTokens: 700,
        outputTokens: 500,
        cacheReadInputTokens: 200,
        cacheWriteInputTokens: 100,
        cacheDetails: [
          { ttl: '5m', inputTokens: 60 },
          { ttl: '1h', inputTokens: 40 },
        ],
      },
    },
    usage: {
      promptTokens: 1_000,
      cacheReadTokens: 200,
      cacheWriteTokens: 100,
      cacheWrite1hTokens: 40,
      completionTokens: 500,
    },
    sum: '700 x 3 + 200 x 0.5 + 60 x 4 + 40 x 6 + 500 x 7, the request',
    costNanoUsd: 8_180_000,
  },
  {
    format: 'responses',
    answer: {
      id: 'r',
      object: 'response',
      model: 'm',
      status: 'completed',
      output: [
        { type: 'web_search_call', id: 'w', status: 'completed', action: { type: 'search', query: 'x' } },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'x', annotations: [] }] },
      ],
      usage: {
        input_tokens: 1_000,
        input_tokens_details: { cached_tokens: 200, cache_write_tokens: 100, audio_tokens: 50 },
        output_tokens: 500,
        output_tokens_details: { reasoning_tokens: 100, audio_tokens: 40, image_tokens: 30 },
        total_tokens: 1_500,
      },
    },
    usage: {
      promptTokens: 1_000,
      cacheReadTokens: 200,
      cacheWriteTokens: 100,
      audioPromptTokens: 50,
      completionTokens: 500,
      reasoningTokens: 100,
      audioCompletionTokens: 40,
      imageCompletionTokens: 30,
      webSearchRequests: 1,
    },
    sum: '650 x 3 + 50 x 13 + 200 x 0.5 + 100 x 4 + 330 x 7 + 100 x 11 + 40 x 17 + 30 x 19, a search, the request',
    costNanoUsd: 19_760_000,
  },
  {
    format: 'cohere',
    answer: {
      id: 'c',
      message: { role: 'assistant', content: [{ type: 'text', text: 'x' }] },
      finish_reason: 'COMPLETE',
      usage: {
        billed_units: { input_tokens: 600, output_tokens: 400 },
        tokens: { input_tokens: 1_000, output_tokens: 500, reasoning_tokens: 100 },
        cached_tokens: 200,
      },
    },
    usage: {
      promptTokens: 1_000,
      cacheReadTokens: 200,
      completionTokens: 500,
      reasoningTokens: 100,
      billed: { promptTokens: 600, completionTokens: 400 },
    },
    sum: 'billed: 600 x 3 + 300 x 7 + 100 x 11, the request',
    costNanoUsd: 7_000_000,
  },
];

// @spec money-1
suite('every kind of usage', () => {
  for (const { format, answer, usage, sum, costNanoUsd } of CASES)
    test(`is priced in ${format}: ${sum}`, () => {
      const events = UPSTREAM_FORMATS[format].decodeWhole(JSON.stringify(answer));
      const last = events.findLast((event) => event.type === 'usage');
      assert.ok(last?.type === 'usage', JSON.stringify(events));
      const found: Readonly<Record<string, unknown>> = { ...last.usage };
      assert.deepEqual(Object.fromEntries(Object.keys(usage).map((kind) => [kind, found[kind]])), usage);
      assert.equal(costOf(PRICE, last.usage).totalNanoUsd, costNanoUsd);
    });
});

/** No model counts such things. */
const ABSURD: readonly Json[] = [1e300, 1e19, 1e12, 1e8, -1, 0.5, '12', null];
/** The dearest hundred million tokens above, of each kind that is counted by itself, and a thousand searches. */
const BELIEVED_NANO_USD_MAX = 8_000e9;

suite('any counts of an upstream', () => {
  for (const { format, answer } of CASES)
    test(`cost a whole number, never negative, and no more than the largest response, in ${format}`, () => {
      for (const path of countsIn(answer))
        for (const value of ABSURD) checkCost(format, withValue(answer, path, value));
    });

  test('stay within bounds for a long list of counts in converse', () => {
    const { answer } = CASES.find(({ format }) => format === 'converse') ?? {};
    assert.ok(answer !== undefined);
    const cacheDetails = Array.from({ length: 10_000 }, () => ({ ttl: '1h', inputTokens: 1e8 }));
    checkCost('converse', { ...answer, usage: { inputTokens: 1, outputTokens: 1, cacheDetails } });
  });
});

function checkCost(format: FormatId, answer: JsonObject): void {
  const reported = JSON.stringify(answer);
  const last = UPSTREAM_FORMATS[format].decodeWhole(reported).findLast((event) => event.type === 'usage');
  if (last?.type !== 'usage') return;
  const { totalNanoUsd } = costOf(PRICE, last.usage);
  assert.ok(Number.isSafeInteger(totalNanoUsd) && totalNanoUsd >= 0, reported);
  assert.ok(totalNanoUsd <= BELIEVED_NANO_USD_MAX, `${totalNanoUsd}: ${reported}`);
}

type Path = readonly (string | number)[];

/** Where the numbers stand. */
function countsIn(value: Json | undefined, path: Path = []): readonly Path[] {
  if (typeof value === 'number') return [path];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((each, at) => countsIn(each, [...path, at]));
  return Object.entries(value).flatMap(([name, each]) => countsIn(each, [...path, name]));
}

function withValue(answer: JsonObject, path: Path, value: Json): JsonObject {
  const changed: JsonObject = structuredClone(answer);
  let place: unknown = changed;
  for (const step of path.slice(0, -1)) place = Reflect.get(Object(place), step);
  Reflect.set(Object(place), path.at(-1) ?? '', value);
  return changed;
}

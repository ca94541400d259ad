import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { costOf, priceTableOf } from '../../../catalog/price.ts';
import { chunk, finish, foldStream } from '../../../../tests/support/wire/gemini/streams.ts';
import { countsTokens, decodeUsage, mergeUsage } from './usage.ts';

const PRICE = priceTableOf({ prompt: 2, completion: 12, cacheRead: 0.2 });

test('thoughts count as completion, what tools brought in as prompt, and cached tokens are part of the prompt', () => {
  const usage = decodeUsage(
    {
      promptTokenCount: 1_000,
      cachedContentTokenCount: 600,
      candidatesTokenCount: 40,
      thoughtsTokenCount: 60,
      toolUsePromptTokenCount: 100,
      totalTokenCount: 1_200,
    },
    2,
  );
  assert.deepEqual(usage, {
    promptTokens: 1_100,
    completionTokens: 100,
    cacheReadTokens: 600,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    reasoningTokens: 60,
    webSearchRequests: 2,
    estimated: false,
  });
  // 500 at 2, 600 at 0.2 and 100 at 12 USD per million tokens.
  assert.equal(costOf(PRICE, usage).totalNanoUsd, 1_000_000 + 120_000 + 1_200_000);
});

test('counts tokens by kind of medium', () => {
  const usage = decodeUsage(
    {
      promptTokenCount: 600,
      candidatesTokenCount: 1_400,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 100 },
        { modality: 'AUDIO', tokenCount: 200 },
        { modality: 'VIDEO', tokenCount: 300 },
      ],
      candidatesTokensDetails: [
        { modality: 'IMAGE', tokenCount: 1_290 },
        { modality: 'AUDIO', tokenCount: 10 },
        { modality: 'TEXT', tokenCount: 100 },
      ],
    },
    undefined,
  );
  assert.deepEqual(
    [usage.audioPromptTokens, usage.videoPromptTokens, usage.imageCompletionTokens, usage.audioCompletionTokens],
    [200, 300, 1_290, 10],
  );
});

for (const [reported, tier] of [
  [{ serviceTier: 'PRIORITY' }, 'priority'],
  [{ trafficType: 'ON_DEMAND_FLEX' }, 'flex'],
  [{ trafficType: 'PROVISIONED_THROUGHPUT' }, undefined],
] as const) {
  test(`${JSON.stringify(reported)} is the tier ${tier ?? 'nobody knows'}`, () => {
    assert.equal(decodeUsage({ promptTokenCount: 1, ...reported }, undefined).serviceTier, tier);
  });
}

test('takes the last of repeated counts, and keeps one that is not repeated', () => {
  const { usage } = foldStream([
    chunk(
      [{ text: 'a' }],
      {},
      { usageMetadata: { promptTokenCount: 10, thoughtsTokenCount: 7, trafficType: 'ON_DEMAND' } },
    ),
    chunk([{ text: 'b' }], {}, { usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2 } }),
    chunk([], { finishReason: 'STOP' }, { usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5 } }),
  ]);
  assert.deepEqual([usage?.promptTokens, usage?.completionTokens, usage?.serviceTier], [10, 12, 'standard']);
});

test('ignores a usage without counts', () => {
  const { usage } = foldStream([
    chunk([{ text: 'a' }], { finishReason: 'STOP' }, { usageMetadata: { trafficType: 'ON_DEMAND' } }),
  ]);
  assert.equal(usage, undefined);
  assert.equal(countsTokens({ promptTokenCount: -1 }), false);
});

test('charges a response the same streamed and whole', () => {
  const streamed = foldStream([
    chunk([{ text: 'a' }], {}, { usageMetadata: { promptTokenCount: 29 } }),
    finish('STOP'),
  ]);
  const whole = foldStream([finish('STOP', [{ text: 'a' }])]);
  assert.deepEqual(streamed.usage, whole.usage);
  assert.ok(streamed.usage !== undefined);
  assert.equal(costOf(PRICE, streamed.usage).totalNanoUsd, 29 * 2_000 + 212 * 12_000);
});

test('decodes any usage to counts that are whole and not negative, so that the cost is defined', () => {
  const count = fc.oneof(fc.integer(), fc.double(), fc.jsonValue());
  const details = fc.oneof(
    fc.array(fc.record({ modality: fc.constantFrom('TEXT', 'AUDIO', 'IMAGE', 'VIDEO'), tokenCount: count })),
    fc.jsonValue(),
  );
  const usage = fc.record(
    {
      promptTokenCount: count,
      candidatesTokenCount: count,
      thoughtsTokenCount: count,
      cachedContentTokenCount: count,
      toolUsePromptTokenCount: count,
      totalTokenCount: count,
      promptTokensDetails: details,
      candidatesTokensDetails: details,
      serviceTier: fc.jsonValue(),
      trafficType: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(usage, usage, (one, other) => {
      const read = decodeUsage(
        mergeUsage(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other))),
        undefined,
      );
      for (const value of Object.values(read))
        if (typeof value === 'number') assert.ok(Number.isSafeInteger(value) && value >= 0, `${value}`);
      assert.ok(read.cacheReadTokens <= read.promptTokens);
      assert.ok(costOf(PRICE, read).totalNanoUsd >= 0);
    }),
    { numRuns: 1_000 },
  );
});

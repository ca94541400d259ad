import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import type { Usage } from '../../../canonical/usage.ts';
import type { Json, JsonObject } from '../../../lib/json.ts';
import { FINAL_USAGE } from '../../../../tests/support/wire/chat/streams.ts';
import { decodeUsage, encodeUsage } from './usage.ts';

const BASE: Usage = {
  promptTokens: 100,
  completionTokens: 20,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  estimated: false,
};

function decode(members: JsonObject, tier?: string): Usage {
  return decodeUsage({ prompt_tokens: 100, completion_tokens: 20, ...members }, tier);
}

suite('chat usage', () => {
  // @spec translate-28
  test('adds a cache larger than the prompt to it, because a part is never more than the whole', () => {
    const cached = { cached_tokens: 600, cache_write_tokens: 50 };
    assert.equal(decode({ prompt_tokens_details: cached }).promptTokens, 750);
    assert.equal(decode({ prompt_tokens: 650, prompt_tokens_details: cached }).promptTokens, 650);
    // The total is of the numbers as the upstream reported them.
    assert.equal(decode({ total_tokens: 120, prompt_tokens_details: cached }).completionTokens, 20);
  });

  // @spec chat-response-14
  test('decodes all counts of the format', () => {
    assert.deepEqual(
      decode({
        total_tokens: 120,
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10, audio_tokens: 1, video_tokens: 2 },
        completion_tokens_details: {
          reasoning_tokens: 5,
          audio_tokens: 3,
          image_tokens: 4,
          accepted_prediction_tokens: 6,
          rejected_prediction_tokens: 7,
        },
        server_tool_use_details: { web_search_requests: 2 },
        service_tier: 'flex',
      }),
      {
        ...BASE,
        cacheReadTokens: 60,
        cacheWriteTokens: 10,
        audioPromptTokens: 1,
        videoPromptTokens: 2,
        reasoningTokens: 5,
        audioCompletionTokens: 3,
        imageCompletionTokens: 4,
        acceptedPredictionTokens: 6,
        rejectedPredictionTokens: 7,
        webSearchRequests: 2,
        serviceTier: 'flex',
      },
    );
  });

  test('cached tokens are found where single vendors put them', () => {
    assert.equal(decode({ prompt_cache_hit_tokens: 7, prompt_cache_miss_tokens: 93 }).cacheReadTokens, 7);
    assert.equal(decode({ cached_tokens: 8 }).cacheReadTokens, 8);
    assert.equal(decode({ cached_tokens: 8, prompt_tokens_details: { cached_tokens: 9 } }).cacheReadTokens, 9);
  });

  test('reasoning that is counted beside the completion becomes part of it, and never twice', () => {
    const details = { completion_tokens_details: { reasoning_tokens: 30 } };
    assert.equal(decode({ ...details, total_tokens: 150 }).completionTokens, 50);
    assert.equal(decode({ ...details, total_tokens: 120 }).completionTokens, 20);
    assert.equal(decode(details).completionTokens, 20);
  });

  test('reports and charges reasoning that only the total counts, for hosts that are known for it', () => {
    const read = (members: JsonObject, inTotal: boolean): Usage =>
      decodeUsage({ prompt_tokens: 35, completion_tokens: 12, ...members }, undefined, inTotal);
    assert.deepEqual(read({ total_tokens: 109 }, true), {
      ...BASE,
      promptTokens: 35,
      completionTokens: 74,
      reasoningTokens: 62,
    });
    assert.equal(read({ total_tokens: 109 }, false).completionTokens, 12);
    for (const total of [47, 40, undefined, null, -1, '109']) {
      const { completionTokens, reasoningTokens } = read(total === undefined ? {} : { total_tokens: total }, true);
      assert.deepEqual([completionTokens, reasoningTokens], [12, undefined], String(total));
    }
    const reported = { total_tokens: 109, completion_tokens_details: { reasoning_tokens: 7 } };
    assert.equal(read(reported, true).completionTokens, 12, 'a count of its own is believed');
  });

  // @spec chat-response-4
  test('takes the tier of the response where the usage names none', () => {
    assert.equal(decode({}, 'default').serviceTier, 'default');
    assert.equal(decode({ service_tier: 'flex' }, 'default').serviceTier, 'flex');
  });

  test('decodes no negative count from any usage', () => {
    const count = fc.oneof(fc.integer(), fc.double(), fc.constantFrom<Json>(null, '12', -1, [], {}));
    const numbers = fc.record({
      prompt_tokens: count,
      completion_tokens: count,
      total_tokens: count,
      cached_tokens: count,
    });
    fc.assert(
      fc.property(numbers, fc.jsonValue(), (usage, details) => {
        const read = decodeUsage(
          { ...usage, prompt_tokens_details: details, completion_tokens_details: details },
          undefined,
        );
        for (const value of Object.values(read))
          assert.ok(typeof value !== 'number' || (Number.isInteger(value) && value >= 0), JSON.stringify(read));
      }),
    );
  });

  test('passes further counts of an upstream through, but not its cost', () => {
    const usage = decode({
      num_sources_used: 3,
      cost: 1,
      cost_in_usd_ticks: 2,
      prompt_tokens_details: { text_tokens: 100 },
    });
    assert.deepEqual(usage.extra?.fields, { num_sources_used: 3, prompt_tokens_details: { text_tokens: 100 } });
    const encoded = encodeUsage({ ...FINAL_USAGE, usage });
    assert.equal(encoded['num_sources_used'], 3);
    assert.deepEqual(encoded['prompt_tokens_details'], { cached_tokens: 0, text_tokens: 100 });
    assert.equal(encoded['cost'], 0.00012);
  });
});

suite('chat usage: what it cost', () => {
  // @spec money-7, money-9
  test('encodes an unknown price as null, not as zero', () => {
    const encoded = encodeUsage({ ...FINAL_USAGE, charge: undefined });
    assert.deepEqual([encoded['cost'], encoded['cost_details']], [null, null]);
    const free = encodeUsage({ ...FINAL_USAGE, charge: { totalNanoUsd: 0, promptNanoUsd: 0, completionNanoUsd: 0 } });
    assert.equal(free['cost'], 0);
  });

  // @spec money-9
  test('reports the cost at the provider with byok', () => {
    const encoded = encodeUsage({
      ...FINAL_USAGE,
      isByok: true,
      charge: { totalNanoUsd: 0, promptNanoUsd: 1_000, completionNanoUsd: 2_000 },
    });
    assert.equal(encoded['is_byok'], true);
    assert.equal(encoded['cost'], 0);
    assert.deepEqual(encoded['cost_details'], {
      upstream_inference_cost: 0.000003,
      upstream_inference_prompt_cost: 0.000001,
      upstream_inference_completions_cost: 0.000002,
    });
  });

  // @spec chat-response-15
  test('reports searches in both of their places', () => {
    const encoded = encodeUsage({ ...FINAL_USAGE, usage: { ...BASE, webSearchRequests: 2 } });
    assert.deepEqual(encoded['server_tool_use_details'], { web_search_requests: 2 });
    assert.deepEqual(encoded['server_tool_use'], { web_search_requests: 2 });
  });
});

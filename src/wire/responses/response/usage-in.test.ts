import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { costOf, priceTableOf } from '../../../catalog/price.ts';
import { decodeUsage } from './usage-in.ts';

const PLAIN = { cacheReadTokens: 0, cacheWriteTokens: 0, cacheWrite1hTokens: 0, estimated: false };

test('cached tokens are part of the input, reasoning is part of the output', () => {
  const usage = {
    input_tokens: 1_000,
    input_tokens_details: { cached_tokens: 600, cache_write_tokens: 100 },
    output_tokens: 90,
    output_tokens_details: { reasoning_tokens: 64 },
    total_tokens: 1_090,
  };
  assert.deepEqual(decodeUsage({ usage }), {
    ...PLAIN,
    promptTokens: 1_000,
    completionTokens: 90,
    cacheReadTokens: 600,
    cacheWriteTokens: 100,
    reasoningTokens: 64,
  });
});

test('adds reasoning that a host counts beside the output, by the total', () => {
  const details = { output_tokens_details: { reasoning_tokens: 300 } };
  const usage = { input_tokens: 10, output_tokens: 400, total_tokens: 710, ...details };
  assert.equal(decodeUsage({ usage })?.completionTokens, 700);
  assert.equal(decodeUsage({ usage: { ...usage, total_tokens: 410 } })?.completionTokens, 400);
});

test('more reasoning than output was counted beside it', () => {
  const usage = { input_tokens: 10, output_tokens: 5, output_tokens_details: { reasoning_tokens: 300 } };
  assert.equal(decodeUsage({ usage })?.completionTokens, 305);
});

test('more cached than input was counted beside it', () => {
  const usage = { input_tokens: 30, input_tokens_details: { cached_tokens: 500 }, output_tokens: 5 };
  const read = decodeUsage({ usage });
  assert.deepEqual([read?.promptTokens, read?.cacheReadTokens], [530, 500]);
});

test('decodes the cache counts of another host', () => {
  const details = { cache_read_input_tokens: 7, cache_creation_input_tokens: 3 };
  const read = decodeUsage({ usage: { input_tokens: 30, output_tokens: 5, input_tokens_details: details } });
  assert.deepEqual([read?.cacheReadTokens, read?.cacheWriteTokens], [7, 3]);
});

test('counts sound and pictures apart, and keeps the tier', () => {
  const usage = {
    input_tokens: 30,
    input_tokens_details: { audio_tokens: 20 },
    output_tokens: 50,
    output_tokens_details: { audio_tokens: 2, image_tokens: 40 },
  };
  assert.deepEqual(decodeUsage({ usage, service_tier: 'flex' }), {
    ...PLAIN,
    promptTokens: 30,
    completionTokens: 50,
    audioPromptTokens: 20,
    audioCompletionTokens: 2,
    imageCompletionTokens: 40,
    serviceTier: 'flex',
  });
});

test('searches are counted by what the vendor says, else by the items that searched', () => {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const output = [
    { type: 'web_search_call', action: { type: 'search' } },
    { type: 'web_search_call', action: { type: 'open_page' } },
    { type: 'web_search_call' },
    { type: 'x_search_call' },
    { type: 'function_call' },
  ];
  assert.equal(decodeUsage({ usage, output })?.webSearchRequests, 3);
  assert.equal(decodeUsage({ usage, output, tool_usage: { web_search: { num_requests: 5 } } })?.webSearchRequests, 5);
});

// @spec chat-response-18
test('passes the usage of a tool through, but not the cost of the operator', () => {
  const usage = { input_tokens: 1, output_tokens: 1, cost_in_usd_ticks: 37_756_000, num_sources_used: 3 };
  const tools = { image_gen: { total_tokens: 9, output_tokens: 9 }, web_search: { num_requests: 0 } };
  assert.deepEqual(decodeUsage({ usage, tool_usage: tools })?.extra, {
    format: 'responses',
    fields: { num_sources_used: 3, tool_usage: { image_gen: tools.image_gen } },
  });
  const idle = { image_gen: { total_tokens: 0 }, web_search: { num_requests: 0 } };
  assert.equal(decodeUsage({ usage: { input_tokens: 1, output_tokens: 1 }, tool_usage: idle })?.extra, undefined);
});

for (const usage of [null, 'x', [], {}, { total_tokens: 4 }, { input_tokens: -4 }, { input_tokens: 'many' }]) {
  test(`${JSON.stringify(usage)} is no usage`, () => {
    assert.equal(decodeUsage({ usage }), undefined);
  });
}

test('decodes any usage to counts that are whole and not negative, so that the cost is defined', () => {
  const price = priceTableOf({ prompt: 2.5, completion: 10, cacheRead: 0.25 });
  const count = fc.oneof(fc.integer(), fc.double(), fc.jsonValue());
  const usage = fc.record(
    {
      input_tokens: count,
      output_tokens: count,
      total_tokens: count,
      input_tokens_details: fc.record({ cached_tokens: count, cache_write_tokens: count, audio_tokens: count }),
      output_tokens_details: fc.record({ reasoning_tokens: count, image_tokens: count }),
    },
    { requiredKeys: [] },
  );
  const response = fc.record({
    usage: fc.oneof(usage, fc.jsonValue()),
    tool_usage: fc.jsonValue(),
    output: fc.jsonValue(),
  });
  fc.assert(
    fc.property(response, (value) => {
      const read = decodeUsage(JSON.parse(JSON.stringify(value)));
      if (read === undefined) return;
      for (const number of Object.values(read).filter((entry) => typeof entry === 'number'))
        assert.ok(Number.isSafeInteger(number) && number >= 0, `${number}`);
      assert.ok(read.cacheReadTokens + read.cacheWriteTokens <= read.promptTokens);
      assert.ok((read.reasoningTokens ?? 0) <= read.completionTokens);
      assert.ok(costOf(price, read).totalNanoUsd >= 0);
    }),
    { numRuns: 1_000 },
  );
});

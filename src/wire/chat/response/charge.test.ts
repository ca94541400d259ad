import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addUsage, reportedCharge } from '../../../canonical/usage.ts';
import { decodeUsage } from './usage.ts';

// @spec generation-21
test('reads what OpenRouter, Perplexity and xAI say they charge, to the nano-dollar', () => {
  assert.deepEqual(reportedCharge({ cost: 0.00014 }), { chargedNanoUsd: 140_000 });
  assert.deepEqual(reportedCharge({ cost: { total_cost: 0.006 } }), { chargedNanoUsd: 6_000_000 });
  assert.deepEqual(reportedCharge({ cost_in_usd_ticks: 37_756_000 }), { chargedNanoUsd: 3_775_600 });
  assert.deepEqual(reportedCharge({ cost: 0 }), { chargedNanoUsd: 0 });
});

test('believes nothing that is no amount', () => {
  for (const usage of [{}, { cost: null }, { cost: '1' }, { cost: -1 }, { cost: 1e12 }, { cost: {} }, { cost: [] }])
    assert.deepEqual(reportedCharge(usage), {}, JSON.stringify(usage));
});

test('is part of a usage', () => {
  assert.equal(
    decodeUsage({ prompt_tokens: 1, completion_tokens: 1, cost: 0.5 }, undefined).chargedNanoUsd,
    500_000_000,
  );
});

// @spec generation-21
test('adds up where every part has one, and is unknown where one has none', () => {
  const part = (cost: number | null) => decodeUsage({ prompt_tokens: 1, completion_tokens: 1, cost }, undefined);
  assert.equal(addUsage(part(1), part(2)).chargedNanoUsd, 3_000_000_000);
  assert.equal(addUsage(part(1), part(null)).chargedNanoUsd, undefined);
  assert.equal(addUsage(part(null), part(2)).chargedNanoUsd, undefined);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { estimateRequestTokens } from '../canonical/estimate-tokens.ts';
import { NO_USAGE } from '../canonical/usage.ts';
import { costOf, type PriceTable } from '../catalog/price.ts';
import { priced, requestOf } from '../routing/test-route.ts';
import { worstCaseOf } from './worst-case.ts';

const NOW_MS = 1_700_000_000_000;
const request = requestOf({ settings: { maxTokens: 100 } });
const promptTokens = estimateRequestTokens(request);
const at = (price: PriceTable, changes: Parameters<typeof priced>[2] = {}) =>
  priced('one', undefined, { price, ...changes });

test('nothing that an answer within its bound may come to costs more', () => {
  const rate = fc.nat({ max: 50_000_000 });
  const rates = fc.record(
    {
      prompt: rate,
      completion: rate,
      cacheRead: rate,
      cacheWrite: rate,
      cacheWrite1h: rate,
      reasoning: rate,
      request: rate,
    },
    { requiredKeys: ['prompt', 'completion'] },
  );
  const part = fc.nat({ max: promptTokens });
  fc.assert(
    fc.property(rates, part, part, part, fc.nat({ max: 100 }), fc.nat({ max: 100 }), (price, ...counts) => {
      const [read, written, hour, completionTokens, reasoningTokens] = counts;
      const cacheReadTokens = Math.min(read, promptTokens - Math.min(written, promptTokens));
      // A cached token is never dearer than a fresh one.
      const list = {
        ...price,
        ...(price.cacheRead !== undefined && { cacheRead: Math.min(price.cacheRead, price.prompt) }),
      };
      const usage = {
        ...NO_USAGE,
        promptTokens,
        cacheReadTokens,
        cacheWriteTokens: written,
        cacheWrite1hTokens: Math.min(hour, written),
        completionTokens,
        reasoningTokens: Math.min(reasoningTokens, completionTokens),
      };
      const cost = costOf(list, usage).totalNanoUsd;
      assert.ok(cost <= worstCaseOf(request, [at(list)], NOW_MS).nanoUsd);
    }),
  );
});

test('the dearest endpoint counts, and one whose price is unknown does not', () => {
  const cheap = at({ prompt: 1_000, completion: 1_000 });
  const dear = at({ prompt: 2_000, completion: 9_000 });
  const alone = worstCaseOf(request, [dear], NOW_MS).nanoUsd;
  assert.equal(worstCaseOf(request, [cheap, dear, priced('two', undefined)], NOW_MS).nanoUsd, alone);
  assert.ok(worstCaseOf(request, [cheap], NOW_MS).nanoUsd < alone);
  assert.equal(worstCaseOf(request, [priced('two', undefined)], NOW_MS).nanoUsd, 0);
});

test('without a bound the longest answer that the endpoint writes counts', () => {
  const price = { prompt: 0, completion: 1_000 };
  const open = requestOf();
  const worst = (changes: Parameters<typeof priced>[2]) => worstCaseOf(open, [at(price, changes)], NOW_MS);
  assert.deepEqual(
    [{ outputTokensMax: 500 }, { contextTokensMax: 8_000 }, { contextTokensMax: 1_000_000 }, {}].map(
      (facts) => worst(facts).nanoUsd,
    ),
    [500, 8_000, 128_000, 128_000],
  );
  assert.equal(worst({}).isOpenEnded, true);
  assert.equal(worstCaseOf(request, [], NOW_MS).isOpenEnded, false);
});

test('an endpoint that writes more than was asked for is held at that', () => {
  assert.equal(
    worstCaseOf(request, [at({ prompt: 0, completion: 1_000 }, { outputTokensMin: 160 })], NOW_MS).nanoUsd,
    160,
  );
});

test('an answer of the length that is said to be affordable is affordable, and one of twice that is not', () => {
  const endpoints = [at({ prompt: 3_000, completion: 15_000 })];
  const { affordableTokens } = worstCaseOf(request, endpoints, NOW_MS);
  const nanoUsd = 1_000;
  const tokens = affordableTokens(nanoUsd);
  const costs = (maxTokens: number): number =>
    worstCaseOf(requestOf({ settings: { maxTokens } }), endpoints, NOW_MS).nanoUsd;
  assert.ok(tokens > 0 && costs(tokens) <= nanoUsd, `${tokens} tokens cost ${costs(tokens)}`);
  assert.ok(costs(tokens * 2) > nanoUsd);
  assert.equal(affordableTokens(1), 0);
});

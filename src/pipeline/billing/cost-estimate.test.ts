import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { estimateRequestTokens } from '../../canonical/estimate-tokens.ts';
import { NO_USAGE } from '../../canonical/usage.ts';
import type { Endpoint } from '../../catalog/model.ts';
import { costOf, type PriceTable } from '../../catalog/price.ts';
import { priced, requestOf } from '../../../tests/support/route-plan.ts';
import { answerPriceOf, worstCaseOf, type Offer } from './cost-estimate.ts';

const NOW_MS = 1_700_000_000_000;
const request = requestOf({ settings: { maxTokens: 100 } });
const promptTokens = estimateRequestTokens(request);
const offer = (price: PriceTable | undefined, maxTokens?: number, changes: Partial<Endpoint> = {}): Offer => ({
  endpoint: priced('one', undefined, { ...changes, ...(price !== undefined && { price }) }),
  maxTokens,
});
const at = (price: PriceTable | undefined, changes: Partial<Endpoint> = {}): Offer => offer(price, 100, changes);

// @spec money-30
test('covers the cost of every response within its bound', () => {
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

test('takes the most expensive endpoint, and ignores one whose price is unknown', () => {
  const cheap = at({ prompt: 1_000, completion: 1_000 });
  const dear = at({ prompt: 2_000, completion: 9_000 });
  const alone = worstCaseOf(request, [dear], NOW_MS).nanoUsd;
  assert.equal(worstCaseOf(request, [cheap, dear, at(undefined)], NOW_MS).nanoUsd, alone);
  assert.ok(worstCaseOf(request, [cheap], NOW_MS).nanoUsd < alone);
  assert.equal(worstCaseOf(request, [at(undefined)], NOW_MS).nanoUsd, 0);
});

test('takes the longest response of the endpoint without a bound', () => {
  const price = { prompt: 0, completion: 1_000 };
  const open = requestOf();
  const worst = (changes: Partial<Endpoint>) => worstCaseOf(open, [offer(price, undefined, changes)], NOW_MS);
  assert.deepEqual(
    [{ outputTokensMax: 500 }, { contextTokensMax: 8_000 }, { contextTokensMax: 1_000_000 }, {}].map(
      (facts) => worst(facts).nanoUsd,
    ),
    [500, 8_000, 262_144, 262_144],
  );
});

test('reserves for what an endpoint writes at least, where that is more than the request allows', () => {
  assert.equal(
    worstCaseOf(request, [at({ prompt: 0, completion: 1_000 }, { outputTokensMin: 160 })], NOW_MS).nanoUsd,
    160,
  );
});

test('affords a response of the affordable length, and not one of twice that', () => {
  const price = { prompt: 3_000, completion: 15_000 };
  const { affordableTokens } = worstCaseOf(request, [at(price)], NOW_MS);
  const nanoUsd = 1_000;
  const tokens = affordableTokens(nanoUsd);
  const costs = (maxTokens: number): number => worstCaseOf(request, [offer(price, maxTokens)], NOW_MS).nanoUsd;
  assert.ok(tokens > 0 && costs(tokens) <= nanoUsd, `${tokens} tokens cost ${costs(tokens)}`);
  assert.ok(costs(tokens * 2) > nanoUsd);
  assert.equal(affordableTokens(1), 0);
});

test('caps a bound at what the endpoint writes, or at the largest plausible count', () => {
  const price = { prompt: 0, completion: 1_000_000_000 };
  const worst = (changes: Partial<Endpoint>) =>
    worstCaseOf(request, [offer(price, Number.MAX_SAFE_INTEGER, changes)], NOW_MS).nanoUsd;
  assert.deepEqual([worst({ outputTokensMax: 500 }), worst({})], [500_000_000, 100_000_000_000_000]);
});

test('searches that tools allow are held for, each at its fee', () => {
  const price = { prompt: 0, completion: 0, webSearch: 10_000 };
  const worst = (changes: Parameters<typeof requestOf>[0]): number =>
    worstCaseOf(requestOf(changes), [at(price)], NOW_MS).nanoUsd;
  const search = (more: object) =>
    ({ type: 'opaque', format: 'messages', value: { type: 'web_search_20250305', ...more } }) as const;
  assert.deepEqual(
    [
      worst({}),
      worst({ tools: [search({ max_uses: 3 })] }),
      worst({ tools: [search({})] }),
      worst({ settings: { webSearchOptions: {} } }),
      worst({ settings: { nativeWebSearch: {} } }),
      worst({ settings: { nativeWebSearch: { usesMax: 30 } } }),
      worst({ settings: { nativeWebSearch: { usesMax: 2 } } }),
      worst({ tools: [search({ max_uses: Number.MAX_SAFE_INTEGER })] }),
    ],
    [0, 30, 100, 100, 100, 300, 100, 10_000],
  );
});

test('reserves for a file of unknown length as if it filled the window', () => {
  const price = { prompt: 1_000, completion: 0 };
  const worst = (media: 'document' | 'image', url: string): number => {
    const turns = [{ role: 'user', blocks: [{ type: 'media', media, source: { type: 'url', url } }] }] as const;
    return worstCaseOf(requestOf({ turns }), [at(price, { contextTokensMax: 200_000 })], NOW_MS).nanoUsd;
  };
  assert.equal(worst('document', 'https://files.example/long.pdf'), 200_000);
  assert.ok(worst('document', 'data:application/pdf;base64,JVBERi0=') < 10_000);
  assert.ok(worst('image', 'https://files.example/picture.png') < 10_000);
});

test('affords what a response costs, and costs no more than the money that affords it', () => {
  const rate = fc.nat({ max: 90_000_000 });
  fc.assert(
    fc.property(
      rate,
      rate,
      fc.nat({ max: 2_000_000 }),
      fc.nat({ max: 10_000_000_000 }),
      (prompt, completion, tokens, nanoUsd) => {
        const answer = answerPriceOf(request, at({ prompt, completion }).endpoint, NOW_MS);
        const longest = answer.tokensFor(answer.costOf(tokens));
        assert.ok(longest >= tokens, `${longest} of ${tokens}`);
        const bought = answer.tokensFor(nanoUsd);
        if (bought === Infinity) return assert.equal(completion, 0);
        if (bought > 0) assert.ok(answer.costOf(bought) <= nanoUsd);
        return assert.ok(bought >= 100_000_000 || answer.costOf(bought + 1) > nanoUsd || answer.costOf(0) > nanoUsd);
      },
    ),
  );
});

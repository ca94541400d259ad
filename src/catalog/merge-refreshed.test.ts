import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { acceptPrices } from './accept-prices.ts';
import type { KnownModel } from './built-in.ts';
import { mergeRefreshed } from './merge-refreshed.ts';
import { priceTableOf } from './price.ts';
import type { RefreshedCatalog, RefreshedEndpoint, RefreshedPrice } from './refreshed.ts';

const usd = (prompt: number, completion: number) => ({ prompt, completion });

function row(model: string, changes: Partial<RefreshedEndpoint> = {}): RefreshedEndpoint {
  return {
    provider: 'alpha',
    model,
    name: model,
    input_modalities: ['text', 'image'],
    output_modalities: ['text'],
    context_length: 100_000,
    released: '2026-05',
    ...changes,
  };
}

const KNOWN: readonly KnownModel[] = [
  {
    facts: { slug: 'acme/one', canonicalSlug: 'alpha/one-2026', name: 'One', contextTokensMax: 8_000 },
    endpoints: [
      {
        provider: 'alpha',
        upstreamModel: 'one',
        facts: { price: priceTableOf(usd(4, 8)), contextTokensMax: 8_000 },
      },
      { provider: 'beta', upstreamModel: 'one-b', facts: {} },
    ],
  },
];

function merged(rows: readonly RefreshedEndpoint[], overridePrices = false): readonly KnownModel[] {
  return mergeRefreshed(KNOWN, { endpoints: [...rows] }, { overridePrices });
}

const priceOf = (models: readonly KnownModel[], at: number) => models[0]?.endpoints[at]?.facts.price;

suite('a public list below the project', () => {
  // @spec catalog-20
  test('adds missing facts, and changes no existing ones', () => {
    const [model] = merged([row('one', { max_completion_tokens: 500 })]);
    assert.equal(model?.facts.contextTokensMax, 8_000);
    assert.equal(model.facts.released, '2026-05');
    assert.equal(model.endpoints[0]?.facts.outputTokensMax, 500);
    assert.equal(model.endpoints[0].facts.contextTokensMax, 8_000);
  });

  // @spec catalog-20
  test('never changes a price that is known, unless the operator lets it, and then not by more than four times', () => {
    const own = priceTableOf(usd(4, 8));
    assert.deepEqual(priceOf(merged([row('one', { price: usd(3, 8) })]), 0), own);
    assert.deepEqual(priceOf(merged([row('one', { price: usd(3, 8) })], true), 0), priceTableOf(usd(3, 8)));
    assert.deepEqual(priceOf(merged([row('one', { price: usd(0.9, 8) })], true), 0), own);
  });

  test("adds a price where none is known, but not one far below the other endpoints'", () => {
    const priced = (price: RefreshedPrice) => priceOf(merged([row('one-b', { provider: 'beta', price })]), 1);
    assert.deepEqual(priced(usd(2, 4)), priceTableOf(usd(2, 4)));
    assert.equal(priced(usd(1, 2)), undefined);
  });

  test('names models that the project does not know by their provider, marked, and never in place of one that it knows', () => {
    const models = merged([row('next', { price: usd(1, 2) }), row('one-2026')]);
    assert.deepEqual(
      models.map(({ facts: { slug, unreviewed } }) => [slug, unreviewed]),
      [
        ['acme/one', undefined],
        ['alpha/next', true],
      ],
    );
    assert.deepEqual(models[1]?.endpoints[0]?.facts.price, priceTableOf(usd(1, 2)));
  });
});

suite('prices of a public list', () => {
  const last: RefreshedCatalog = {
    version: 1,
    source: 'https://models.test/api.json',
    fetched: '2026-11-20T00:00:00.000Z',
    endpoints: [row('one', { price: usd(4, 8) })],
    refused: [],
  };
  const faultsOf = (price: RefreshedPrice | undefined, isMoveFine = false) => {
    const { endpoints, refused } = acceptPrices([row('one', price && { price })], last, isMoveFine);
    return [refused.map(({ fault }) => fault).join(), endpoints[0]?.price];
  };

  test('are accepted when they are plausible', () => {
    assert.deepEqual(faultsOf(usd(16, 32)), ['', usd(16, 32)]);
    assert.deepEqual(faultsOf(usd(4, 2)), ['', usd(4, 2)]);
  });

  test('are left out when they are missing, free, or swapped', () => {
    assert.deepEqual(faultsOf(undefined), ['no price', undefined]);
    assert.deepEqual(faultsOf(usd(0, 8)), ['free', undefined]);
    assert.deepEqual(faultsOf(usd(4, 0)), ['free', undefined]);
    assert.deepEqual(faultsOf(usd(8, 1.9)), ['dearer to read than to write', undefined]);
  });

  test('stay as they were when they moved by more than four times, until a person says that it is right', () => {
    assert.deepEqual(faultsOf(usd(17, 32)), ['moved too far', usd(4, 8)]);
    assert.deepEqual(faultsOf(usd(4, 1.9)), ['moved too far', usd(4, 8)]);
    assert.deepEqual(faultsOf(usd(17, 32), true), ['', usd(17, 32)]);
  });
});

import assert from 'node:assert/strict';
import test from 'node:test';
import { DEFAULT_PREFERENCES } from '../../canonical/directives.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { checkShape } from './validation/check-shape.ts';
import { providerPreferences, decodeProviderPreferences } from './provider-preferences.ts';

function read(provider: unknown, route?: 'fallback' | 'sort' | null) {
  return decodeProviderPreferences(checkShape(providerPreferences.nullish(), provider, { root: 'provider' }), route);
}

test('decodes no preferences, null, and an empty object to the defaults', () => {
  for (const provider of [undefined, null, {}]) assert.deepEqual(read(provider), DEFAULT_PREFERENCES);
});

test('null in any nullable field is as if it were absent', () => {
  const fields = [
    'order',
    'allow_fallbacks',
    'only',
    'ignore',
    'require_parameters',
    'data_collection',
    'zdr',
    'enforce_distillable_text',
    'quantizations',
    'sort',
    'preferred_min_throughput',
    'preferred_max_latency',
  ];
  assert.deepEqual(read(Object.fromEntries(fields.map((field) => [field, null]))), DEFAULT_PREFERENCES);
  assert.deepEqual(read({ sort: { by: null, partition: null } }), DEFAULT_PREFERENCES);
});

// @spec route-15
test('decodes every field', () => {
  assert.deepEqual(
    read({
      order: ['alpha', 'Beta'],
      allow_fallbacks: false,
      only: ['alpha'],
      ignore: ['gamma'],
      require_parameters: true,
      data_collection: 'deny',
      zdr: true,
      enforce_distillable_text: true,
      quantizations: ['fp8', 'unknown'],
      sort: { by: 'throughput', partition: 'none' },
      max_price: { prompt: 1, completion: '2.50', request: '0', image: '.5', audio: '1e-3' },
      preferred_min_throughput: 40,
      preferred_max_latency: { p50: 1, p75: null, p99: 4.5 },
    }),
    {
      order: ['alpha', 'Beta'],
      allowFallbacks: false,
      only: ['alpha'],
      ignore: ['gamma'],
      requireParameters: true,
      dataCollection: 'deny',
      zdr: true,
      enforceDistillableText: true,
      quantizations: ['fp8', 'unknown'],
      sort: { by: 'throughput', partition: 'none' },
      maxPrice: { prompt: 1, completion: 2.5, request: 0, image: 0.5, audio: 0.001 },
      preferredMinThroughput: { p50: 40 },
      preferredMaxLatency: { p50: 1, p99: 4.5 },
    },
  );
});

// @spec route-4
test('keeps an empty allow list, which allows no provider', () => {
  assert.deepEqual(read({ only: [] }).only, []);
});

for (const [sort, route, expected] of [
  ['price', undefined, { by: 'price' }],
  [{ by: 'latency' }, undefined, { by: 'latency' }],
  [undefined, 'fallback', { partition: 'model' }],
  [undefined, 'sort', { partition: 'none' }],
  [undefined, null, undefined],
  ['exacto', 'sort', { by: 'exacto', partition: 'none' }],
  [{ partition: 'model' }, 'sort', { partition: 'model' }],
  [{ by: 'price', partition: null }, 'fallback', { by: 'price', partition: 'model' }],
] as const) {
  // @spec route-17
  test(`sort ${JSON.stringify(sort)} with route ${JSON.stringify(route)} is ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(read(sort === undefined ? undefined : { sort }, route).sort, expected);
  });
}

for (const [provider, path] of [
  [{ options: {} }, 'provider.options'],
  [{ allow_fallback: true }, 'provider.allow_fallback'],
  [{ order: 'alpha' }, 'provider.order'],
  [{ order: ['alpha', 1] }, 'provider.order[1]'],
  [{ allow_fallbacks: 'yes' }, 'provider.allow_fallbacks'],
  [{ require_parameters: 1 }, 'provider.require_parameters'],
  [{ data_collection: 'maybe' }, 'provider.data_collection'],
  [{ zdr: 'true' }, 'provider.zdr'],
  [{ quantizations: ['int5'] }, 'provider.quantizations[0]'],
  [{ sort: 'speed' }, 'provider.sort'],
  [{ sort: { by: 'speed' } }, 'provider.sort.by'],
  [{ sort: { partition: 'all' } }, 'provider.sort.partition'],
  [{ sort: { order: 'asc' } }, 'provider.sort.order'],
  [{ max_price: null }, 'provider.max_price'],
  [{ max_price: 3 }, 'provider.max_price'],
  [{ max_price: { tokens: 1 } }, 'provider.max_price.tokens'],
  [{ max_price: { prompt: -1 } }, 'provider.max_price.prompt'],
  [{ max_price: { prompt: '-1' } }, 'provider.max_price.prompt'],
  [{ max_price: { prompt: '' } }, 'provider.max_price.prompt'],
  [{ max_price: { prompt: '1,5' } }, 'provider.max_price.prompt'],
  [{ max_price: { prompt: 'NaN' } }, 'provider.max_price.prompt'],
  [{ max_price: { prompt: '0x10' } }, 'provider.max_price.prompt'],
  [{ max_price: { prompt: '1e999' } }, 'provider.max_price.prompt'],
  [{ max_price: { prompt: '1'.repeat(100_000) } }, 'provider.max_price.prompt'],
  [{ max_price: { prompt: true } }, 'provider.max_price.prompt'],
  [{ preferred_min_throughput: -1 }, 'provider.preferred_min_throughput'],
  [{ preferred_min_throughput: { p95: 1 } }, 'provider.preferred_min_throughput.p95'],
  [{ preferred_max_latency: { p50: 'fast' } }, 'provider.preferred_max_latency.p50'],
  ['alpha', 'provider'],
  [['alpha'], 'provider'],
] as const) {
  // @spec route-1
  test(`${JSON.stringify(provider).slice(0, 60)} is 400 at ${path}`, () => {
    assert.throws(
      () => read(provider),
      (error) => error instanceof GatewayError && error.status === 400 && error.issues?.[0]?.path === path,
    );
  });
}

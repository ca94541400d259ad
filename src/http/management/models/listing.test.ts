import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import Fastify from 'fastify';
import { priceTableOf } from '../../../catalog/price.ts';
import type { Model } from '../../../catalog/model.ts';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { MANAGEMENT_ROUTES } from '../../routes.ts';
import {
  listingOf,
  NO_METRICS,
  sampleEndpoint,
  sampleModel,
} from '../../../../tests/support/management/model-listing.ts';
import { samplePrincipal } from '../../../../tests/support/principal.ts';
import { servicesOf } from '../../../../tests/support/management/services.ts';
import type { ListingServices } from '../route.ts';
import { registerManagementRoutes } from '../register-routes.ts';
import { createBodyBudget } from '../../body-budget.ts';

const KEY = 'a-good-key';

/** Serves the routes over a catalog; a key is either valid or not. */
async function gatewayOf(models: readonly Model[], services: Partial<ListingServices> = {}) {
  const fastify = Fastify();
  registerManagementRoutes(fastify, MANAGEMENT_ROUTES, {
    authenticate(headers) {
      if (headers.authorization !== `Bearer ${KEY}`) throw new GatewayError('authentication', 'No.');
      return samplePrincipal();
    },
    services: servicesOf({ listing: listingOf(models, services) }),
    bodies: createBodyBudget(100_000_000),
    log: { error: ({ err }) => assert.fail(String(err)) },
  });
  return async (path: string, headers: Record<string, string> = {}) => {
    const { statusCode: status, body, headers: answered } = await fastify.inject({ url: `/v1${path}`, headers });
    return { status, text: body, type: answered['content-type'], tag: answered.etag, body: jsonOf(body) };
  };
}

function jsonOf(text: string): JsonObject {
  const value: unknown = text.startsWith('{') ? JSON.parse(text) : {};
  return value as JsonObject;
}

function idsOf(body: JsonObject): readonly unknown[] {
  assert.ok(Array.isArray(body['data']), JSON.stringify(body));
  return body['data'].map((row: Json) => (isJsonObject(row) ? row['id'] : row));
}

const price = (prompt: number, completion: number) => priceTableOf({ prompt, completion });

const vendorModel = (id: string, name: string, day: string): JsonObject => ({
  type: 'model',
  id,
  display_name: name,
  created_at: `${day}T00:00:00.000Z`,
  max_input_tokens: null,
  max_tokens: null,
  capabilities: null,
  line: null,
  lifecycle: 'active',
  deprecated_at: null,
  retires_at: null,
});

const MODELS: readonly Model[] = [
  sampleModel('acme/cheap', {
    name: 'Acme Cheap',
    released: '2026-11-01',
    contextTokensMax: 8_000,
    tokenizer: 'Claude',
    supportedParameters: ['tools', 'temperature'],
    inputModalities: ['text', 'image'],
    outputModalities: ['text'],
    scores: [{ metric: 'coding', score: 0.4 }],
    family: 'acme',
    canonicalSlug: 'acme/cheap-20261101',
    endpoints: [sampleEndpoint({ price: price(1, 2), dataPolicy: { training: false, retentionDays: 0 } })],
  }),
  sampleModel('acme/dear', {
    released: '2025-01',
    contextTokensMax: 200_000,
    supportedParameters: ['tools', 'reasoning'],
    scores: [
      { metric: 'coding', score: 0.9 },
      { metric: 'livebench-2026-06-25/global-average', score: 0.7, variant: 'high' },
      { metric: 'livebench-2026-06-25/global-average', score: 0.6, variant: 'low' },
    ],
    family: 'acme',
    endpoints: [
      sampleEndpoint({ provider: 'beta', providerName: 'Beta Cloud', price: price(10, 40), distillable: true }),
    ],
  }),
  sampleModel('other/unpriced'),
  sampleModel('other/painter', { outputModalities: ['image'] }),
];

suite('GET /models', () => {
  // @spec catalog-1
  test('lists every model that answers in text, complete and without pages', async () => {
    const ask = await gatewayOf(MODELS);
    const { status, body } = await ask('/models');
    assert.equal(status, 200);
    assert.deepEqual(idsOf(body), ['acme/cheap', 'acme/dear', 'other/unpriced']);
    assert.equal(body['total_count'], 3);
    assert.deepEqual(body['links'], { next: null });
  });

  // @spec catalog-6
  test('shows an unknown price as -1 and never 0, and a known one exactly', async () => {
    const ask = await gatewayOf(MODELS);
    const { body } = await ask('/models');
    assert.ok(Array.isArray(body['data']));
    const pricing = body['data'].map((row: Json) => isJsonObject(row) && row['pricing']);
    assert.deepEqual(pricing, [
      { prompt: '0.000001', completion: '0.000002' },
      { prompt: '0.00001', completion: '0.00004' },
      { prompt: '-1', completion: '-1' },
    ]);
  });

  const FILTERS: readonly (readonly [query: string, ids: readonly string[]])[] = [
    ['output_modalities=all', ['acme/cheap', 'acme/dear', 'other/unpriced', 'other/painter']],
    ['output_modalities=image', ['other/painter']],
    ['input_modalities=text,image', ['acme/cheap']],
    ['q=CHEAP%20acme', ['acme/cheap']],
    ['supported_parameters=tools', ['acme/cheap', 'acme/dear', 'other/unpriced']],
    ['supported_parameters=tools,reasoning', ['acme/dear']],
    ['context=100000', ['acme/dear']],
    ['max_price=5', ['acme/cheap']],
    ['min_price=5', ['acme/dear']],
    ['min_price=0', ['acme/cheap', 'acme/dear']],
    ['max_output_price=2', ['acme/cheap']],
    ['min_output_price=40', ['acme/dear']],
    ['min_price=&max_price=null', ['acme/cheap', 'acme/dear', 'other/unpriced']],
    ['arch=claude', ['acme/cheap']],
    ['model_authors=other', ['other/unpriced']],
    ['providers=beta', ['acme/dear']],
    ['providers=BETA%20cloud,nobody', ['acme/dear']],
    ['distillable=true', ['acme/dear']],
    ['distillable=false', ['acme/cheap', 'other/unpriced']],
    ['zdr=true', ['acme/cheap']],
    ['region=eu', ['acme/dear']],
    ['region=us', []],
    ['max_age_days=60', ['acme/cheap']],
    ['min_age_days=60', ['acme/dear']],
    ['min_coding_index=50', ['acme/dear']],
    ['max_coding_index=50', ['acme/cheap']],
    ['min_intelligence_index=70', ['acme/dear']],
    ['min_agentic_index=0', []],
    ['min_tool_success_rate=0', []],
    ['category=programming', []],
    ['sort=newest', ['acme/cheap', 'acme/dear', 'other/unpriced']],
    ['sort=pricing-low-to-high', ['acme/cheap', 'acme/dear', 'other/unpriced']],
    ['sort=pricing-high-to-low', ['acme/dear', 'acme/cheap', 'other/unpriced']],
    ['sort=context-high-to-low', ['acme/dear', 'acme/cheap', 'other/unpriced']],
    ['sort=coding-high-to-low', ['acme/dear', 'acme/cheap', 'other/unpriced']],
    ['sort=intelligence-high-to-low', ['acme/dear', 'acme/cheap', 'other/unpriced']],
    ['sort=agentic-high-to-low', ['acme/cheap', 'acme/dear', 'other/unpriced']],
    ['sort=throughput-high-to-low', ['acme/dear', 'acme/cheap', 'other/unpriced']],
    ['sort=latency-low-to-high', ['acme/dear', 'acme/cheap', 'other/unpriced']],
    ['sort=most-popular', ['acme/dear', 'acme/cheap', 'other/unpriced']],
    ['sort=top-weekly', ['acme/dear', 'acme/cheap', 'other/unpriced']],
    ['sort=design-arena-elo-high-to-low', ['acme/cheap', 'acme/dear', 'other/unpriced']],
    ['offset=1&limit=1', ['acme/dear']],
    ['something=unknown', ['acme/cheap', 'acme/dear', 'other/unpriced']],
  ];
  const same = (value: number) => ({ p50: value, p75: value, p90: value, p99: value });
  const services: Partial<ListingServices> = {
    providers: () => [
      {
        slug: 'beta',
        name: 'Beta Cloud',
        headquarters: 'DE',
        datacenters: ['DE'],
        privacyPolicyUrl: null,
        termsOfServiceUrl: null,
        statusPageUrl: null,
      },
    ],
    metricsOf({ provider, price: listed }) {
      if (listed === undefined) return NO_METRICS;
      const isFast = provider === 'beta';
      return {
        ...NO_METRICS,
        requestsLast1d: isFast ? 9 : 5,
        latencyLast30m: same(isFast ? 100 : 900),
        throughputLast30m: same(isFast ? 90 : 10),
      };
    },
  };
  for (const [query, ids] of FILTERS)
    // @spec catalog-2, catalog-5
    test(`filters by ?${query} to ${ids.join(', ') || 'no models'}`, async () => {
      const ask = await gatewayOf(MODELS, services);
      const { status, body } = await ask(`/models?${query}`);
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual(idsOf(body), ids);
    });

  for (const query of ['limit=0', 'limit=1001', 'offset=-1', 'max_price=x', 'sort=best', 'zdr=false', 'region=mars'])
    // @spec catalog-3
    test(`answers 400 for ?${query} and names it`, async () => {
      const ask = await gatewayOf(MODELS);
      const { status, text } = await ask(`/models?${query}`);
      assert.equal(status, 400);
      assert.match(text, new RegExp(`query\\.${query.split('=')[0]}`));
    });

  // @spec catalog-4
  test('links a page to the next one with the same filters, until there is none', async () => {
    const ask = await gatewayOf(MODELS);
    const first = await ask('/models?output_modalities=all&limit=3');
    assert.equal(first.body['total_count'], 4);
    const links = first.body['links'];
    assert.ok(isJsonObject(links) && typeof links['next'] === 'string');
    const second = await ask(links['next'].slice('http://gateway.test/v1'.length));
    assert.deepEqual(idsOf(second.body), ['other/painter']);
    assert.deepEqual(second.body['links'], { next: null });
  });

  // @spec catalog-9
  test("answers a client of the messages format in its vendor's shape, page by page", async () => {
    const ask = await gatewayOf(MODELS);
    const headers = { 'anthropic-version': '2023-06-01' };
    const first = await ask('/models?limit=2', headers);
    assert.deepEqual(first.body, {
      data: [
        { ...vendorModel('acme/cheap', 'Acme Cheap', '2026-11-01'), max_input_tokens: 8_000 },
        { ...vendorModel('acme/dear', 'acme/dear', '2025-01-01'), max_input_tokens: 200_000 },
      ],
      has_more: true,
      first_id: 'acme/cheap',
      last_id: 'acme/dear',
    });
    const second = await ask('/models?limit=2&after_id=acme/dear', headers);
    assert.deepEqual(idsOf(second.body), ['other/unpriced']);
    assert.equal(second.body['has_more'], false);
    const before = await ask('/models?limit=1&before_id=other/unpriced', headers);
    assert.deepEqual(idsOf(before.body), ['acme/dear']);
    assert.equal(before.body['has_more'], true);
  });

  // @spec catalog-9
  test('shows one model in the shape of the client, with the slash escaped or not', async () => {
    const ask = await gatewayOf(MODELS);
    for (const path of ['/models/acme/cheap', '/models/acme%2Fcheap', '/models/acme%2fcheap']) {
      const { status, body } = await ask(path);
      assert.equal(status, 200, path);
      assert.deepEqual(
        [body['id'], body['object'], body['owned_by'], body['created']],
        ['acme/cheap', 'model', 'acme', Date.parse('2026-11-01') / 1_000],
      );
      assert.equal(body['context_length'], 8_000);
      const vendors = await ask(path, { 'anthropic-version': '2023-06-01' });
      assert.deepEqual(vendors.body, {
        ...vendorModel('acme/cheap', 'Acme Cheap', '2026-11-01'),
        max_input_tokens: 8_000,
      });
    }
    for (const path of ['/models/none', '/models/acme/none', '/models/acme%2Fnone', '/models/%2F'])
      assert.equal((await ask(path)).status, 404, path);
    assert.equal((await ask('/models/~acme%2Facme-latest')).body['id'], '~acme/acme-latest');
  });

  test('returns a feed for use_rss, in which names cannot be markup', async () => {
    const ask = await gatewayOf([sampleModel('acme/x', { name: '<b>&' })]);
    const { type, text } = await ask('/models?use_rss=true');
    assert.match(String(type), /^application\/rss\+xml/);
    assert.match(text, /<title>&lt;b&gt;&amp;<\/title>/);
  });

  // @spec catalog-10
  test('answers 304 to a client that has the list, until it changes', async () => {
    const ask = await gatewayOf(MODELS);
    for (const path of [
      '/models',
      '/models/count',
      '/model/acme/cheap',
      '/models/acme/cheap/endpoints',
      '/providers',
    ]) {
      const first = await ask(path);
      assert.equal(first.status, 200, path);
      const again = await ask(path, { 'if-none-match': String(first.tag) });
      assert.deepEqual([again.status, again.text, again.tag], [304, '', first.tag], path);
    }
    const { tag } = await ask('/models');
    const other = await gatewayOf(MODELS.slice(1));
    assert.equal((await other('/models', { 'if-none-match': String(tag) })).status, 200);
    const vendors = await ask('/models', { 'if-none-match': String(tag), 'anthropic-version': '2023-06-01' });
    assert.equal(vendors.status, 200);
  });
});

suite('other lists', () => {
  // @spec catalog-1
  test('counts the models of the list in GET /models/count', async () => {
    const ask = await gatewayOf(MODELS);
    assert.deepEqual((await ask('/models/count')).body, { data: { count: 3 } });
    assert.deepEqual((await ask('/models/count?output_modalities=all')).body, { data: { count: 4 } });
  });

  // @spec catalog-11
  test('needs a key for GET /models/user, and leaves out what the caller may not use', async () => {
    const ask = await gatewayOf(MODELS, {
      allowedTo:
        async () =>
        (_model, { provider }) =>
          provider !== 'beta',
    });
    assert.equal((await ask('/models/user')).status, 401);
    const { body } = await ask('/models/user', { authorization: `Bearer ${KEY}` });
    assert.deepEqual(idsOf(body), ['acme/cheap', 'other/unpriced', 'other/painter']);
  });

  // @spec catalog-8
  test('resolves aliases and variants in GET /model/{author}/{slug}, and answers 404 for others', async () => {
    const ask = await gatewayOf(MODELS);
    const idOf = async (path: string) => {
      const { body } = await ask(`/model/${path}`);
      return isJsonObject(body['data']) ? body['data'] : body;
    };
    assert.equal((await idOf('acme/cheap:nitro'))['id'], 'acme/cheap');
    assert.equal((await idOf('acme/cheap-20261101'))['id'], 'acme/cheap');
    const alias = await idOf('~acme/acme-latest');
    assert.equal(alias['id'], '~acme/acme-latest');
    assert.deepEqual(alias['alias_target'], { slug: 'acme/cheap', name: 'Acme Cheap' });
    for (const path of ['/model/acme/none', '/model/acme/cheap:turbo', '/models/acme/none/endpoints'])
      assert.equal((await ask(path)).status, 404, path);
  });

  // @spec catalog-7
  test('lists prices that change with the prompt or the time with their conditions', async () => {
    const table = priceTableOf({
      prompt: 1,
      completion: 2,
      overrides: [
        { minPromptTokens: 200_000, rates: { prompt: 2 } },
        { utcStart: 30, utcEnd: 830, rates: { completion: 1 } },
      ],
    });
    const ask = await gatewayOf([sampleModel('acme/one', { endpoints: [sampleEndpoint({ price: table })] })]);
    const { body } = await ask('/models/acme/one/endpoints');
    assert.ok(isJsonObject(body['data']) && Array.isArray(body['data']['endpoints']), JSON.stringify(body));
    const [endpoint] = body['data']['endpoints'];
    assert.deepEqual(isJsonObject(endpoint) && endpoint['pricing'], {
      prompt: '0.000001',
      completion: '0.000002',
      overrides: [
        { min_prompt_tokens: 200_000, prompt: '0.000002' },
        { utc_start: 30, utc_end: 830, completion: '0.000001' },
      ],
    });
  });

  // @spec auth-8, catalog-13
  test('shows price and uptime of endpoints without a key, speed with a key, and refuses an invalid key', async () => {
    const speed = { p50: 1, p75: 2, p90: 3, p99: 4 };
    const ask = await gatewayOf(MODELS, {
      metricsOf: () => ({ ...NO_METRICS, uptimeLast5m: 90, latencyLast30m: speed, throughputLast30m: speed }),
    });
    const endpointOf = async (headers: Record<string, string>) => {
      const { body } = await ask('/models/acme/cheap/endpoints', headers);
      assert.ok(isJsonObject(body['data']) && Array.isArray(body['data']['endpoints']), JSON.stringify(body));
      const [endpoint] = body['data']['endpoints'];
      assert.ok(isJsonObject(endpoint));
      return endpoint;
    };
    const open = await endpointOf({});
    assert.deepEqual(open['pricing'], { prompt: '0.000001', completion: '0.000002' });
    assert.equal(open['uptime_last_5m'], 90);
    assert.equal(open['status'], -1);
    assert.equal(open['latency_last_30m'], null);
    const known = await endpointOf({ authorization: `Bearer ${KEY}` });
    assert.deepEqual(known['latency_last_30m'], speed);
    assert.deepEqual(known['throughput_last_30m'], speed);
    assert.equal((await ask('/models/acme/cheap/endpoints', { authorization: 'Bearer bad' })).status, 401);
  });

  // @spec catalog-14
  test('gives an endpoint a status by its uptime and its credentials', async () => {
    const statusOf = async (uptimeLast5m: number | null, lacksCredentials: boolean): Promise<unknown> => {
      const endpoint = sampleEndpoint({ provider: 'alpha', model: 'acme/one', lacksCredentials });
      const models = [sampleModel('acme/one', { endpoints: [endpoint] })];
      const ask = await gatewayOf(models, { metricsOf: () => ({ ...NO_METRICS, uptimeLast5m }) });
      const { body } = await ask('/models/acme/one/endpoints');
      assert.ok(isJsonObject(body['data']) && Array.isArray(body['data']['endpoints']), JSON.stringify(body));
      const [first] = body['data']['endpoints'];
      return isJsonObject(first) && first['status'];
    };
    assert.deepEqual(
      await Promise.all([statusOf(null, false), statusOf(95, false), statusOf(80, false), statusOf(79, false)]),
      [0, 0, -1, -3],
    );
    assert.equal(await statusOf(100, true), -5);
  });

  // @spec catalog-15
  test('lists only endpoints that are known to keep nothing in GET /endpoints/zdr', async () => {
    const ask = await gatewayOf(MODELS);
    const { body } = await ask('/endpoints/zdr');
    assert.ok(Array.isArray(body['data']));
    assert.deepEqual(
      body['data'].map((row: Json) => isJsonObject(row) && row['model_id']),
      ['acme/cheap'],
    );
  });

  // @spec catalog-7, catalog-12, catalog-16
  test('answers as each schema says', async () => {
    const ask = await gatewayOf(MODELS);
    for (const [path, template] of [
      ['/models?output_modalities=all', '/models'],
      ['/models/count', '/models/count'],
      ['/model/acme/dear', '/model/{author}/{slug}'],
      ['/models/acme/dear/endpoints', '/models/{author}/{slug}/endpoints'],
      ['/endpoints/zdr', '/endpoints/zdr'],
      ['/providers', '/providers'],
    ] as const) {
      const { body } = await ask(path);
      const schema = MANAGEMENT_ROUTES.find((route) => route.path === template)?.responses[200]?.schema;
      assert.ok(schema);
      assert.deepEqual(schema.safeParse(body).error?.issues ?? [], [], path);
    }
  });
});

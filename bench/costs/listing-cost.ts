import { createCatalog } from '../../src/catalog/catalog.ts';
import { priceTableOf } from '../../src/catalog/price.ts';
import type { Model } from '../../src/catalog/model.ts';
import { etagOf } from '../../src/http/etag.ts';
import { filterModels, modelsQuery } from '../../src/http/management/models/filters.ts';
import { serializePage, filterFacts } from '../../src/http/management/models/list.ts';
import type { ListingServices } from '../../src/http/management/route.ts';
import { createEndpointStats } from '../../src/routing/stats.ts';
import { endpointName } from '../../src/routing/endpoint-name.ts';
import { systemClock } from '../../src/lib/clock.ts';

const MODELS = 500;
const ENDPOINTS_EACH = 3;

/** What a client that lists every model makes the gateway do, but for the socket: filter, sort, draw, write out, tag. */
export function createListing(): () => string {
  const models = Array.from({ length: MODELS }, (_, at) => createModel(at));
  const stats = createEndpointStats({ clock: systemClock });
  const listing: ListingServices = {
    catalog: createCatalog(models, []),
    metricsOf: (endpoint) => stats.listed(endpointName(endpoint)),
    providers: () => [],
    allowedTo: async () => () => true,
    callerOf: async () => undefined,
    admitKey: () => Promise.reject(new Error('no key is named')),
    sourcesOf: async () => undefined,
    nowMs: () => systemClock.nowMs(),
    baseUrl: () => 'http://gateway.test/v1',
  };
  const query = modelsQuery.parse({ sort: 'coding-high-to-low', supported_parameters: 'tools' });
  return () => {
    const found = filterModels(listing.catalog.list(), query, filterFacts(listing));
    return etagOf(JSON.stringify(serializePage(found, query, listing.baseUrl())));
  };
}

function createModel(at: number): Model {
  const slug = `bench/model-${at}`;
  return {
    slug,
    name: `Model ${at}`,
    contextTokensMax: 200_000,
    supportedParameters: ['tools', 'temperature', 'top_p', 'max_tokens', 'response_format', 'seed', 'stop'],
    scores: [{ metric: 'coding', score: at / MODELS, source: 'bench', date: '2026-11-21' }],
    endpoints: Array.from({ length: ENDPOINTS_EACH }, (_none, endpoint) => ({
      model: slug,
      provider: `provider-${endpoint}`,
      providerName: `Provider ${endpoint}`,
      upstreamModel: slug,
      price: priceTableOf({ prompt: 1, completion: 4, cacheRead: 0.1 }),
      dataPolicy: {},
      formats: ['chat'],
      cancellable: true,
    })),
  };
}

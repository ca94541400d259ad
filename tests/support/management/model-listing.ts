import { createCatalog } from '../../../src/catalog/catalog.ts';
import type { EndpointMetrics } from '../../../src/catalog/endpoint-metrics.ts';
import type { Endpoint, Model } from '../../../src/catalog/model.ts';
import type { ListingServices } from '../../../src/http/management/route.ts';

export const NO_METRICS: EndpointMetrics = {
  uptimeLast5m: null,
  uptimeLast30m: null,
  uptimeLast1d: null,
  requestsLast1d: 0,
  latencyLast30m: null,
  throughputLast30m: null,
};

/** An endpoint of which nothing is known but what is said. */
export function sampleEndpoint(facts: Partial<Endpoint> = {}): Endpoint {
  return {
    model: 'acme/one',
    provider: 'alpha',
    providerName: 'Alpha',
    upstreamModel: 'one-2026',
    price: undefined,
    dataPolicy: {},
    formats: ['chat'],
    cancellable: false,
    ...facts,
  };
}

export function sampleModel(slug: string, facts: Partial<Model> = {}): Model {
  return { slug, name: slug, endpoints: [sampleEndpoint({ model: slug })], ...facts };
}

export function listingOf(models: readonly Model[], services: Partial<ListingServices> = {}): ListingServices {
  return {
    catalog: createCatalog(models, []),
    metricsOf: () => NO_METRICS,
    providers: () => [],
    allowedTo: async () => () => true,
    callerOf: async () => undefined,
    admitKey: () => Promise.reject(new Error('no key is named')),
    sourcesOf: async () => undefined,
    nowMs: () => Date.parse('2026-11-25T12:00:00Z'),
    baseUrl: () => 'http://gateway.test/v1',
    ...services,
  };
}

import { DEFAULT_PREFERENCES, type ProviderPreferences } from '../../src/canonical/directives.ts';
import type { ExclusionReason } from '../../src/canonical/exclusion-reasons.ts';
import type { GenerationRequest } from '../../src/canonical/request.ts';
import type { Endpoint, Model } from '../../src/catalog/model.ts';
import type { EndpointHealth } from '../../src/routing/health.ts';
import { planCandidates } from '../../src/routing/plan.ts';
import type { PlanInput, RoutePlan } from '../../src/routing/route-plan.ts';
import type { RoutingMetrics } from '../../src/routing/stats.ts';
import { plainDirectives } from './plain-directives.ts';

const HEALTHY: EndpointHealth = { rank: 0, open: false, probeDue: false };

const FORMATS = {
  chat: { parameters: new Set(['temperature', 'seed', 'tools', 'response_format', 'verbosity']) },
};

/** An endpoint with a price in USD per million tokens, prompt and completion together. */
export function priced(provider: string, usd: number | undefined, changes: Partial<Endpoint> = {}): Endpoint {
  return {
    model: 'acme/one',
    provider,
    providerName: provider.toUpperCase(),
    upstreamModel: 'one-2026',
    price: usd === undefined ? undefined : { prompt: usd * 250_000, completion: usd * 750_000 },
    dataPolicy: { training: false, retentionDays: 0 },
    formats: ['chat'],
    cancellable: true,
    ...changes,
  };
}

export function modelOf(slug: string, ...endpoints: Endpoint[]): Model {
  return { slug, name: slug, endpoints: endpoints.map((one) => ({ ...one, model: slug })) };
}

export function requestOf(changes: Partial<GenerationRequest> = {}): GenerationRequest {
  return {
    format: 'chat',
    delivery: 'whole',
    turns: [{ role: 'user', blocks: [{ type: 'text', text: 'hi' }], plain: true }],
    tools: [],
    settings: {},
    directives: plainDirectives('acme/one'),
    warnings: [],
    ...changes,
  };
}

export const TOOL_REQUEST = requestOf({ tools: [{ type: 'function', name: 'look_up' }] });

export interface Given extends Partial<Omit<PlanInput, 'models' | 'preferences' | 'health' | 'metrics'>> {
  readonly prefer?: Partial<ProviderPreferences>;
  /** By provider. */
  readonly health?: Readonly<Record<string, EndpointHealth>>;
  /** By provider; the same for all percentiles where one number is given. */
  readonly metrics?: Readonly<Record<string, ProviderMetrics>>;
}

export interface ProviderMetrics {
  readonly latency?: number;
  readonly throughput?: number;
  readonly requests?: number;
  readonly toolRequests?: number;
  readonly toolFailures?: number;
}

export function routeOf(models: readonly Model[], given: Given = {}): RoutePlan {
  const { prefer, health, metrics, ...rest } = given;
  return planCandidates({
    request: requestOf(),
    formats: FORMATS,
    random: 0,
    ...rest,
    models,
    preferences: { ...DEFAULT_PREFERENCES, ...prefer },
    health: ({ provider }) => health?.[provider] ?? HEALTHY,
    metrics: ({ provider }) => {
      const own = metrics?.[provider];
      return own && metricsOf(own);
    },
  });
}

function metricsOf({
  latency,
  throughput,
  requests = 0,
  toolRequests = 0,
  toolFailures = 0,
}: ProviderMetrics): RoutingMetrics {
  const flat = (value: number | undefined): ReturnType<RoutingMetrics['latency']> =>
    value === undefined ? undefined : { p50: value, p75: value, p90: value, p99: value };
  return {
    latency: () => flat(latency),
    throughput: () => flat(throughput),
    quality: () => ({ requests, toolRequests, toolFailures }),
  };
}

export function providersOf(route: RoutePlan): string[] {
  return route.candidates.map(({ endpoint: { provider } }) => provider);
}

export function reasonsOf(route: RoutePlan): Record<string, ExclusionReason> {
  return Object.fromEntries(
    route.considered.flatMap(({ endpoint, exclusion }) =>
      exclusion === undefined ? [] : [[endpoint.provider, exclusion]],
    ),
  );
}

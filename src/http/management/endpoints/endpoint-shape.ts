import { z } from 'zod';
import type { EndpointMetrics, Percentiles } from '../../../catalog/endpoint-metrics.ts';
import type { Endpoint, Model } from '../../../catalog/model.ts';
import { endpointParameters } from '../models/model-shape.ts';
import { serializePricing, pricingSchema } from '../models/pricing.ts';

const percent = z.number().nullable().describe('Percent. Null: too few requests.');
const percentiles = z.strictObject({ p50: z.number(), p75: z.number(), p90: z.number(), p99: z.number() }).nullable();

/** @spec catalog-12; `@openrouter/sdk` 1.3.19, `PublicEndpoint` */
export const endpointSchema = z
  .strictObject({
    name: z.string(),
    tag: z.string().describe('What `provider.order`, `only` and `ignore` call it.'),
    provider_name: z.string(),
    model_id: z.string(),
    model_name: z.string(),
    context_length: z.int().describe('0: unknown.'),
    max_prompt_tokens: z.int().nullable(),
    max_completion_tokens: z.int().nullable(),
    pricing: pricingSchema,
    quantization: z.string(),
    supported_parameters: z.array(z.string()),
    supports_implicit_caching: z.boolean(),
    supports_tool_choice: z
      .strictObject({ auto: z.boolean(), none: z.boolean(), required: z.boolean(), function: z.boolean() })
      .describe('Which values of `tool_choice` its list of parameters allows.'),
    supports_voice_cloning: z.boolean(),
    status: z.int().describe('0 well, -1 degraded, -3 failing, -5 unavailable without credentials.'),
    uptime_last_5m: percent,
    uptime_last_30m: percent,
    uptime_last_1d: percent,
    latency_last_30m: percentiles.describe('Ms to the first token; with a key only.'),
    throughput_last_30m: percentiles.describe('Tokens a second; with a key only.'),
  })
  .meta({ id: 'PublicEndpoint' });

/** @spec fallback-20 */
const UPTIME_NORMAL = 95;
const UPTIME_DEGRADED = 80;

export function serializeEndpoint(
  endpoint: Endpoint,
  model: Model,
  metrics: EndpointMetrics,
  showsSpeed: boolean,
): z.output<typeof endpointSchema> {
  const { providerName, provider, price } = endpoint;
  const parameters = endpointParameters(endpoint, model);
  return {
    name: `${providerName} | ${model.slug}`,
    tag: endpoint.tag ?? provider,
    provider_name: providerName,
    model_id: model.slug,
    model_name: model.name,
    context_length: endpoint.contextTokensMax ?? model.contextTokensMax ?? 0,
    max_prompt_tokens: null,
    max_completion_tokens: endpoint.outputTokensMax ?? null,
    pricing: serializePricing(price),
    quantization: endpoint.quantization ?? 'unknown',
    supported_parameters: [...parameters],
    // Reading from the cache is cheaper and writing to it is free: then the prompt needs no cache breakpoints.
    supports_implicit_caching: price?.cacheRead !== undefined && price.cacheWrite === undefined,
    supports_tool_choice: serializeToolChoice(parameters),
    supports_voice_cloning: false,
    status: statusOf(endpoint, metrics),
    uptime_last_5m: metrics.uptimeLast5m,
    uptime_last_30m: metrics.uptimeLast30m,
    uptime_last_1d: metrics.uptimeLast1d,
    latency_last_30m: showsSpeed ? serializePercentiles(metrics.latencyLast30m) : null,
    throughput_last_30m: showsSpeed ? serializePercentiles(metrics.throughputLast30m) : null,
  };
}

/** `auto` is what a model does with tools anyway. */
function serializeToolChoice(parameters: ReadonlySet<string>): z.output<typeof endpointSchema>['supports_tool_choice'] {
  const auto = parameters.has('tools');
  const forced = auto && parameters.has('tool_choice');
  return { auto, none: forced, required: forced, function: forced };
}

function serializePercentiles(values: Percentiles | null): z.output<typeof percentiles> {
  return values && { p50: values.p50, p75: values.p75, p90: values.p90, p99: values.p99 };
}

/** @spec catalog-14 */
function statusOf({ lacksCredentials }: Endpoint, { uptimeLast5m }: EndpointMetrics): number {
  if (lacksCredentials === true) return -5;
  if (uptimeLast5m === null || uptimeLast5m >= UPTIME_NORMAL) return 0;
  return uptimeLast5m >= UPTIME_DEGRADED ? -1 : -3;
}

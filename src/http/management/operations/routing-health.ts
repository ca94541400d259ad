import { z } from 'zod';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import type { RoutedEndpoint } from './services.ts';

const ID_CHARS_MAX = 2_048;
const STATUSES = ['normal', 'degraded', 'failing'] as const;

const text = z.string().nullable();
const ms = z.number().nonnegative();

const routedEndpointSchema = z
  .strictObject({
    id: z.string().describe('For `POST /routing/health/reset`.'),
    models: z.array(z.string()).describe('The models that it serves. Empty: it left the configuration.'),
    provider: z.string(),
    upstream_model: z.string(),
    service_tier: text,
    credential_id: text.describe('Of a credential that was brought. Null: the own one of the gateway.'),
    status: z.enum(STATUSES).describe('`degraded` comes after the normal ones; `failing` only where no other is left.'),
    circuit: z.enum(['closed', 'open']),
    rest_ms: ms.nullable().describe('So long it is left alone. Null: it is not.'),
    rest_named: z.boolean().describe('The upstream sent that time itself, so it is not called earlier.'),
    probe_in_ms: ms.nullable().describe('So long until one request tries it again. Null: it is normal, or one does.'),
    failures_in_a_row: z.int(),
    last_failure: z
      .strictObject({
        kind: z.string(),
        status: z.int().describe('What a caller would have got.'),
        upstream_status: z.int().nullable(),
        ms_ago: ms,
      })
      .nullable(),
    uptime_last_5m: z.number().nullable().describe('Percent. Null: too few requests.'),
    requests_last_1d: z.int(),
    latency_last_30m: z.strictObject({ p50: ms, p99: ms }).nullable().describe('Ms to the first token.'),
  })
  .meta({ id: 'RoutedEndpoint' });

const FACTS = { scope: 'management', tag: 'Operations', params: NOTHING, query: NOTHING } as const;

export const getRoutingHealth = defineRoute({
  ...FACTS,
  method: 'GET',
  path: '/routing/health',
  operationId: 'getRoutingHealth',
  summary: 'Show how each endpoint does that was called, by credential',
  body: NO_BODY,
  responses: {
    200: {
      description:
        'As one process knows it, which hears within a tenth of a second of what the others see. Those that need care come first.',
      schema: z.strictObject({ data: z.array(routedEndpointSchema) }),
    },
  },
  errors: [],
  handle({ services }) {
    const endpoints = services.operations.routing.list().toSorted((one, other) => other.rank - one.rank);
    return { status: 200, body: { data: endpoints.map(serialize) } };
  },
});

export const resetRoutingHealth = defineRoute({
  ...FACTS,
  method: 'POST',
  path: '/routing/health/reset',
  operationId: 'resetRoutingHealth',
  summary: 'Close the circuit of an endpoint, and end its rest, in all processes',
  audited: 'values',
  body: z
    .strictObject({ id: z.string().min(1).max(ID_CHARS_MAX).describe('As `GET /routing/health` has it.') })
    .meta({ id: 'ResetRoutingHealthRequest' }),
  responses: { 200: { description: 'Requests call it again.', schema: z.strictObject({ reset: z.literal(true) }) } },
  errors: [400, 404, 413],
  handle({ body, services }) {
    if (!services.operations.routing.reset(body.id))
      throw new GatewayError('not_found', `No endpoint "${body.id.slice(0, 100)}" was called here lately.`);
    return { status: 200, body: { reset: true }, subject: '/routing/health' };
  },
});

function serialize(endpoint: RoutedEndpoint): z.output<typeof routedEndpointSchema> {
  const { lastFailure, latencyMsLast30m } = endpoint;
  return {
    id: endpoint.id,
    models: [...endpoint.models],
    provider: endpoint.provider,
    upstream_model: endpoint.upstreamModel,
    service_tier: endpoint.serviceTier,
    credential_id: endpoint.credentialId,
    status: STATUSES[endpoint.rank],
    circuit: endpoint.isOpen ? 'open' : 'closed',
    rest_ms: endpoint.restMs,
    rest_named: endpoint.isRestNamed,
    probe_in_ms: endpoint.probeInMs,
    failures_in_a_row: endpoint.streak,
    last_failure: lastFailure && {
      kind: lastFailure.kind,
      status: lastFailure.status,
      upstream_status: lastFailure.upstreamStatus,
      ms_ago: lastFailure.agoMs,
    },
    uptime_last_5m: endpoint.uptimeLast5m,
    requests_last_1d: endpoint.requestsLast1d,
    latency_last_30m: latencyMsLast30m && { ...latencyMsLast30m },
  };
}

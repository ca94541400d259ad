import { serializePrice } from '../../catalog/list-price.ts';
import type { Endpoint } from '../../catalog/model.ts';
import type { JsonObject } from '../../lib/json.ts';
import { candidateName, endpointName } from '../../routing/endpoint-name.ts';
import type { Candidate, Considered, RoutePlan } from '../../routing/route-plan.ts';
import type { RouteDeps } from './choose-route.ts';

type SerializeDeps = Pick<RouteDeps, 'health' | 'stats'>;

/**
 * The plan of any request, as it is explained.
 * @param more what is said of a candidate beside its endpoint, its price and its health
 */
export function serializePlan(
  deps: SerializeDeps,
  { candidates, cooling, considered }: RoutePlan,
  nowMs: number,
  more: (candidate: Candidate, at: number) => JsonObject,
): JsonObject {
  return {
    candidates: candidates.map((candidate, at) => ({
      ...serializeCandidate(deps, considered, candidate, at),
      ...more(candidate, at),
    })),
    resting: cooling.map(({ candidate: { endpoint }, cooldown }) => ({
      ...serializeEndpoint(endpoint),
      ready_in_ms: Math.max(0, Math.ceil(cooldown.untilMs - nowMs)),
    })),
    excluded: considered.flatMap(({ endpoint, exclusion, lacks }) =>
      exclusion === undefined
        ? []
        : [{ ...serializeEndpoint(endpoint), reason: exclusion, ...(lacks !== undefined && { lacks }) }],
    ),
  };
}

function serializeCandidate(
  { health, stats }: SerializeDeps,
  considered: readonly Considered[],
  candidate: Candidate,
  at: number,
): JsonObject {
  const { endpoint } = candidate;
  const { rank, open } = health.look(candidateName(candidate));
  const metrics = stats.routing(endpointName(endpoint));
  const demotion = considered.find((one) => one.endpoint === endpoint)?.demotion;
  return {
    position: at + 1,
    ...serializeEndpoint(endpoint),
    ...(candidate.credential !== undefined && { is_byok: true, credential: candidate.credential.label }),
    price: endpoint.price === undefined ? null : serializePrice(endpoint.price),
    health: open ? 'open' : (['normal', 'degraded', 'failing'] as const)[rank],
    ...(candidate.probe === true && { probe: true }),
    ...(demotion !== undefined && { demoted_by: demotion }),
    latency_last_5m: serializePercentiles(metrics?.latency()),
    throughput_last_5m: serializePercentiles(metrics?.throughput()),
  };
}

function serializePercentiles(
  values: { readonly p50: number; readonly p75: number; readonly p90: number; readonly p99: number } | undefined,
): JsonObject | null {
  return values === undefined ? null : { p50: values.p50, p75: values.p75, p90: values.p90, p99: values.p99 };
}

function serializeEndpoint({ provider, providerName, model, upstreamModel, tag }: Endpoint): JsonObject {
  return { provider: providerName, tag: tag ?? provider, model, upstream_model: upstreamModel };
}

import type { Catalog, Endpoint } from '../../catalog/model.ts';
import type { RoutedEndpoint, RoutingHealth } from '../../http/management/operations/services.ts';
import { endpointName } from '../../routing/endpoint-name.ts';
import type { EndpointReport, Health } from '../../routing/health.ts';
import type { EndpointStats } from '../../routing/stats.ts';

export interface RoutingHealthDeps {
  readonly health: Pick<Health, 'list' | 'reset'>;
  readonly stats: Pick<EndpointStats, 'listed'>;
  readonly catalog: Pick<Catalog, 'list'>;
}

/** Between the name of an endpoint and the credential that it is called with: `candidateName`. */
const CREDENTIAL = ' #';

export function createRoutingHealth({ health, stats, catalog }: RoutingHealthDeps): RoutingHealth {
  return {
    list() {
      const known = endpointsByName(catalog);
      return health.list().map((report) => {
        const [name = '', credentialId] = report.endpoint.split(CREDENTIAL);
        return describe(report, { name, credentialId: credentialId ?? null, known: known.get(name), stats });
      });
    },
    reset: (id) => health.reset(id),
  };
}

interface KnownEndpoint {
  readonly endpoint: Endpoint;
  readonly models: string[];
}

function endpointsByName(catalog: RoutingHealthDeps['catalog']): ReadonlyMap<string, KnownEndpoint> {
  const known = new Map<string, KnownEndpoint>();
  for (const { slug, endpoints } of catalog.list())
    for (const endpoint of endpoints) {
      const name = endpointName(endpoint);
      const found = known.get(name);
      if (found === undefined) known.set(name, { endpoint, models: [slug] });
      else if (!found.models.includes(slug)) found.models.push(slug);
    }
  return known;
}

function describe(
  report: EndpointReport,
  {
    name,
    credentialId,
    known,
    stats,
  }: {
    readonly name: string;
    readonly credentialId: string | null;
    /** Absent: it was taken out of the configuration, or is one of a pass-through pattern. */
    readonly known: KnownEndpoint | undefined;
    readonly stats: RoutingHealthDeps['stats'];
  },
): RoutedEndpoint {
  const { endpoint: id, rank, open, cooldown, probeInMs, streak, lastFailure } = report;
  const { uptimeLast5m, requestsLast1d, latencyLast30m } = stats.listed(name);
  const [provider = '', ...rest] = name.split(' ');
  return {
    id,
    models: known?.models ?? [],
    provider,
    upstreamModel: known?.endpoint.upstreamModel ?? rest.join(' '),
    serviceTier: known?.endpoint.serviceTier ?? null,
    credentialId,
    rank,
    isOpen: open,
    restMs: cooldown?.forMs ?? null,
    isRestNamed: cooldown?.named ?? false,
    probeInMs: probeInMs ?? null,
    streak,
    lastFailure:
      lastFailure === undefined ? null : { ...lastFailure, upstreamStatus: lastFailure.upstreamStatus ?? null },
    uptimeLast5m,
    requestsLast1d,
    latencyMsLast30m: latencyLast30m && { p50: latencyLast30m.p50, p99: latencyLast30m.p99 },
  };
}

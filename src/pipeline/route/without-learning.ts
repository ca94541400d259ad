import type { GenerationOrigin } from '../../canonical/generation-origin.ts';
import type { Deadlines } from '../../routing/deadlines.ts';
import type { Health } from '../../routing/health.ts';
import type { EndpointStats } from '../../routing/stats.ts';
import type { StickySessions } from '../../routing/sticky.ts';

interface LearningDeps {
  readonly health: Health;
  readonly stats: EndpointStats;
  readonly deadlines?: Deadlines | undefined;
  readonly sticky: StickySessions;
}

/**
 * The same collaborators for generations that the gateway makes for itself. Routing may not learn from them: a benchmark
 * run would else decide which endpoint is taken for the traffic that it judges. A judge is consulted while a request waits, so
 * the endpoint that fails it must be left out of the next one: its failures count, and its pace does not. @spec generation-20
 */
export function withoutLearning<Deps extends LearningDeps>(deps: Deps, origin: GenerationOrigin | undefined): Deps {
  if (origin === 'judge') return { ...deps, stats: withoutPace(deps.stats) };
  if (origin !== 'evaluation' && origin !== 'classifier') return deps;
  return {
    ...deps,
    health: withoutOutcomes(deps.health),
    stats: withoutPace(deps.stats),
    deadlines: deps.deadlines && { ...deps.deadlines, answered: () => undefined, cut: () => undefined },
    sticky: { ...deps.sticky, succeeded: () => undefined, failed: () => undefined },
  };
}

/** Endpoints are called as their health allows; a probe that a generation gets ends without a result. */
function withoutOutcomes(health: Health): Health {
  return {
    ...health,
    succeeded: (endpoint, release) => health.abandoned(endpoint, release),
    failed: (endpoint, _failure, release) => health.abandoned(endpoint, release),
    brokeOff: () => undefined,
  };
}

function withoutPace(stats: EndpointStats): EndpointStats {
  return { ...stats, finished: () => undefined };
}

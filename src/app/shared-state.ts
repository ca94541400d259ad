import type { Config } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import { createHealth, type Health } from '../routing/health.ts';
import { shareHealth } from '../routing/shared-health.ts';
import { shareStats } from '../routing/shared-stats.ts';
import { createEndpointStats, type EndpointStats } from '../routing/stats.ts';
import type { SharedState } from '../state/contract.ts';
import { serveLocalState, type LocalStateServer } from '../state/local/serve-state.ts';
import type { ResponseRoom } from '../state/response-owners.ts';
import { createMemoryState } from '../state/memory/state.ts';
import { keyPrefix } from '../state/redis/key-prefix.ts';
import { openRedisState } from '../state/redis/state.ts';
import type { Log } from '../telemetry/logs.ts';
import type { Metrics } from '../telemetry/metrics.ts';

export interface SharedStateDeps {
  readonly config: Pick<Config, 'redisUrl' | 'redisPrefix'> & {
    readonly server: Pick<Config['server'], 'responseCacheBytes'>;
    readonly responses: Pick<Config['responses'], 'store' | 'memoryBytes' | 'memoryMs'>;
  };
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'sharedState'>;
}

/** In memory, or in the Redis that the configuration names; a start does not fail without it. */
export async function openSharedState({ config, clock, log, metrics }: SharedStateDeps): Promise<SharedState> {
  const { redisUrl, redisPrefix } = config;
  const textBytesMax = config.server.responseCacheBytes;
  const responseRoom = responseRoomOf(config.responses);
  if (redisUrl === undefined) return createMemoryState({ clock, textBytesMax, responseRoom });
  return openRedisState({
    url: redisUrl,
    clock,
    textBytesMax,
    responseRoom,
    prefix: keyPrefix(redisPrefix),
    onChange(isUp, reason) {
      metrics.sharedState(isUp);
      if (isUp) log.general.info('state is shared through Redis');
      else log.general.error({ reason }, 'Redis is away: this process goes on with state of its own');
    },
  });
}

/** In memory, for this process and for its workers. */
export function serveSharedState({ config, clock }: Pick<SharedStateDeps, 'config' | 'clock'>): LocalStateServer {
  const memory = createMemoryState({
    clock,
    textBytesMax: config.server.responseCacheBytes,
    responseRoom: responseRoomOf(config.responses),
  });
  return serveLocalState({ clock, memory });
}

function responseRoomOf({ store, memoryBytes, memoryMs }: SharedStateDeps['config']['responses']): ResponseRoom {
  return { bytesMax: store === 'memory' ? memoryBytes : 0, lifeMs: memoryMs };
}

export interface HealthOfAllDeps {
  readonly clock: Clock;
  readonly stats: Pick<EndpointStats, 'counted'>;
  readonly state: SharedState;
}

/** How fast endpoints are, by the answers of every process. */
export function createStatsOfAll({ clock, state }: Pick<HealthOfAllDeps, 'clock' | 'state'>): EndpointStats {
  const stats = createEndpointStats({ clock });
  return state.values === undefined ? stats : shareStats({ stats, invalidations: state.invalidations });
}

/** How endpoints do, by what every process sees that there is. */
export function createHealthOfAll({ clock, stats, state }: HealthOfAllDeps): Health {
  const health = createHealth({ clock, onCounted: (endpoint, isOk) => stats.counted(endpoint, isOk) });
  return state.values === undefined ? health : shareHealth({ health, invalidations: state.invalidations });
}

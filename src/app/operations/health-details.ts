import type { Catalog } from '../../catalog/model.ts';
import type { HealthDetails, ProcessDetails } from '../../http/management/operations/services.ts';
import { NotReadyError } from '../../http/operations.ts';
import { withTimeout } from '../../lib/async/with-timeout.ts';
import type { Clock } from '../../lib/clock.ts';
import type { SharedState } from '../../state/contract.ts';
import type { Database } from '../../store/engine/database.ts';
import { sizeOf } from '../../store/engine/size.ts';

export interface HealthDetailsDeps {
  readonly version: string;
  readonly clock: Clock;
  readonly database: Database;
  readonly state: Pick<SharedState, 'ping'>;
  /** Whether state is shared through Redis. */
  readonly hasRedis: boolean;
  readonly catalog: Pick<Catalog, 'list'>;
  /** @throws Error where the gateway is not ready */
  readonly ready: () => Promise<readonly string[]>;
  readonly processes: () => Promise<readonly ProcessDetails[]>;
}

/** A part that does not answer within this time is the news itself. */
const ANSWER_MS_MAX = 2_000;

/** Every part with its figures, for operators, all at once: one that hangs delays no other. */
export function createHealthDetails(deps: HealthDetailsDeps): () => Promise<HealthDetails> {
  const { version, clock, database, state, hasRedis, catalog } = deps;
  const startedAtMs = clock.nowMs();
  const timed = async (ping: () => Promise<void>): Promise<number | null> => {
    const beganMs = clock.monotonicMs();
    return withTimeout(ping(), ANSWER_MS_MAX).then(
      () => clock.monotonicMs() - beganMs,
      () => null,
    );
  };
  return async () => {
    const [readiness, databaseMs, bytes, redisMs, processes] = await Promise.all([
      readinessOf(deps),
      timed(() => database.ping()),
      withTimeout(sizeOf(database), ANSWER_MS_MAX).catch(() => null),
      hasRedis ? timed(() => state.ping()) : null,
      deps.processes(),
    ]);
    const models = catalog.list();
    return {
      version,
      startedAtMs,
      ...readiness,
      database: { engine: database.engine, pingMs: databaseMs, bytes },
      redis: hasRedis ? { pingMs: redisMs } : null,
      catalog: { models: models.length, endpoints: models.reduce((sum, { endpoints }) => sum + endpoints.length, 0) },
      processes,
    };
  };
}

async function readinessOf({
  ready,
}: Pick<HealthDetailsDeps, 'ready'>): Promise<Pick<HealthDetails, 'problem' | 'degraded'>> {
  try {
    return { problem: null, degraded: await withTimeout(ready(), ANSWER_MS_MAX) };
  } catch (error) {
    return { problem: error instanceof NotReadyError ? error.message : 'the store does not answer', degraded: [] };
  }
}

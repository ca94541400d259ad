import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { systemClock, type Clock } from '../lib/clock.ts';
import { NotReadyError } from '../http/operations.ts';
import { DatabaseGoneError } from '../store/engine/database-error.ts';
import { openDatabase, type Database } from '../store/engine/database.ts';
import { createGenerationStore, type GenerationStore } from '../store/generations/generations.ts';
import type { SharedState } from '../state/contract.ts';
import type { LocalStateServer } from '../state/local/serve-state.ts';
import type { Log } from '../telemetry/logs.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { claimDataDirectory } from './claim-data-directory.ts';
import { embeddedDatabaseOf } from './embedded-database.ts';
import { openSharedState, serveSharedState } from './shared-state.ts';

/** What outlives a request, as one process reaches it. */
export interface Storage {
  readonly database: Database;
  /** For sums of spending: it gives none that lacks charges. */
  readonly sums: Database;
  readonly state: SharedState;
  readonly generations: Pick<GenerationStore, 'append' | 'isBehind'>;
  /** Called when everything that uses it is closed. */
  close(): Promise<void>;
}

/** The storage of the process that has it: the only one, or the first. */
export interface OwnStorage extends Storage {
  readonly generations: GenerationStore;
  /** The state of workers. Absent: there are none, or Redis has it. */
  readonly localState?: LocalStateServer;
  /** @throws Error while something that a request needs does not answer, or charges cannot be stored */
  mustBeReady(): Promise<void>;
}

export interface StorageDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

export type OpenStorage<Kind extends Storage> = (deps: StorageDeps) => Promise<Kind>;

export async function openOwnStorage(deps: StorageDeps): Promise<OwnStorage> {
  const { config, clock, log } = deps;
  const database = await openDatabase({ path: embeddedDatabaseOf(config), url: config.databaseUrl, clock });
  const claim = claimDataDirectory(config, log);
  const isServed = config.server.workers > 1 && config.redisUrl === undefined;
  const localState = isServed ? serveSharedState(deps) : undefined;
  const state = localState?.state ?? (await openSharedState(deps));
  const generations = openGenerations(database, deps);
  return {
    database,
    sums: database,
    state,
    generations,
    ...(localState !== undefined && { localState }),
    async mustBeReady() {
      if (generations.isBehind()) throw new Error('Charges wait to be stored.');
      await Promise.all([database.ping().catch(explainGone), state.ping()]);
    },
    async close() {
      await database.close();
      claim.release();
      state.close();
    },
  };
}

function explainGone(error: unknown): never {
  throw error instanceof DatabaseGoneError ? new NotReadyError(error.message, { cause: error }) : error;
}

function openGenerations(
  database: Database,
  { config: { dataDir }, metrics, log }: Pick<StorageDeps, 'config' | 'metrics' | 'log'>,
): GenerationStore {
  const store = createGenerationStore({
    database,
    spool: {
      folder: join(dataDir, 'unstored'),
      nowMs: () => systemClock.nowMs(),
      onUnreadable: (file) =>
        log.general.error({ file }, 'a file of records that wait cannot be read: it is set aside'),
      onFailed: (error) => log.general.error({ err: error }, 'records that wait in files cannot be stored'),
    },
    onStuck(isStuck, error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (isStuck) log.general.error({ error: reason }, 'the database takes no records; they wait');
      else log.general.info('the database takes records again');
    },
    onLost: (row, error) => {
      metrics.recordLost();
      // The last place where the row can be kept.
      log.general.error({ row, error: error.message }, 'generation record lost');
    },
  });
  metrics.watchRecords(() => store.pending());
  return store;
}

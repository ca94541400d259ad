import type { Config } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Journal } from '../journal/journal.ts';
import { openDatabase, type Database } from '../store/engine/database.ts';
import { claimSqlite, type Claim } from '../store/engine/sqlite/claim.ts';
import type { SharedState } from '../state/contract.ts';
import type { LocalStateServer } from '../state/local/serve-state.ts';
import type { Log } from '../telemetry/logs.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { createAppliedRecords, type AppliedRecords } from './applied-records.ts';
import { embeddedDatabaseOf } from './embedded-database.ts';
import { openGatewayJournal } from './journal.ts';
import { openSharedState, serveSharedState } from './shared-state.ts';

/** What outlives a request, as one process reaches it. */
export interface Storage {
  readonly database: Database;
  readonly state: SharedState;
  readonly journal: Journal;
  readonly records: AppliedRecords;
  /** Called when everything that uses it is closed. */
  close(): Promise<void>;
}

/** The storage of the process that has it: the only one, or the first. */
export interface OwnStorage extends Storage {
  /** The state of workers. Absent: there are none, or Redis has it. */
  readonly localState?: LocalStateServer;
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
  const { journal, store } = await openGatewayJournal({ ...deps, database });
  return {
    database,
    state,
    journal,
    records: createAppliedRecords({ journal, store, state, clock }),
    ...(localState !== undefined && { localState }),
    async close() {
      await database.close();
      claim.release();
      state.close();
    },
  };
}

const NOT_ALONE =
  'another gateway works on this data directory: limits count in each of them by itself. Stop one, or let them share a PostgreSQL and a Redis';

/** Warns when two gateways use one embedded database, which works but counts limits separately. */
function claimDataDirectory({ dataDir, databaseUrl }: Config, { general }: Log): Pick<Claim, 'release'> {
  if (databaseUrl !== undefined) return { release: () => undefined };
  const claim = claimSqlite(embeddedDatabaseOf({ dataDir }));
  if (!claim.isAlone) general.warn({ dataDir }, NOT_ALONE);
  return claim;
}

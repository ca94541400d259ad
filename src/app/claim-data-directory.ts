import type { Config } from '../config/config.ts';
import { claimSqlite, type Claim } from '../store/engine/sqlite/claim.ts';
import type { Log } from '../telemetry/logs.ts';
import { embeddedDatabaseOf } from './embedded-database.ts';

const WARNING =
  'another gateway works on this data directory: limits count in each of them by itself. Stop one, or let them share a PostgreSQL and a Redis';

/** Warns when two gateways use one embedded database, which works but counts limits separately. */
export function claimDataDirectory(
  { dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>,
  log: Pick<Log, 'general'>,
): Pick<Claim, 'release'> {
  if (databaseUrl !== undefined) return { release: () => undefined };
  const claim = claimSqlite(embeddedDatabaseOf({ dataDir }));
  if (!claim.isAlone) log.general.warn({ dataDir }, WARNING);
  return claim;
}

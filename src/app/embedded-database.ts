import { join } from 'node:path';
import type { Config } from '../config/config.ts';

/** The file of the embedded database, for the gateway and for every command that looks at it. */
export function embeddedDatabaseOf({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'gateway.db');
}

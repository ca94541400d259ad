import { existsSync } from 'node:fs';
import { embeddedDatabaseOf } from '../app/embedded-database.ts';
import type { Config } from '../config/config.ts';
import { systemClock } from '../lib/clock.ts';
import { openDatabase, type Database } from '../store/engine/database.ts';
import { CommandError } from './command.ts';
import { asOperatorError } from './operator-error.ts';

/**
 * The database that the gateway of this configuration uses.
 * @param options.makes whether one is made where there is none
 * @throws CommandError
 */
export async function openConfiguredDatabase(
  config: Pick<Config, 'dataDir' | 'databaseUrl'>,
  options: { readonly makes: boolean },
): Promise<Database> {
  const path = embeddedDatabaseOf(config);
  if (!options.makes && config.databaseUrl === undefined && !existsSync(path))
    throw new CommandError(
      `There is no database in ${config.dataDir} yet: start the gateway once, or name another --data-dir.`,
    );
  return openDatabase({ path, url: config.databaseUrl, clock: systemClock }).catch((error: unknown) => {
    throw asOperatorError(error);
  });
}

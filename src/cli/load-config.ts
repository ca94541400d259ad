import type { Config } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { ADAPTER_IDS, createProviders, KNOWN_PROVIDER_IDS, ProviderSetupError } from '../providers/index.ts';
import { CommandError } from './command.ts';
import type { Io } from './command.ts';

/** Stands for the sandbox's address, which is known only once it listens. */
const ANY_BASE_URL = 'http://127.0.0.1/v1';

/**
 * The configuration, with everything checked that can be checked without starting anything: a start that fails later
 * would already have made the first keys.
 * @throws ConfigError, CommandError
 */
export function loadCheckedConfig(args: readonly string[], env: Io['env']): Config {
  const config = loadConfig({ argv: args, env, adapterIds: ADAPTER_IDS, providerIds: KNOWN_PROVIDER_IDS });
  try {
    createProviders({ config: config.providers, env, timeouts: config.timeouts, sandboxBaseUrl: ANY_BASE_URL });
  } catch (error) {
    if (error instanceof ProviderSetupError) throw new CommandError(error.message, { cause: error });
    throw error;
  }
  return config;
}

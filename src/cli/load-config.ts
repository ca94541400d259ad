import type { Config, ProviderConfig } from '../config/config.ts';
import { DEFAULT_TIMEOUTS } from '../config/file-config.ts';
import { CONFIG_FLAGS } from '../config/flags.ts';
import { loadConfig, type LoadConfigOptions } from '../config/load-config.ts';
import type { ProviderProblem } from '../config/read-file.ts';
import { credentialWarnings, providersFromConfig } from '../app/providers/providers-from-config.ts';
import { ProviderSetupError } from '../providers/check-settings.ts';
import { ADAPTER_IDS, ADAPTER_OPTIONS, findSetupError, KNOWN_PROVIDER_IDS } from '../providers/index.ts';
import { CommandError } from './command.ts';
import type { Io } from './command.ts';

/** Stands for the sandbox's address, which is known only once it listens. */
const ANY_BASE_URL = 'http://127.0.0.1/v1';

export interface CheckedConfig {
  readonly config: Config;
  /** Sentences about what will not work, although everything will start. */
  readonly warnings: readonly string[];
}

/**
 * The configuration, with everything checked that can be checked without starting anything: a start that fails later
 * would already have made the first keys.
 * @param readFile absent: from the disk
 * @throws ConfigError, CommandError
 */
export function loadCheckedConfig(
  args: readonly string[],
  env: Io['env'],
  readFile?: LoadConfigOptions['readFile'],
): CheckedConfig {
  const config = loadConfig({
    argv: args,
    env,
    adapterIds: ADAPTER_IDS,
    adapterOptions: ADAPTER_OPTIONS,
    providerIds: KNOWN_PROVIDER_IDS,
    checkProvider: (entry) => checkProvider(entry, env),
    ...(readFile !== undefined && { readFile }),
  });
  try {
    return { config, warnings: credentialWarnings(config, providersFromConfig(config, env, ANY_BASE_URL)) };
  } catch (error) {
    if (error instanceof ProviderSetupError) throw new CommandError(error.message, { cause: error });
    throw error;
  }
}

/** At the place in the file that the adapter complains of. */
function checkProvider(entry: ProviderConfig, env: Io['env']): ProviderProblem | undefined {
  const found = findSetupError(entry, { env, timeouts: DEFAULT_TIMEOUTS, sandboxBaseUrl: ANY_BASE_URL });
  if (found === undefined) return undefined;
  const prefix = `providers.${entry.slug}.`;
  if (found.setting.startsWith(prefix))
    return { path: found.setting.slice(prefix.length).split('.'), message: found.problem };
  return { path: [], message: found.message };
}

/** The flags that say where configuration comes from, of a command that takes others as well. */
export function configArgs(values: object): readonly string[] {
  return Object.keys(CONFIG_FLAGS).flatMap((name) => {
    const value: unknown = Object.entries(values).find(([given]) => given === name)?.[1];
    return typeof value === 'string' ? [`--${name}=${value}`] : [];
  });
}

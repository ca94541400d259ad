import type { Config } from '../../config/config.ts';
import type { Finding } from '../../app/check-provider/finding.ts';
import { openConfiguredRuntime } from '../../app/tools/container-area.ts';
import { ContainerError } from '../../containers/contract.ts';
import type { Io } from '../command.ts';

/** Tries to break out of a container, where there are any. */
export async function checkContainers(
  config: Config,
  env: Io['env'],
): Promise<readonly (readonly [string, Finding])[]> {
  if (config.containers.runtime === 'off') return [];
  try {
    const { name, enforces } = await openConfiguredRuntime(config, env);
    return [['containers', { verdict: 'ok', message: `${name} holds: ${enforces.join(', ')}.` }]];
  } catch (error) {
    if (!(error instanceof ContainerError)) throw error;
    return [['containers', { verdict: 'failed', message: `They stay off: ${error.message}` }]];
  }
}

import { catalogFromConfig } from '../../app/catalog/catalog-from-config.ts';
import { providersFromConfig } from '../../app/providers-from-config.ts';
import type { Config } from '../../config/config.ts';
import { sandboxModels } from '../../sandbox/models.ts';
import { readLayers } from '../catalog/catalog-layers.ts';
import type { Io } from '../command.ts';
import type { Finding } from '../../app/check-provider/finding.ts';

/** Slugs that stand for a router's choice. */
const ROUTED = 'service/';
/** Stands for the sandbox's address, which is known only once it listens. */
const ANY_BASE_URL = 'http://127.0.0.1/v1';

/** A warning for each model of the configuration that no provider serves: requests that need it would fail one by one. */
export async function checkModelNames(config: Config, env: Io['env']): Promise<readonly Finding[]> {
  const names = [
    ['defaults.model', config.defaults.model],
    ['moderation.judge', config.moderation.judge],
    ['routers.switchyard.efficient', config.routers.switchyard.efficient],
    ['routers.switchyard.capable', config.routers.switchyard.capable],
  ] as const;
  if (names.every(([, slug]) => slug === undefined)) return [];
  const { known } = await readLayers(config, env);
  const providers = providersFromConfig(config, env, ANY_BASE_URL);
  const catalog = catalogFromConfig(config, providers, sandboxModels(), known);
  return names.flatMap(([member, slug]) => {
    if (slug === undefined || slug.startsWith(ROUTED) || catalog.resolve?.(slug) !== undefined) return [];
    const message = `${member} is ${slug}, which no provider that is set up here serves.`;
    return [{ verdict: 'warning', message } satisfies Finding];
  });
}

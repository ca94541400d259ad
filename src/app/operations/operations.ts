import { describeConfig } from '../../config/describe.ts';
import type { OperationServices } from '../../http/management/operations/services.ts';
import type { Foundation } from '../foundation.ts';
import type { Parts } from '../parts.ts';
import type { OwnStorage } from '../storage.ts';
import { createByokKeyStore } from '../../store/accounts/byok-keys.ts';
import { readVersion } from '../version.ts';
import type { Workers } from '../workers/workers.ts';
import { createHealthDetails } from './health-details.ts';
import { readFigures } from './process-figures.ts';
import { createProviderChecks } from './provider-checks.ts';
import { createToolInventory } from './tool-inventory.ts';
import { createRoutingHealth } from './routing-health.ts';

/** What operators look at, in the process that serves what is no generation. */
export function createOperations(
  { shared, storage }: Foundation<OwnStorage>,
  {
    generateDeps,
    areas,
    providers,
    inEffect,
    running,
    jobs,
  }: Pick<Parts, 'generateDeps' | 'areas' | 'providers' | 'inEffect' | 'running' | 'jobs'>,
  {
    ready,
    workers,
  }: {
    /** @throws Error where the gateway is not ready */
    readonly ready: () => Promise<readonly string[]>;
    readonly workers: Workers | undefined;
  },
): OperationServices {
  const { config, clock, metrics, http, mcp, serverTools } = shared;
  const ownName = workers === undefined ? 'gateway' : 'first';
  return {
    running,
    jobs,
    routing: createRoutingHealth(generateDeps),
    providers: createProviderChecks({
      ...areas,
      config,
      providers,
      catalog: generateDeps.catalog,
      store: createByokKeyStore(storage),
      http,
      clock,
    }),
    config: () => ({
      file: inEffect.current().path ?? null,
      needsRestart: inEffect.waiting(),
      values: describeConfig(inEffect.current()).map(({ path, value, origin, what }) => ({
        path,
        value,
        origin: origin ?? null,
        meaning: what ?? null,
      })),
    }),
    tools: createToolInventory({ mcp, serverTools, clock }),
    details: createHealthDetails({
      version: readVersion(),
      clock,
      ...storage,
      catalog: generateDeps.catalog,
      hasRedis: config.redisUrl !== undefined,
      ready,
      async processes() {
        const own = readFigures({ metrics, journal: storage.journal });
        const [figures, others] = await Promise.all([own, workers?.figures() ?? []]);
        return [{ name: ownName, figures }, ...others];
      },
    }),
  };
}

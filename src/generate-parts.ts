import type { AccountAreas } from './account-areas.ts';
import type { Administration } from './administration.ts';
import type { ProviderPreferences } from './canonical/directives.ts';
import type { ProviderDefaults } from './config/config.ts';
import type { LiveCatalog } from './live-catalog.ts';
import type { Observability } from './observability.ts';
import { createAnswerMemory } from './pipeline/answer-memory.ts';
import type { GenerateParts } from './pipeline/generate.ts';
import { createFileMemory } from './pipeline/inline-media.ts';
import { createSettle } from './pipeline/settle.ts';
import { credentialWarnings } from './providers-from-config.ts';
import type { Provider } from './providers/contract.ts';
import { createEndpointStats } from './routing/stats.ts';
import { createStickySessions } from './routing/sticky.ts';
import type { SharedParts } from './shared-parts.ts';
import { createHealthOfAll } from './shared-state.ts';
import type { Spending } from './spending.ts';
import type { GenerationStore } from './store/generations.ts';
import { chargesOf } from './telemetry/charges.ts';
import { rowOf } from './telemetry/generation-row.ts';
import { logGeneration } from './telemetry/logs.ts';
import { UPSTREAM_FORMATS } from './upstream-formats.ts';

/** A request does not wait longer than this for its record to reach the disk; the record itself waits on. */
const STORE_WAIT_MS = 2_000;

/** What the path of a request (`pipeline/generate.ts`) works with. */
export function createGenerateParts(
  { config, clock, http, download, metrics, log, baseUrl, random, state }: SharedParts,
  providers: ReadonlyMap<string, Provider>,
  { catalog }: LiveCatalog,
  generations: GenerationStore,
  { ledger, rateLimiter }: Spending,
  {
    ownCredentials,
    ownUpstreams,
    policies,
    observability,
  }: Pick<AccountAreas & Administration, 'ownCredentials' | 'ownUpstreams' | 'policies'> & {
    readonly observability: Observability;
  },
): GenerateParts {
  const { region } = config.server;
  const stats = createEndpointStats({ clock });
  for (const warning of credentialWarnings(config, providers)) log.general.warn(warning);
  return {
    http,
    download,
    fileMemory: createFileMemory(config.server.fileMemoryBytes),
    formats: UPSTREAM_FORMATS,
    providers,
    ownCredentials: (asker) => ownCredentials.of(asker),
    policyOf: (principal) => policies.policyOf(principal),
    ownUpstream: (candidate) => ownUpstreams.connect(candidate),
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
    health: createHealthOfAll({ clock, stats, state }),
    stats,
    sticky: createStickySessions({ clock, values: state.values }),
    random,
    memory: createAnswerMemory({ clock, values: state.values }),
    catalog,
    clock,
    ledger,
    rateLimiter,
    settle: createSettle({
      ledger,
      store: (record) => withinLimit(generations.append(rowOf(record, region), chargesOf(record)), STORE_WAIT_MS),
      observe(record) {
        metrics.observe(record);
        logGeneration(log, record);
        observability.ended(record);
      },
    }),
    openCapture: (record) => observability.openCapture(record),
    defaults: {
      ...(config.defaults.model !== undefined && { model: config.defaults.model }),
      provider: preferencesFrom(config.defaults.provider),
    },
    totalMs: config.timeouts.totalMs,
    rescue: config.rescue.enabled,
    region,
    baseUrl,
    streams: metrics,
    onBug: (error, id) => log.general.error({ err: error, id }, 'bug'),
  };
}

function preferencesFrom(defaults: ProviderDefaults): Partial<ProviderPreferences> {
  const { order, only, ignore, sort, dataCollection, zdr } = defaults;
  return {
    ...(order !== undefined && { order }),
    ...(only !== undefined && { only }),
    ...(ignore !== undefined && { ignore }),
    ...(sort !== undefined && { sort: { by: sort } }),
    ...(dataCollection !== undefined && { dataCollection }),
    ...(zdr !== undefined && { zdr }),
  };
}

/** Settles with the promise, or when its time is over, whichever comes first. */
function withinLimit(promise: Promise<void>, limitMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, limitMs);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

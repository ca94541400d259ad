import type { Files } from '../accounts/files.ts';
import type { AccountAreas } from './account-areas.ts';
import type { Accounting } from './accounting.ts';
import type { Administration } from './administration.ts';
import type { ProviderPreferences } from '../canonical/directives.ts';
import { findModels } from '../catalog/find-models.ts';
import type { Moderation } from '../canonical/moderation.ts';
import type { Config, ProviderDefaults } from '../config/config.ts';
import type { HttpClient } from '../lib/http-client.ts';
import type { LiveCatalog } from './live-catalog.ts';
import type { Observability } from './observability.ts';
import { createModerationEndpoint } from './moderation-endpoint.ts';
import { createAnswerMemory } from '../pipeline/answer-memory.ts';
import type { GenerateParts } from '../pipeline/generate.ts';
import { createFileMemory } from '../pipeline/inline-media.ts';
import { createSettle } from '../pipeline/settle.ts';
import { PLUGINS, SLUG_ROUTERS } from '../plugins/index.ts';
import { credentialWarnings } from './providers-from-config.ts';
import type { Provider } from '../providers/contract.ts';
import { createRouterParts, createTagger } from './routers.ts';
import { createEndpointStats } from '../routing/stats.ts';
import { createStickySessions } from '../routing/sticky.ts';
import type { SharedParts } from './shared-parts.ts';
import { createHealthOfAll } from './shared-state.ts';
import { logGeneration } from '../telemetry/logs.ts';
import { UPSTREAM_FORMATS } from './upstream-formats.ts';

/** What the path of a request (`pipeline/generate.ts`) works with. */
export function createGenerateParts(
  shared: SharedParts,
  providers: ReadonlyMap<string, Provider>,
  { catalog }: LiveCatalog,
  { ledger, rateLimiter, store }: Accounting,
  {
    ownCredentials,
    ownUpstreams,
    policies,
    observability,
    files,
  }: Pick<AccountAreas & Administration, 'ownCredentials' | 'ownUpstreams' | 'policies'> & {
    readonly observability: Observability;
    readonly files: Files;
  },
): GenerateParts {
  const { config, clock, http, download, inspector, metrics, log, baseUrl, random, state } = shared;
  const stats = createEndpointStats({ clock });
  const tag = createTagger({ config, clock });
  for (const warning of credentialWarnings(config, providers)) log.general.warn(warning);
  return {
    http,
    download,
    fileMemory: createFileMemory(config.server.fileMemoryBytes),
    storedFiles: files,
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
      store,
      observe(record) {
        metrics.observe(record);
        logGeneration(log, record);
        observability.ended(record);
      },
      ...(tag !== undefined && { tag }),
    }),
    routers: createRouterParts({ config, clock, state }, observability.traffic),
    inspector,
    allowedPhrases: config.guardrails.allowedPhrases,
    plugins: [...Object.values(SLUG_ROUTERS), ...Object.values(PLUGINS)],
    ...abilitiesOf(shared, catalog, files),
    openCapture: (record) => observability.openCapture(record),
    defaults: {
      ...(config.defaults.model !== undefined && { model: config.defaults.model }),
      provider: preferencesFrom(config.defaults.provider),
    },
    responseCache: { texts: state.texts, catalog, clock },
    totalMs: config.timeouts.totalMs,
    rescue: config.rescue.enabled,
    region: config.server.region,
    baseUrl,
    streams: metrics,
    onBug: (error, id) => log.general.error({ err: error, id }, 'bug'),
  };
}

/** What plugins and tools can do beside what they are given of a request. */
function abilitiesOf(
  { config, http, web, mcp, serverTools }: SharedParts,
  catalog: LiveCatalog['catalog'],
  files: Files,
): Pick<GenerateParts, 'abilities' | 'serverTools' | 'toolAbilities'> {
  const { search, pages, files: reader } = web;
  return {
    abilities: { search, files: reader, moderation: moderationOf(http, config.moderation) },
    serverTools,
    toolAbilities: { findModels: (query) => findModels(catalog, query), search, pages, mcp, files, reader },
  };
}

function moderationOf(http: HttpClient, { endpoint, judge }: Config['moderation']): Moderation {
  const asked = createModerationEndpoint(http, endpoint);
  return { ...(asked !== undefined && { endpoint: asked }), ...(judge !== undefined && { judge }) };
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

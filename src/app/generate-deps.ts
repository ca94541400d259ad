import type { Files } from '../accounts/files.ts';
import type { AccountAreas } from './account-areas.ts';
import type { Accounting } from './accounting.ts';
import type { Administration } from './administration.ts';
import type { ProviderPreferences } from '../canonical/directives.ts';
import { findModels } from '../catalog/find-models.ts';
import type { Moderation } from '../canonical/tools/moderation.ts';
import type { ClassifierIntake } from '../classifiers/intake.ts';
import type { Config, ProviderDefaults } from '../config/config.ts';
import type { HttpClient } from '../lib/net/http-client.ts';
import { Slots } from '../lib/memory/slots.ts';
import type { LiveCatalog } from './catalog/live-catalog.ts';
import type { Notifications } from '../notifications/notifications.ts';
import type { Observability } from './observability.ts';
import { createModerationEndpoint } from './moderation-endpoint.ts';
import { createResponseMemory } from '../pipeline/replay/replay-memory.ts';
import type { GenerateDeps } from '../pipeline/generate.ts';
import { createWholeResponseMemory } from '../pipeline/response/whole-response-budget.ts';
import { PLUGINS, SLUG_ROUTERS } from '../plugins/index.ts';
import { credentialWarnings } from './providers/providers-from-config.ts';
import type { Provider } from '../providers/contract.ts';
import { createRouterDeps, createTagger } from './routers.ts';
import { createDeadlines } from '../routing/deadlines.ts';
import { createStickySessions } from '../routing/sticky.ts';
import type { SharedDeps } from './shared-deps.ts';
import { createHealthOfAll, createStatsOfAll } from './shared-state.ts';
import { logGeneration } from '../telemetry/logs.ts';
import { UPSTREAM_FORMATS } from './upstream-formats.ts';

/** What the path of a request (`pipeline/generate.ts`) works with. */
export function createGenerateDeps(
  shared: SharedDeps,
  providers: ReadonlyMap<string, Provider>,
  { catalog }: LiveCatalog,
  { ledger, rateLimiter, store, takeRoom, returnRoom }: Accounting,
  {
    byokCredentials,
    byokUpstreams,
    policies,
    observability,
    notifications,
    intake,
    files,
  }: Pick<AccountAreas & Administration, 'byokCredentials' | 'byokUpstreams' | 'policies'> & {
    readonly observability: Observability;
    readonly notifications: Notifications;
    readonly intake: ClassifierIntake;
    readonly files: Files;
  },
): GenerateDeps {
  const { config, clock, http, download, inspector, metrics, log, baseUrl, random, state, fileMemory, turns } = shared;
  for (const warning of credentialWarnings(config, providers)) log.general.warn(warning);
  return {
    http,
    download,
    fileMemory,
    wholeResponseMemory: createWholeResponseMemory(config.memory.answerBytes),
    storedFiles: files,
    formats: UPSTREAM_FORMATS,
    providers,
    turns,
    byokCredentials: (principal) => byokCredentials.of(principal),
    policyOf: (principal) => policies.policyOf(principal),
    byokUpstream: (candidate, keyHash) => byokUpstreams.connect(candidate, keyHash),
    nowMs: clock.nowMs,
    monotonicMs: clock.monotonicMs,
    ...createRoutingDeps(shared),
    retryOf: retryRulesOf(config),
    random,
    memory: createResponseMemory({ clock, values: state.values, part: config.memory.recallPart }),
    catalog,
    clock,
    ledger,
    rateLimiter,
    store,
    takeRoom,
    returnRoom,
    observe: observeWith(shared, { observability, notifications, intake }),
    ...createTagger({ config, clock }),
    routers: createRouterDeps({ config, clock, state }, observability.traffic),
    inspector,
    allowedPhrases: config.guardrails.allowedPhrases,
    plugins: [...Object.values(SLUG_ROUTERS), ...Object.values(PLUGINS)],
    ...abilitiesOf(shared, catalog, files),
    openCapture: (of) => observability.openCapture(of) ?? intake.openCapture(of),
    defaults: {
      ...(config.defaults.model !== undefined && { model: config.defaults.model }),
      provider: preferencesFrom(config.defaults.provider),
    },
    responseCache: { texts: state.texts, catalog, clock },
    totalMs: config.timeouts.totalMs,
    rescue: config.rescue.enabled,
    judgeTimeoutMs: config.decisions.judgeTimeoutMs,
    region: config.server.region,
    baseUrl,
    streams: metrics,
    onBug: (error, id) => log.general.error({ err: error, id }, 'bug'),
  };
}

function observeWith(
  { metrics, log }: Pick<SharedDeps, 'metrics' | 'log'>,
  {
    observability,
    notifications,
    intake,
  }: {
    readonly observability: Observability;
    readonly notifications: Notifications;
    readonly intake: ClassifierIntake;
  },
): GenerateDeps['observe'] {
  const { hub } = observability;
  return (record) => {
    metrics.observe(record);
    logGeneration(log, record);
    observability.ended(record);
    intake.ended(record);
    // Without a call where there is no channel, and no view.
    if (notifications.isOn) notifications.charged(record.principal.keyHash);
    if (hub.isWatched) hub.offer(record);
  };
}

function retryRulesOf({ retry, providers }: Pick<Config, 'retry' | 'providers'>): GenerateDeps['retryOf'] {
  const own = new Map(providers.map((provider) => [provider.slug, { ...retry, ...provider.retry }]));
  return ({ endpoint }) => own.get(endpoint.provider) ?? retry;
}

/** What routing learns from the traffic, and what of it is under way. */
function createRoutingDeps({
  config,
  clock,
  state,
  metrics,
}: SharedDeps): Pick<GenerateDeps, 'health' | 'stats' | 'deadlines' | 'sticky' | 'running'> {
  const stats = createStatsOfAll({ clock, state });
  const health = createHealthOfAll({ clock, stats, state });
  metrics.watchCircuits(() => health.openCircuits());
  return {
    health,
    stats,
    deadlines: config.deadlines.adaptive ? createDeadlines({ clock }) : undefined,
    sticky: createStickySessions({ clock, values: state.values }),
    running: new Slots(),
  };
}

/** What plugins and tools can do beside what they are given of a request. */
function abilitiesOf(
  { config, http, web, mcp, shell, serverTools }: SharedDeps,
  catalog: LiveCatalog['catalog'],
  files: Files,
): Pick<GenerateDeps, 'abilities' | 'serverTools' | 'toolAbilities'> {
  const { search, pages, files: reader } = web;
  return {
    abilities: { search, files: reader, moderation: moderationOf(http, config) },
    serverTools,
    toolAbilities: {
      findModels: (query) => findModels(catalog, query),
      search,
      pages,
      mcp,
      files,
      reader,
      ...(shell !== undefined && { shell }),
    },
  };
}

function moderationOf(
  http: HttpClient,
  { moderation, decisions }: Pick<Config, 'moderation' | 'decisions'>,
): Moderation {
  const { endpoint, judge: model, threshold, onError } = moderation;
  const requested = createModerationEndpoint(http, endpoint);
  return {
    onError,
    ...(requested !== undefined && { endpoint: requested }),
    ...(model !== undefined && { judge: { model, threshold, timeoutMs: decisions.judgeTimeoutMs } }),
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

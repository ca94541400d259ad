import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { createAuthenticator, type Authenticate } from './accounts/authenticate.ts';
import { createKeys, type FirstKeys, type StaticKeys } from './accounts/keys.ts';
import { createSecrets } from './accounts/secrets.ts';
import { createAccountAreas, type AccountAreas } from './account-areas.ts';
import { createAdministration, type Administration } from './administration.ts';
import type { Presets } from './accounts/presets.ts';
import type { ProviderPreferences } from './canonical/directives.ts';
import type { ClientFormatId } from './canonical/extra.ts';
import type { Config, ProviderDefaults } from './config/config.ts';
import { needsRestart } from './config/needs-restart.ts';
import type { DrawError } from './http/client-error.ts';
import { createCountTokensRoute } from './http/generation/count-tokens.ts';
import { createExplainRoute } from './http/generation/explain.ts';
import type { BodyLimits } from './http/generation/read-body.ts';
import { createGenerationRoute, type GenerationRouteParts, type RawHandler } from './http/generation/route.ts';
import { mountOperations } from './http/operations.ts';
import { registerManagementRoutes, type ManagementServices } from './http/management/route.ts';
import { MANAGEMENT_ROUTES } from './http/routes.ts';
import { createHttpServer, type HttpServer } from './http/server.ts';
import { systemClock, type Clock } from './lib/clock.ts';
import { createDownloader, type Download, type DownloaderOptions } from './lib/download.ts';
import { createHttpClient, type HttpClient } from './lib/http-client.ts';
import { createAnswerMemory } from './pipeline/answer-memory.ts';
import { countTokens } from './pipeline/count-tokens.ts';
import { explainRoute } from './pipeline/explain.ts';
import { createGenerate, type GenerateParts } from './pipeline/generate.ts';
import { createFileMemory } from './pipeline/inline-media.ts';
import { createSettle } from './pipeline/settle.ts';
import { pluginSchema } from './plugins/index.ts';
import { createBetaTable, type BetaTable } from './providers/beta-flags.ts';
import type { CatalogRefresher } from './catalog-refresher.ts';
import type { KnownModel } from './catalog/built-in.ts';
import { createBroughtProviders, createIntake } from './brought-providers.ts';
import { createListing } from './listing.ts';
import { createObservability, type Observability } from './observability.ts';
import { createSpending, type Spending } from './spending.ts';
import { createHealthOfAll, openSharedState } from './shared-state.ts';
import { createLocalServers, type LocalServers } from './local-servers.ts';
import { createLiveCatalog, loadKnownModels, type LiveCatalog } from './live-catalog.ts';
import { credentialWarnings, providersFromConfig } from './providers-from-config.ts';
import type { Provider } from './providers/contract.ts';
import { createProviders } from './providers/index.ts';
import { LOCAL_ENGINES } from './providers/known-providers.ts';
import { sandboxModels } from './providers/sandbox/models.ts';
import { startSandbox } from './providers/sandbox/server.ts';
import { createEndpointStats } from './routing/stats.ts';
import { createStickySessions } from './routing/sticky.ts';
import { openDatabase, type Database } from './store/database.ts';
import { createGenerationStore, type GenerationStore } from './store/generations.ts';
import { createByokKeyStore } from './store/byok-keys.ts';
import { createKeyStore, type KeyStore } from './store/keys.ts';
import type { News, SharedState } from './store/shared/contract.ts';
import { chargesOf } from './telemetry/charges.ts';
import { rowOf } from './telemetry/generation-row.ts';
import { createLog, logGeneration, type Log } from './telemetry/logs.ts';
import { createMetrics, type Metrics } from './telemetry/metrics.ts';
import { UPSTREAM_FORMATS } from './upstream-formats.ts';
import { createChatClientFormat } from './wire/chat/format.ts';
import type { ClientFormat } from './wire/format.ts';
import { createMessagesClientFormat } from './wire/messages/format.ts';

export interface AppOptions {
  readonly config: Config;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log?: Log;
  /** Limits on a request body that the configuration does not name. */
  readonly bodyLimits?: Partial<BodyLimits>;
  /** Which addresses callers may have fetched; default: https on the public Internet. */
  readonly downloads?: DownloaderOptions;
  /** Whether engines that run on this machine are looked for. Default: no. */
  readonly findsLocalServers?: boolean;
  /** From 0 up to, not including, 1: who serves where several may. Default: chance. */
  readonly random?: () => number;
}

export interface App {
  /** @throws NodeJS.ErrnoException when the address cannot be listened on */
  listen(): Promise<{
    readonly url: string;
    /** The keys that the first start made. They cannot be shown again, so they are made once everything else stands. */
    readonly firstKeys?: FirstKeys;
  }>;
  /** Takes over what may change while the gateway runs: models, and the beta flags of providers. */
  reload(next: Config): void;
  /**
   * Lets requests in flight finish within the drain limit, settles what is owed, and closes everything.
   * @param farewellMs how long connections that stand open may bring one more request
   */
  close(farewellMs?: number): Promise<void>;
  readonly generations: Pick<GenerationStore, 'find'>;
}

const BODY_IDLE_MS = 15_000;
const BODY_TOTAL_MS = 300_000;
/** A request does not wait longer than this for its record to reach the disk; the record itself waits on. */
const STORE_WAIT_MS = 2_000;

/** The composition root: builds each part and hands it its collaborators. Nothing is read from the environment below. */
export async function createApp(options: AppOptions): Promise<App> {
  const { config, env } = options;
  const log = options.log ?? createLog(config.logLevel);
  const clock = systemClock;
  const metrics = createMetrics();
  const database = await openDatabase({ path: join(config.dataDir, 'gateway.db'), url: config.databaseUrl, clock });
  const state = await openSharedState({ config, clock, log, metrics });
  const { keys, keyStore, staticKeys, authenticate } = createAccounts(config, database, clock, state.news);
  const generations = openGenerations(database, metrics, log);
  const sandbox = await startSandbox({ host: '127.0.0.1', port: 0 });
  const http = createHttpClient();
  const downloader = createDownloader(options.downloads);
  let url = '';
  const betaTable = createBetaTable(config.betaFlags);
  const { random = Math.random } = options;
  const { download } = downloader;
  const baseUrl = (): string => `${url}/v1`;
  const shared: Shared = { config, env, clock, http, download, metrics, log, betaTable, baseUrl, random, state };
  const formats = createClientFormats();
  const drawError = drawErrorIn(formats, baseUrl);
  const providers = new Map(providersFromConfig(config, env, sandbox.baseUrl, betaTable));
  const brought = createBroughtProviders({ providers, timeouts: config.timeouts, betaTable });
  brought.admit(await createByokKeyStore({ database }).providers());
  const known = await loadKnownModels(providers, clock.nowMs());
  const live = createLiveCatalog({ config, providers, builtIn: sandboxModels(), known });
  const refresher = await openRefresher(shared, live, known);
  const spending = createSpending({
    config,
    database,
    state,
    clock,
    onFailed: (error) => log.general.error({ err: error }, 'a charge could not be told to the state'),
  });
  const administration = openAdministration(shared, database, keyStore, live);
  const { workspaces } = administration;
  const areas = createAccountAreas({
    config,
    env,
    database,
    keyStore,
    keys,
    workspaces,
    clock,
    providers,
    brought,
    takeIn: createIntake({ brought, providers, live, isLoaded: known.length > 0, clock }),
    news: state.news,
  });
  const { box } = createSecrets(config);
  const observability = createObservability({
    config,
    database,
    keys: keyStore,
    box,
    clock,
    log,
    metrics,
    random,
  });
  const generateParts = createGenerateParts(shared, providers, live, generations, spending, {
    ...areas,
    ...administration,
    observability,
  });
  const localServers = localServersOf(shared, providers, live);
  const server: HttpServer = createHttpServer({
    host: config.server.host,
    port: config.server.port,
    onBug: (error) => log.general.error({ err: error }, 'bug'),
    drawError,
    generation: generationRoutes(shared, formats, generateParts, authenticate, areas.presets, {
      draining: () => server.refusing,
      bodyLimits: options.bodyLimits,
    }),
    mount(fastify) {
      const draining = (): boolean => server.draining;
      const ready = (): Promise<unknown> => Promise.all([database.ping(), state.ping()]);
      const general = log.general;
      mountOperations(fastify, { metrics, ready, draining, openApi: drawOpenApi, drawError, log: general });
      const services = {
        keys,
        ...administration,
        generations,
        ...areas,
        ...observability.services,
        credits: spending.credits,
        checkRequest: checkerOf(formats),
        listing: createListing(generateParts),
      };
      registerManagementRoutes(fastify, MANAGEMENT_ROUTES, { authenticate, services, log: general });
    },
  });
  return {
    generations,
    async listen() {
      const { address, port } = await server.listen();
      url = `http://${isIPv6(address) ? `[${address}]` : address}:${port}`;
      const firstKeys = await keys.bootstrap(staticKeys);
      if (options.findsLocalServers === true) localServers.start();
      refresher?.start();
      observability.start();
      return { url, ...(firstKeys !== undefined && { firstKeys }) };
    },
    reload(next) {
      betaTable.replace(next.betaFlags);
      live.configure(next);
      log.general.info({ needsRestart: needsRestart(config, next) }, 'the configuration was read again');
    },
    async close(farewellMs = 0) {
      localServers.stop();
      refresher?.stop();
      await server.close({ farewellMs, drainMs: config.server.drainMs });
      await generations.close();
      await observability.close();
      await Promise.all([http.close(), downloader.close(), sandbox.close()]);
      await database.close();
      state.close();
      log.flush();
    },
  };
}

function createAccounts(config: Config, database: Database, clock: Clock, news: News) {
  const staticKeys = staticKeysFrom(config);
  const store = createKeyStore({ database, news });
  return {
    staticKeys,
    keyStore: store,
    keys: createKeys({ store, clock }),
    authenticate: createAuthenticator({ keys: store, clock, staticKeys }),
  };
}

function openAdministration(
  { clock, log, state }: Shared,
  database: Database,
  keyStore: KeyStore,
  { catalog }: LiveCatalog,
): Administration {
  return createAdministration({
    database,
    keyStore,
    catalog,
    clock,
    news: state.news,
    // The last place where the event can be kept.
    onLostAudit: (event, error) => log.general.error({ event, err: error }, 'audit event lost'),
  });
}

/** What was fetched before is there from the first request on; `undefined` where the operator did not turn it on. */
async function openRefresher(
  { config, clock, download, log, random }: Shared,
  live: LiveCatalog,
  known: readonly KnownModel[],
): Promise<CatalogRefresher | undefined> {
  const { refresh } = config.catalog;
  if (!refresh.enabled) return undefined;
  const { createCatalogRefresher } = await import('./catalog-refresher.ts');
  const { dataDir } = config;
  const refresher = createCatalogRefresher({
    ...refresh,
    dataDir,
    known,
    live,
    download,
    clock,
    random,
    log: log.general,
  });
  await refresher.load();
  return refresher;
}

/** Engines on this machine, at the addresses where they usually listen. */
function localServersOf(
  { config, env, http, betaTable }: Shared,
  providers: Map<string, Provider>,
  live: LiveCatalog,
): LocalServers {
  const named = new Set(LOCAL_ENGINES.keys());
  const usual = createProviders({ config: [], env, timeouts: config.timeouts, named, betaTable });
  const candidates = new Map([...usual].filter(([slug]) => named.has(slug)));
  return createLocalServers({ providers, candidates, live, http });
}

function openGenerations(database: Database, metrics: Metrics, log: Log): GenerationStore {
  return createGenerationStore({
    database,
    onLost: (row, error) => {
      metrics.recordLost();
      // The last place where the row can be kept.
      log.general.error({ row, error: error.message }, 'generation record lost');
    },
  });
}

type ClientFormats = Readonly<Record<ClientFormatId, ClientFormat>>;

function createClientFormats(): ClientFormats {
  return {
    chat: createChatClientFormat({ plugin: pluginSchema }),
    messages: createMessagesClientFormat({ plugin: pluginSchema }),
  };
}

/** Whether the generation route of a format would take a body. */
function checkerOf(formats: ClientFormats): ManagementServices['checkRequest'] {
  return (format, body) =>
    void formats[format].decodeRequest(body, JSON.stringify(body), { serviceMetadata: false, betas: [] });
}

/** Below any base path, and with whatever follows. */
const MESSAGES_PATH = /^[^?#]*\/messages(?:[/?#]|$)/;

/** For what is refused before a route was found: the path tells in whose shape. */
function drawErrorIn({ chat, messages }: ClientFormats, baseUrl: () => string): DrawError {
  return (error, path) =>
    (MESSAGES_PATH.test(path) ? messages : chat).encodeError(error, {
      generationId: null,
      serviceMetadata: undefined,
      baseUrl: baseUrl(),
    });
}

/** What most parts need. */
interface Shared {
  readonly config: Config;
  readonly env: AppOptions['env'];
  readonly clock: Clock;
  readonly http: HttpClient;
  readonly download: Download;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly betaTable: BetaTable;
  readonly baseUrl: () => string;
  readonly random: () => number;
  readonly state: SharedState;
}

function createGenerateParts(
  { config, clock, http, download, metrics, log, baseUrl, random, state }: Shared,
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

function generationRoutes(
  { config, clock, metrics, baseUrl }: Shared,
  { chat, messages }: ClientFormats,
  generateParts: GenerateParts,
  authenticate: Authenticate,
  presets: Presets,
  limits: { readonly draining: () => boolean; readonly bodyLimits: Partial<BodyLimits> | undefined },
): Readonly<Record<string, RawHandler>> {
  const parts: GenerationRouteParts = {
    authenticate,
    generate: createGenerate(generateParts),
    presets,
    clock,
    bodyLimits: {
      bytesMax: config.server.maxBodyBytes,
      idleMs: BODY_IDLE_MS,
      totalMs: BODY_TOTAL_MS,
      ...limits.bodyLimits,
    },
    allowApiKeyHeader: false,
    baseUrl,
    draining: limits.draining,
    onRefused: (error, format) => metrics.refused(format, error.status),
    onBug: generateParts.onBug,
  };
  const messagesParts = { ...parts, allowApiKeyHeader: true };
  return {
    '/chat/completions': createGenerationRoute(chat, parts),
    '/messages': createGenerationRoute(messages, messagesParts),
    '/route/explain': createExplainRoute({ chat, messages }, messagesParts, (request, principal) =>
      explainRoute(generateParts, request, principal),
    ),
    '/messages/count_tokens': createCountTokensRoute(messages, messagesParts, (request, signal) =>
      countTokens(generateParts, request, signal),
    ),
  };
}

/** Loaded when it is asked for: it needs every schema of the answers, which nothing else does. */
async function drawOpenApi(): Promise<object> {
  const { openApiDocument } = await import('./openapi-document.ts');
  return openApiDocument();
}

function staticKeysFrom({ managementKey, apiKey }: Config): StaticKeys {
  return {
    ...(managementKey !== undefined && { management: managementKey }),
    ...(apiKey !== undefined && { normal: apiKey }),
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

import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { createAuthenticator } from './accounts/keys/authenticate.ts';
import { createKeys, type FirstKeys, type StaticKeys } from './accounts/keys/keys.ts';
import { limitManagement } from './accounts/limits/management-rate-limit.ts';
import { createAccountAreas } from './app/account-areas.ts';
import { claimDataDirectory } from './app/claim-data-directory.ts';
import { createAccounting, type Accounting } from './app/accounting.ts';
import { createAdministration, type Administration } from './app/administration.ts';
import { embeddedDatabaseOf } from './app/embedded-database.ts';
import type { Config } from './config/config.ts';
import { needsRestart } from './config/needs-restart.ts';
import { createTextInspector } from './content-filters/inspector.ts';
import { createBodyBudget } from './http/body-budget.ts';
import type { BodyLimits } from './http/read-body.ts';
import { mountOperations, NotReadyError } from './http/operations.ts';
import type { ManagementServices } from './http/management/route.ts';
import { registerManagementRoutes } from './http/management/register-routes.ts';
import { MANAGEMENT_ROUTES } from './http/routes.ts';
import { createHttpServer, type HttpServer } from './http/server.ts';
import { createUnreadResponses } from './http/unread-responses.ts';
import { systemClock, type Clock } from './lib/clock.ts';
import { createDownloader, type DownloaderOptions } from './lib/net/download.ts';
import { createHttpClient, createInflateMemory } from './lib/net/http-client.ts';
import { createLoopTurns } from './lib/async/loop-turns.ts';
import { makeFolder } from './lib/files/make-folder.ts';
import { readVersion } from './app/version.ts';
import { createBetaTable } from './providers/beta-flags.ts';
import { openCatalog } from './app/catalog/open-catalog.ts';
import { checkerOf, clientFormats, serializeErrorIn, type ClientFormats } from './app/client-formats.ts';
import { providersThatAreOn } from './app/catalog/missing-providers.ts';
import { createGenerateDeps } from './app/generate-deps.ts';
import type { GenerateDeps } from './pipeline/generate.ts';
import { createFileArea } from './app/file-area.ts';
import { generationRoutes } from './app/generation-routes.ts';
import { createListing } from './app/listing.ts';
import { readPlugins } from './app/read-plugins.ts';
import { createFileMemory } from './pipeline/attempt/request/inline-media.ts';
import { createFilterTrials } from './pipeline/content-filters/try-filters.ts';
import type { SharedDeps } from './app/shared-deps.ts';
import { openCatalogRefresher } from './app/catalog/open-catalog-refresher.ts';
import { createObservability } from './app/observability.ts';
import { createManagersLimiter, createSpending } from './app/spending.ts';
import { openMcpServers } from './app/mcp-from-config.ts';
import { openSharedState } from './app/shared-state.ts';
import { createLocalServers, type LocalServers } from './app/local-servers.ts';
import type { LiveCatalog } from './app/catalog/live-catalog.ts';
import type { Provider } from './providers/contract.ts';
import { createProviders } from './providers/index.ts';
import { LOCAL_ENGINES } from './providers/known-providers.ts';
import { startSandbox } from './sandbox/server.ts';
import { DatabaseGoneError } from './store/engine/database-error.ts';
import { openDatabase, type Database } from './store/engine/database.ts';
import { createGenerationStore, type GenerationStore } from './store/generations/generations.ts';
import { createKeyStore, type KeyStore } from './store/accounts/keys.ts';
import type { InvalidationBus } from './state/contract.ts';
import { createLog, type Log } from './telemetry/logs.ts';
import { createMetrics, type Metrics } from './telemetry/metrics.ts';
import type { RegisteredTool } from './tools/contract.ts';
import { SERVER_TOOLS } from './tools/index.ts';
import { createWebAbilities } from './app/web-abilities.ts';

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
  /** From 0 up to, not including, 1: selects one of several endpoints. Default: random. */
  readonly random?: () => number;
  /** Server tools beside those of the registry; one of a type that it has stands in for that. */
  readonly serverTools?: readonly RegisteredTool[];
  /** Keeps accounts in place of what was built for it: to measure what they cost (`bench/`). */
  readonly accounting?: (built: Accounting) => Accounting;
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
   * @param farewellMs how long new requests are still served, while balancers learn that the gateway is not ready
   */
  close(farewellMs?: number): Promise<void>;
  readonly generations: Pick<GenerationStore, 'find'>;
}

/** The composition root: builds each part and hands it its collaborators. Nothing is read from the environment below. */
export async function createApp(options: AppOptions): Promise<App> {
  const { config } = options;
  const foundation = await openFoundation(options);
  const { shared, database, accounts, generations } = foundation;
  const { log, state } = shared;
  const formats = clientFormats();
  const catalog = await openCatalog({ ...shared, database, sandboxBaseUrl: foundation.sandboxBaseUrl });
  const { providers, live, known } = catalog;
  const refresher = await openCatalogRefresher(shared, live, known);
  const spending = createSpending({ ...shared, database, generations, onFailed: stateFailed(log) });
  const administration = openAdministration(shared, database, accounts.keyStore, live);
  const areas = createAccountAreas({
    ...shared,
    ...catalog,
    ...accounts,
    database,
    workspaces: administration.workspaces,
    invalidations: state.invalidations,
  });
  const fileArea = createFileArea({ ...shared, database });
  const { changes } = administration;
  const observability = createObservability({ ...shared, ...areas, database, changes, keys: accounts.keyStore });
  const built = createAccounting(spending, generations, config.server.region);
  const accounting = options.accounting?.(built) ?? built;
  const parts = { ...areas, ...administration, observability, files: fileArea.files };
  const generateDeps = createGenerateDeps(shared, providers, live, accounting, parts);
  const localServers = localServersOf(shared, providers, live);
  const services: ManagementServices = {
    keys: accounts.keys,
    ...administration,
    generations,
    ...areas.services,
    files: fileArea.files,
    ...observability.services,
    credits: spending.credits,
    checkRequest: checkerOf(formats, live.catalog),
    readPlugins,
    tryFilters: createFilterTrials(generateDeps),
    listing: createListing(generateDeps),
  };
  const server = openServer(foundation, { formats, generateDeps, services, bodyLimits: options.bodyLimits });
  return {
    generations,
    async listen() {
      const url = urlOf(await server.listen());
      foundation.listensAt(url);
      const firstKeys = await accounts.keys.bootstrap(accounts.staticKeys);
      generations.start();
      if (options.findsLocalServers === true) localServers.start();
      refresher?.start();
      observability.start();
      fileArea.start();
      log.general.info({ providers: providersThatAreOn(providers) }, 'providers that are on');
      return { url, ...(firstKeys !== undefined && { firstKeys }) };
    },
    reload(next) {
      shared.betaTable.replace(next.betaFlags);
      live.configure(next);
      log.general.info({ needsRestart: needsRestart(config, next) }, 'the configuration was read again');
    },
    async close(farewellMs = 0) {
      localServers.stop();
      refresher?.stop();
      await server.close({ farewellMs, drainMs: config.server.drainMs });
      for (const part of [generations, observability, fileArea, foundation]) await part.close();
    },
  };
}

function urlOf({ address, port }: { readonly address: string; readonly port: number }): string {
  return `http://${isIPv6(address) ? `[${address}]` : address}:${port}`;
}

/** What everything else stands on, and what is closed last. */
interface Foundation {
  readonly shared: SharedDeps;
  readonly database: Database;
  readonly accounts: ReturnType<typeof createAccounts>;
  readonly generations: GenerationStore;
  readonly sandboxBaseUrl: string;
  /** Called once it is known: port 0 selects a free one. */
  listensAt(url: string): void;
  close(): Promise<void>;
}

async function openFoundation(options: AppOptions): Promise<Foundation> {
  const { config, env, random = Math.random } = options;
  const serverTools = new Map<string, RegisteredTool>([
    ...SERVER_TOOLS,
    ...(options.serverTools ?? []).map((tool) => [tool.type, tool] as const),
  ]);
  const log = options.log ?? createLog(config.logLevel, config.logFormat);
  const clock = systemClock;
  const metrics = createMetrics(readVersion());
  // Not with the first upload.
  if (config.files.directory !== undefined) await makeFolder(config.files.directory);
  const database = await openDatabase({ path: embeddedDatabaseOf(config), url: config.databaseUrl, clock });
  const claim = claimDataDirectory(config, log);
  const state = await openSharedState({ config, clock, log, metrics });
  const sandbox = await startSandbox({ host: '127.0.0.1', port: 0 });
  const http = createHttpClient({
    inflateMemory: createInflateMemory(config.memory.inflateBytes),
    pausedBytesMax: config.memory.unreadBytes,
  });
  const downloader = createDownloader(options.downloads);
  const { download } = downloader;
  const fileMemory = createFileMemory(config.server.fileMemoryBytes);
  const web = createWebAbilities({ config, env, clock, http, download, fileMemory }, options.downloads);
  const mcp = openMcpServers({ config, env, clock, log, fileMemory });
  const inspector = createTextInspector();
  const betaTable = createBetaTable(config.betaFlags);
  let address = '';
  const baseUrl = (): string => `${address}/v1`;
  return {
    shared: {
      config,
      env,
      clock,
      http,
      download,
      web,
      mcp,
      inspector,
      metrics,
      log,
      betaTable,
      bodies: createBodyBudget(config.memory.bodyBytes),
      fileMemory,
      turns: createLoopTurns({ clock }),
      baseUrl,
      random,
      serverTools,
      state,
    },
    database,
    accounts: createAccounts(config, database, clock, state.invalidations),
    generations: openGenerations(database, config, metrics, log),
    sandboxBaseUrl: sandbox.baseUrl,
    listensAt(url) {
      address = url;
    },
    async close() {
      const others = [downloader, web, mcp, inspector, sandbox];
      await Promise.all([http.close(), ...others.map((other) => other.close())]);
      await database.close();
      claim.release();
      state.close();
      log.flush();
    },
  };
}

function stateFailed(log: Log): (error: unknown) => void {
  return (error) => log.general.error({ err: error }, 'a charge could not be reported to the shared state');
}

/** @throws Error while something that a request needs does not answer, or charges cannot be stored */
async function mustBeReady({ shared, database, generations }: Foundation): Promise<void> {
  if (generations.isBehind()) throw new Error('Charges wait to be stored.');
  await Promise.all([database.ping().catch(explainGone), shared.state.ping()]);
}

function explainGone(error: unknown): never {
  throw error instanceof DatabaseGoneError ? new NotReadyError(error.message, { cause: error }) : error;
}

interface ServerDeps {
  readonly formats: ClientFormats;
  readonly generateDeps: GenerateDeps;
  readonly services: ManagementServices;
  readonly bodyLimits: AppOptions['bodyLimits'];
}

function openServer(foundation: Foundation, { formats, generateDeps, services, bodyLimits }: ServerDeps): HttpServer {
  const { shared, accounts } = foundation;
  const { config, log, metrics } = shared;
  const { authenticate } = accounts;
  const serializeError = serializeErrorIn(formats, shared.baseUrl);
  const unread = createUnreadResponses({ bytesMax: config.memory.unreadBytes });
  const server: HttpServer = createHttpServer({
    host: config.server.host,
    port: config.server.port,
    onBug: (error) => log.general.error({ err: error }, 'bug'),
    serializeError,
    connectionsMax: config.memory.connections,
    unread,
    generation: generationRoutes(shared, formats, generateDeps, authenticate, services.presets, {
      draining: () => server.refusing,
      bodyLimits,
      unread,
    }),
    mount(fastify) {
      const draining = (): boolean => server.draining;
      const ready = (): Promise<unknown> => mustBeReady(foundation);
      mountOperations(fastify, {
        metrics,
        ready,
        draining,
        openApi: serializeOpenApi,
        serializeError,
        log: log.general,
      });
      registerManagementRoutes(fastify, MANAGEMENT_ROUTES, {
        authenticate: limitManagement(authenticate, createManagersLimiter(shared)),
        services,
        log: log.general,
        bodies: shared.bodies,
        bodyLimits,
      });
    },
  });
  return server;
}

function createAccounts(config: Config, database: Database, clock: Clock, invalidations: InvalidationBus) {
  const staticKeys = staticKeysFrom(config);
  const store = createKeyStore({ database, invalidations });
  return {
    staticKeys,
    keyStore: store,
    keys: createKeys({ store, clock }),
    authenticate: createAuthenticator({ keys: store, clock, staticKeys }),
  };
}

function openAdministration(
  { clock, log, state }: SharedDeps,
  database: Database,
  keyStore: KeyStore,
  { catalog }: LiveCatalog,
): Administration {
  return createAdministration({
    database,
    keyStore,
    catalog,
    clock,
    invalidations: state.invalidations,
    // The last place where the event can be kept.
    onLostAudit: (event, error) => log.general.error({ event, err: error }, 'audit event lost'),
  });
}

/** Engines on this machine, at the addresses where they usually listen. */
function localServersOf(
  { config, env, http, betaTable }: SharedDeps,
  providers: Map<string, Provider>,
  live: LiveCatalog,
): LocalServers {
  const named = new Set(LOCAL_ENGINES.keys());
  const usual = createProviders({ config: [], env, timeouts: config.timeouts, named, betaTable });
  const candidates = new Map([...usual].filter(([slug]) => named.has(slug)));
  return createLocalServers({ providers, candidates, live, http });
}

function openGenerations(
  database: Database,
  { dataDir }: Pick<Config, 'dataDir'>,
  metrics: Metrics,
  log: Log,
): GenerationStore {
  const store = createGenerationStore({
    database,
    spool: {
      folder: join(dataDir, 'unstored'),
      nowMs: () => systemClock.nowMs(),
      onUnreadable: (file) =>
        log.general.error({ file }, 'a file of records that wait cannot be read: it is set aside'),
      onFailed: (error) => log.general.error({ err: error }, 'records that wait in files cannot be stored'),
    },
    onStuck(isStuck, error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (isStuck) log.general.error({ error: reason }, 'the database takes no records; they wait');
      else log.general.info('the database takes records again');
    },
    onLost: (row, error) => {
      metrics.recordLost();
      // The last place where the row can be kept.
      log.general.error({ row, error: error.message }, 'generation record lost');
    },
  });
  metrics.watchRecords(() => store.pending());
  return store;
}

/** Loaded on demand: it needs every schema of responses, which nothing else does. */
async function serializeOpenApi(): Promise<object> {
  const { openApiDocument } = await import('./app/openapi-document.ts');
  return openApiDocument();
}

function staticKeysFrom({ managementKey, apiKey }: Config): StaticKeys {
  return {
    ...(managementKey !== undefined && { management: managementKey }),
    ...(apiKey !== undefined && { normal: apiKey }),
  };
}

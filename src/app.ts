import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { createAuthenticator } from './accounts/authenticate.ts';
import { createKeys, type FirstKeys, type StaticKeys } from './accounts/keys.ts';
import { limitManagers } from './accounts/limit-managers.ts';
import { createAccountAreas } from './app/account-areas.ts';
import { claimDataDirectory } from './app/claim-data-directory.ts';
import { createAccounting, type Accounting } from './app/accounting.ts';
import { createAdministration, type Administration } from './app/administration.ts';
import { embeddedDatabaseOf } from './app/embedded-database.ts';
import type { Config } from './config/config.ts';
import { needsRestart } from './config/needs-restart.ts';
import { createTextInspector } from './guardrails/inspector.ts';
import type { BodyLimits } from './http/generation/read-body.ts';
import { mountOperations } from './http/operations.ts';
import { registerManagementRoutes, type ManagementServices } from './http/management/route.ts';
import { MANAGEMENT_ROUTES } from './http/routes.ts';
import { createHttpServer, type HttpServer } from './http/server.ts';
import { systemClock, type Clock } from './lib/clock.ts';
import { createDownloader, type DownloaderOptions } from './lib/download.ts';
import { createHttpClient } from './lib/http-client.ts';
import { makeFolder } from './lib/make-folder.ts';
import { createBetaTable } from './providers/beta-flags.ts';
import { openCatalog } from './app/open-catalog.ts';
import { checkerOf, clientFormats, drawErrorIn, type ClientFormats } from './app/client-formats.ts';
import { createGenerateParts } from './app/generate-parts.ts';
import type { GenerateParts } from './pipeline/generate.ts';
import { createFileArea } from './app/file-area.ts';
import { generationRoutes } from './app/generation-routes.ts';
import { createListing } from './app/listing.ts';
import { readPlugins } from './app/read-plugins.ts';
import { createFilterTrials } from './pipeline/try-filters.ts';
import type { SharedParts } from './app/shared-parts.ts';
import { openCatalogRefresher } from './app/open-catalog-refresher.ts';
import { createObservability } from './app/observability.ts';
import { createManagersLimiter, createSpending } from './app/spending.ts';
import { openMcpServers } from './app/mcp-from-config.ts';
import { openSharedState } from './app/shared-state.ts';
import { createLocalServers, type LocalServers } from './app/local-servers.ts';
import type { LiveCatalog } from './app/live-catalog.ts';
import type { Provider } from './providers/contract.ts';
import { createProviders } from './providers/index.ts';
import { LOCAL_ENGINES } from './providers/known-providers.ts';
import { startSandbox } from './providers/sandbox/server.ts';
import { openDatabase, type Database } from './store/database.ts';
import { createGenerationStore, type GenerationStore } from './store/generations.ts';
import { createKeyStore, type KeyStore } from './store/keys.ts';
import type { News } from './store/shared/contract.ts';
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
  /** From 0 up to, not including, 1: who serves where several may. Default: chance. */
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
   * @param farewellMs how long who still comes is served, while balancers learn that the gateway is not ready
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
    news: state.news,
  });
  const fileArea = createFileArea({ ...shared, database });
  const { changes } = administration;
  const observability = createObservability({ ...shared, ...areas, database, changes, keys: accounts.keyStore });
  const built = createAccounting(spending, generations, config.server.region);
  const accounting = options.accounting?.(built) ?? built;
  const parts = { ...areas, ...administration, observability, files: fileArea.files };
  const generateParts = createGenerateParts(shared, providers, live, accounting, parts);
  const localServers = localServersOf(shared, providers, live);
  const services: ManagementServices = {
    keys: accounts.keys,
    ...administration,
    generations,
    ...areas.services,
    files: fileArea.files,
    ...observability.services,
    credits: spending.credits,
    checkRequest: checkerOf(formats),
    readPlugins,
    tryFilters: createFilterTrials(generateParts),
    listing: createListing(generateParts),
  };
  const server = openServer(foundation, { formats, generateParts, services, bodyLimits: options.bodyLimits });
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
  readonly shared: SharedParts;
  readonly database: Database;
  readonly accounts: ReturnType<typeof createAccounts>;
  readonly generations: GenerationStore;
  readonly sandboxBaseUrl: string;
  /** Told once it is known: port 0 is a free one. */
  listensAt(url: string): void;
  close(): Promise<void>;
}

async function openFoundation(options: AppOptions): Promise<Foundation> {
  const { config, env, random = Math.random } = options;
  const serverTools = new Map<string, RegisteredTool>([
    ...SERVER_TOOLS,
    ...(options.serverTools ?? []).map((tool) => [tool.type, tool] as const),
  ]);
  const log = options.log ?? createLog(config.logLevel);
  const clock = systemClock;
  const metrics = createMetrics();
  // Not with the first upload.
  if (config.files.directory !== undefined) await makeFolder(config.files.directory);
  const database = await openDatabase({ path: embeddedDatabaseOf(config), url: config.databaseUrl, clock });
  const claim = claimDataDirectory(config, log);
  const state = await openSharedState({ config, clock, log, metrics });
  const sandbox = await startSandbox({ host: '127.0.0.1', port: 0 });
  const http = createHttpClient();
  const downloader = createDownloader(options.downloads);
  const { download } = downloader;
  const web = createWebAbilities({ config, env, clock, http, download }, options.downloads);
  const mcp = openMcpServers({ config, env, clock, log });
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
      baseUrl,
      random,
      serverTools,
      state,
    },
    database,
    accounts: createAccounts(config, database, clock, state.news),
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
  return (error) => log.general.error({ err: error }, 'a charge could not be told to the state');
}

/** @throws Error while something that a request needs does not answer, or charges cannot be stored */
async function mustBeReady({ shared, database, generations }: Foundation): Promise<void> {
  if (generations.isBehind()) throw new Error('Charges wait to be stored.');
  await Promise.all([database.ping(), shared.state.ping()]);
}

interface ServerParts {
  readonly formats: ClientFormats;
  readonly generateParts: GenerateParts;
  readonly services: ManagementServices;
  readonly bodyLimits: AppOptions['bodyLimits'];
}

function openServer(foundation: Foundation, { formats, generateParts, services, bodyLimits }: ServerParts): HttpServer {
  const { shared, accounts } = foundation;
  const { config, log, metrics } = shared;
  const { authenticate } = accounts;
  const drawError = drawErrorIn(formats, shared.baseUrl);
  const server: HttpServer = createHttpServer({
    host: config.server.host,
    port: config.server.port,
    onBug: (error) => log.general.error({ err: error }, 'bug'),
    drawError,
    generation: generationRoutes(shared, formats, generateParts, authenticate, services.presets, {
      draining: () => server.refusing,
      bodyLimits,
    }),
    mount(fastify) {
      const draining = (): boolean => server.draining;
      const ready = (): Promise<unknown> => mustBeReady(foundation);
      mountOperations(fastify, { metrics, ready, draining, openApi: drawOpenApi, drawError, log: log.general });
      registerManagementRoutes(fastify, MANAGEMENT_ROUTES, {
        authenticate: limitManagers(authenticate, createManagersLimiter(shared)),
        services,
        log: log.general,
      });
    },
  });
  return server;
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
  { clock, log, state }: SharedParts,
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

/** Engines on this machine, at the addresses where they usually listen. */
function localServersOf(
  { config, env, http, betaTable }: SharedParts,
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

/** Loaded when it is asked for: it needs every schema of the answers, which nothing else does. */
async function drawOpenApi(): Promise<object> {
  const { openApiDocument } = await import('./app/openapi-document.ts');
  return openApiDocument();
}

function staticKeysFrom({ managementKey, apiKey }: Config): StaticKeys {
  return {
    ...(managementKey !== undefined && { management: managementKey }),
    ...(apiKey !== undefined && { normal: apiKey }),
  };
}

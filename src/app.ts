import { isIPv6 } from 'node:net';
import type { FirstKeys } from './accounts/keys/keys.ts';
import { createKeyLimits } from './accounts/limits/key-limits.ts';
import { countCallsBy, limitManagement } from './accounts/limits/management-rate-limit.ts';
import type { ManagementServices } from './http/management/route.ts';
import type { HttpServer } from './http/server.ts';
import { providersThatAreOn } from './app/catalog/missing-providers.ts';
import { checkerOf, serializeErrorIn } from './app/client-formats.ts';
import { createConsoleArea, type ConsoleArea } from './app/console/console-area.ts';
import { createScimArea, mountScimOf, type ScimArea } from './app/console/scim.ts';
import { openFoundation, type Foundation, type GatewayOptions } from './app/foundation.ts';
import { waitForRecords } from './app/journal.ts';
import { readCodexInstructions } from './app/catalog/codex-instructions.ts';
import { createModelSources } from './app/catalog/model-sources.ts';
import { createListing } from './app/catalog/listing.ts';
import { createParts, openServer, type Parts } from './app/parts.ts';
import { readPlugins } from './app/read-plugins.ts';
import { createOperations } from './app/operations/operations.ts';
import { createReadiness } from './app/operations/readiness.ts';
import { createManagersLimiter } from './app/spending.ts';
import { createConnectionArea, type ConnectionArea } from './app/mcp-server/connection-area.ts';
import { ownMcp } from './app/mcp-server/mount-own-mcp.ts';
import { openWatches } from './app/notifications/open-watches.ts';
import { openOwnStorage, type OwnStorage } from './app/storage.ts';
import { shareMemory } from './app/workers/share-memory.ts';
import { createVaultServices } from './app/vault/vault-services.ts';
import { openWorkers, type Workers } from './app/workers/workers.ts';
import { backtest } from './pipeline/backtest.ts';
import { createFilterTrials } from './pipeline/content-filters/try-filters.ts';
import { createGenerationStore, type GenerationStore } from './store/generations/generations.ts';

export type AppOptions = GatewayOptions;

export interface App {
  /** @throws NodeJS.ErrnoException when the address cannot be listened on */
  listen(): Promise<{
    readonly url: string;
    /** The keys that the first start made. They cannot be shown again, so they are made once everything else stands. */
    readonly firstKeys?: FirstKeys;
    /** What signs in to the dashboard, once; made with the first keys. */
    readonly consoleLink?: string;
  }>;
  /** Takes over what may change while the gateway runs: models, and the beta flags of providers. */
  reload(next: GatewayOptions['config']): void;
  /**
   * Lets requests in flight finish within the drain limit, settles what is owed, and closes everything.
   * @param farewellMs how long new requests are still served, while balancers learn that the gateway is not ready
   */
  close(farewellMs?: number): Promise<void>;
  readonly generations: Pick<GenerationStore, 'find'>;
}

/**
 * The composition root: builds each part and hands it its collaborators. Nothing is read from the environment below. With
 * workers this process serves what is no generation, and they serve the rest (docs/decisions/0023).
 */
export async function createApp(given: GatewayOptions): Promise<App> {
  const options = { ...given, config: shareMemory(given.config) };
  const { config } = options;
  // Before anything is opened: a file that cannot be read is an error of the start.
  const codexInstructions = readCodexInstructions(config.responses);
  const foundation = await openFoundation(options, openOwnStorage);
  const { accounts, storage } = foundation;
  const { database, records } = storage;
  const generations = createGenerationStore({ database });
  const parts = await createParts(options, foundation, { keepsStore: true, serves: config.server.workers === 1 });
  const { refresher, localServers, observability, fileArea, responseArea, videoArea, internArea, evaluationArea } =
    parts;
  const { jobs, notifications, providers } = parts;
  const workers =
    config.server.workers > 1
      ? await openWorkers({ ...foundation.shared, ...storage, findsLocalServers: options.findsLocalServers === true })
      : undefined;
  const first = openFirstAreas(options, foundation, parts);
  const { connectionArea, consoleArea } = first;
  const own = { ...first, workers, codexInstructions };
  const server = openFirstServer(options, foundation, parts, own);
  return {
    generations: {
      async find(id) {
        await waitForRecords(records);
        return generations.find(id);
      },
    },
    async listen() {
      await records.start();
      await Promise.all([responseArea.recover(), jobs.recover()]);
      const url = urlOf(workers === undefined ? await server.listen() : await startWorkers(server, workers));
      foundation.listensAt(url);
      const firstKeys = await accounts.keys.bootstrap(accounts.staticKeys);
      if (options.findsLocalServers === true) localServers.start();
      refresher?.start();
      for (const part of [observability, parts.classifierInput, fileArea]) part.start();
      responseArea.start();
      videoArea.start();
      internArea?.start();
      await evaluationArea.start();
      jobs.start();
      const { log, vault } = foundation.shared;
      log.general.info({ providers: providersThatAreOn(providers) }, 'providers that are on');
      await vault.warnOfReferences(providers);
      notifications.start();
      first.start();
      vault.reportStale((event) => notifications.raise(event));
      if (firstKeys === undefined) return { url };
      return { url, firstKeys, ...(config.console.enabled && { consoleLink: await consoleArea.links.create() }) };
    },
    reload(next) {
      const share = shareMemory(next);
      parts.reload(share);
      workers?.reload(share);
    },
    async close(farewellMs = 0) {
      localServers.stop();
      refresher?.stop();
      await workers?.close(farewellMs);
      const { drainMs } = config.server;
      await Promise.all([
        server.close({ farewellMs: workers === undefined ? farewellMs : 0, drainMs }),
        responseArea.drain(drainMs),
      ]);
      await first.close();
      await closeParts(foundation, parts, connectionArea);
    },
  };
}

/** What the first process alone does. */
function openFirstAreas(options: GatewayOptions, foundation: Foundation, parts: Parts) {
  const connectionArea = createConnectionArea(foundation, parts);
  const scimArea = createScimArea(foundation, parts);
  const watches = openWatches(foundation, parts, { keepsStore: true, everyMs: options.notificationTickMs });
  return {
    connectionArea,
    consoleArea: createConsoleArea(options, foundation, parts, connectionArea?.services),
    scimArea,
    start() {
      scimArea?.start();
      watches.start();
    },
    async close() {
      await Promise.all([scimArea?.close(), watches.stop()]);
    },
  };
}

/** First what makes requests, then what stores them. */
async function closeParts(
  foundation: Foundation,
  parts: Parts,
  connectionArea: ReturnType<typeof createConnectionArea>,
): Promise<void> {
  const { internArea, evaluationArea, classifierInput } = parts;
  await Promise.all([internArea?.close(), evaluationArea.close(), connectionArea?.close(), classifierInput.close()]);
  const { notifications, jobs, videoArea, observability, fileArea, responseArea } = parts;
  const { records } = foundation.storage;
  for (const part of [notifications, jobs, videoArea, records, observability, fileArea, responseArea, foundation])
    await part.close();
}

/** Workers call this process from their start on. */
async function startWorkers(server: HttpServer, workers: Workers): ReturnType<Workers['start']> {
  await server.listenAt(workers.httpPath);
  return workers.start();
}

function urlOf({ address, port }: { readonly address: string; readonly port: number }): string {
  return `http://${isIPv6(address) ? `[${address}]` : address}:${port}`;
}

/** The server of the only process, or of the first one, which gets from its workers what is no generation. */
function openFirstServer(
  options: GatewayOptions,
  foundation: Foundation<OwnStorage>,
  parts: Parts,
  {
    workers,
    consoleArea,
    connectionArea,
    scimArea,
    codexInstructions,
  }: {
    readonly workers: Workers | undefined;
    readonly consoleArea: ConsoleArea;
    readonly connectionArea: ConnectionArea | undefined;
    readonly scimArea: ScimArea | undefined;
    readonly codexInstructions: string | undefined;
  },
): HttpServer {
  const { shared, accounts, storage } = foundation;
  const { metrics, log, config } = shared;
  const { localState } = storage;
  const readyItself = createReadiness({ ...storage, ...parts.spending });
  const ready = async () => [...new Set((await Promise.all([readyItself(), workers?.ready() ?? []])).flat())];
  return openServer(options, foundation, parts, {
    ...(workers !== undefined && { connectionsMax: config.memory.connections * config.server.workers }),
    console: (own) => consoleArea.listener(own),
    mount: (server) => async (fastify) => {
      const { mountOperations } = await import('./http/operations.ts');
      const { registerManagementRoutes } = await import('./http/management/register-routes.ts');
      const { MANAGEMENT_ROUTES } = await import('./http/routes.ts');
      // A change counts in every worker before its author hears of it.
      if (localState !== undefined) fastify.addHook('onSend', () => localState.delivered());
      mountOperations(fastify, {
        metrics: workers?.metrics ?? metrics,
        ready,
        draining: () => server().draining || workers?.isClosing() === true,
        openApi: serializeOpenApi,
        serializeError: serializeErrorIn(parts.formats, shared.baseUrl),
        log: log.general,
      });
      const services = {
        ...servicesOf(foundation, parts, { codexInstructions, ready, workers }),
        scim: scimArea?.services,
      };
      await mountScimOf(scimArea, fastify);
      (await ownMcp(foundation, parts, services, connectionArea?.http))(fastify);
      registerManagementRoutes(fastify, MANAGEMENT_ROUTES, {
        authenticate: limitManagement(consoleArea.callers.orKeys(accounts.authenticate), createManagersLimiter(shared)),
        callers: consoleArea.callers,
        services,
        log: log.general,
        serializeError: serializeErrorIn(parts.formats, shared.baseUrl),
        bodies: shared.bodies,
        bodyLimits: options.bodyLimits,
      });
    },
  });
}

function servicesOf(
  foundation: Foundation<OwnStorage>,
  parts: Parts,
  {
    codexInstructions,
    ready,
    workers,
  }: {
    readonly codexInstructions: string | undefined;
    readonly ready: () => Promise<readonly string[]>;
    readonly workers: Workers | undefined;
  },
): ManagementServices {
  const { accounts, storage } = foundation;
  const { formats, live, administration, areas, observability, spending, generateDeps } = parts;
  return {
    keys: accounts.keys,
    ...administration,
    people: administration.peopleArea?.people,
    generations: createGenerationStore(storage),
    waitForRecords: () => waitForRecords(storage.records),
    ...areas.services,
    ...createVaultServices(foundation, observability.services.destinations, parts.notifications.channels),
    files: parts.fileArea.files,
    storedResponses: parts.responseArea.storedResponses,
    videos: parts.videoArea.videos,
    interns: parts.internArea?.interns,
    containers: foundation.shared.shell?.kept,
    evaluations: parts.evaluationArea.evaluations,
    classifiers: parts.classifiers,
    countCall: countCallsBy(generateDeps.rateLimiter),
    ...observability.services,
    credits: spending.credits,
    notifications: parts.notifications,
    reconciliations: spending.reconciliations,
    keyLimits: createKeyLimits({
      ...spending,
      policyOf: (subject) => administration.policies.policyOf(subject),
      clock: generateDeps.clock,
    }),
    checkRequest: checkerOf(formats, live.catalog),
    readPlugins,
    tryFilters: createFilterTrials(generateDeps),
    backtest: (rows, preferences) => backtest({ ...generateDeps, ...accounts }, rows, preferences),
    operations: createOperations(foundation, parts, { ready, workers }),
    listing: createListing({
      ...generateDeps,
      ...accounts,
      codexInstructions,
      sourcesOf: createModelSources({ ...foundation.shared, config: () => parts.inEffect.current() }),
    }),
  };
}

/** Loaded on demand: it needs every schema of responses, which nothing else does. */
async function serializeOpenApi(): Promise<object> {
  const { openApiDocument } = await import('./app/openapi-document.ts');
  return openApiDocument();
}

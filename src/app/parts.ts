import type { Config } from '../config/config.ts';
import { watchConfig, type ConfigWatch } from '../config/needs-restart.ts';
import { createHttpServer, type HttpServer, type ServerOptions } from '../http/server.ts';
import { createUnreadResponses } from '../http/unread-responses.ts';
import type { GenerateDeps } from '../pipeline/generate.ts';
import type { Provider } from '../providers/contract.ts';
import { createProviders } from '../providers/index.ts';
import { LOCAL_ENGINES } from '../providers/local-engines.ts';
import type { Log } from '../telemetry/logs.ts';
import { createAccountAreas, type AccountAreas } from './account-areas.ts';
import { createAccounting } from './accounting.ts';
import { createAdministration, type Administration } from './administration.ts';
import type { CatalogRefresher } from './catalog/catalog-refresher.ts';
import type { LiveCatalog } from './catalog/live-catalog.ts';
import { openCatalog } from './catalog/open-catalog.ts';
import { openCatalogRefresher } from './catalog/open-catalog-refresher.ts';
import { createClientFormats, serializeErrorIn, type ClientFormats } from './client-formats.ts';
import { openNotifications } from './notifications/open-notifications.ts';
import type { Notifications } from '../notifications/notifications.ts';
import { openJobs } from './jobs/open-jobs.ts';
import type { Classifiers } from '../classifiers/classifiers.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { createFileArea, type FileArea } from './file-area.ts';
import type { Foundation, GatewayOptions } from './foundation.ts';
import { createGenerateDeps } from './generate-deps.ts';
import { generationRoutes, type GenerationLimits } from './model-routes/generation-routes.ts';
import { createLocalServers, type LocalServers } from './catalog/local-servers.ts';
import { createObservability, type Observability } from './observability.ts';
import { createResponseArea, type ResponseArea } from './response-area.ts';
import { createRunning } from './operations/running.ts';
import { createRunningHere } from '../pipeline/running-requests.ts';
import type { RunningGenerations } from '../http/management/operations/services.ts';
import type { SharedDeps } from './shared-deps.ts';
import { createSpending, type Spending } from './spending.ts';
import { openEvaluationArea, type EvaluationArea } from './jobs/evaluation-area.ts';
import { openClassifierInput, openClassifiers, type ClassifierInput } from './jobs/classifier-area.ts';
import { openInternArea, type InternArea } from './jobs/intern-area.ts';
import { createReadPreset } from './jobs/intern-requests.ts';
import { keptShell } from './tools/kept-shell.ts';
import { waitForRecords } from './journal.ts';
import { createVideoArea, type VideoArea } from './jobs/video-area.ts';

/** What serves requests, in every process that does. */
export interface Parts {
  readonly formats: ClientFormats;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly live: LiveCatalog;
  /** Absent: the catalog is not refreshed. */
  readonly refresher: CatalogRefresher | undefined;
  readonly spending: Spending;
  readonly administration: Administration;
  readonly areas: AccountAreas;
  readonly fileArea: FileArea;
  readonly responseArea: ResponseArea;
  readonly videoArea: VideoArea;
  /** Absent: there are no saved agents, or another process has them. */
  readonly internArea: InternArea | undefined;
  readonly evaluationArea: EvaluationArea;
  readonly classifierInput: ClassifierInput;
  readonly classifiers: Classifiers;
  readonly observability: Observability;
  readonly jobs: Jobs;
  readonly notifications: Notifications;
  readonly generateDeps: GenerateDeps;
  readonly running: RunningGenerations;
  readonly localServers: LocalServers;
  readonly inEffect: ConfigWatch;
  /** Takes over what may change while the gateway runs: models, and the beta flags of providers. */
  reload(next: Config): void;
}

/**
 * @param keepsStore whether this process sums up, fetches and clears away for all; one process of a gateway does
 * @param serves whether it serves generations
 */
export async function createParts(
  options: GatewayOptions,
  foundation: Foundation,
  { keepsStore, serves }: { readonly keepsStore: boolean; readonly serves: boolean },
): Promise<Parts> {
  const { shared, storage, accounts, sandboxBaseUrl } = foundation;
  const { config, log, state } = shared;
  const { database, journal, records } = storage;
  const catalog = await openCatalog({ ...shared, database, sandboxBaseUrl });
  const { providers, live } = catalog;
  const refresher = await openCatalogRefresher({ ...shared, fetches: keepsStore }, live, catalog.known);
  const spending = createSpending({ ...shared, database, records, onFailed: stateFailed(log) });
  const administration = createAdministration({
    database,
    keyStore: accounts.keyStore,
    catalog: live.catalog,
    organization: config.organization,
    clock: shared.clock,
    invalidations: state.invalidations,
    // The last place where the event can be kept.
    onLostAudit: (event, error) => log.general.error({ event, err: error }, 'audit event lost'),
  });
  const areas = createAccountAreas({
    ...shared,
    ...catalog,
    ...accounts,
    database,
    ...administration,
    invalidations: state.invalidations,
  });
  const fileArea = createFileArea({ ...shared, database });
  const known = { spending, administration, areas };
  const background = openBackground(options, foundation, { ...known, catalog: live.catalog, keepsStore });
  const { observability, notifications, classifierInput } = background;
  const { exports } = observability;
  const built = createAccounting(spending, journal, config.server.region, exports);
  const accounting = options.accounting?.(built) ?? built;
  const generateDeps = createGenerateDeps(shared, providers, live, accounting, {
    ...areas,
    ...administration,
    observability,
    notifications,
    intake: classifierInput.intake,
    files: fileArea.files,
  });
  const formats = createClientFormats(config.responses, await areas.box());
  const areaDeps = { ...shared, ...areas, database, keepsStore, exports };
  return {
    formats,
    providers,
    live,
    refresher,
    ...known,
    fileArea,
    responseArea: createResponseArea({ ...areaDeps, serves, formats }, generateDeps),
    videoArea: createVideoArea({ ...options, ...areaDeps, files: fileArea.files }, generateDeps),
    ...openJobAreas(
      { ...options, ...areaDeps, ...administration, ...accounts, ...background, live, formats, records, areas },
      generateDeps,
    ),
    ...background,
    generateDeps,
    running: runningOf(shared, generateDeps),
    localServers: localServersOf(shared, providers, live),
    ...reloading(shared, live),
  };
}

/** Areas whose work is jobs that call models. */
function openJobAreas(
  deps: Omit<Parameters<typeof openInternArea>[0], 'readPreset' | 'containers' | 'removeSecrets'> &
    Pick<SharedDeps, 'shell' | 'vault'> &
    Omit<Parameters<typeof openEvaluationArea>[0], 'presets' | 'waitForRecords' | 'containers' | 'content'> &
    Omit<Parameters<typeof openClassifiers>[0], 'catalog' | 'input' | 'content' | 'waitForRecords'> & {
      readonly observability: Pick<Observability, 'content'>;
      readonly live: LiveCatalog;
      readonly classifierInput: ClassifierInput;
      readonly areas: AccountAreas;
      readonly records: Foundation['storage']['records'];
    },
  generateDeps: GenerateDeps,
): Pick<Parts, 'internArea' | 'evaluationArea' | 'classifiers'> {
  const { areas, records, live, observability, classifierInput: input } = deps;
  const containers = deps.shell && keptShell(deps.shell);
  const reading = { content: observability.content, waitForRecords: () => waitForRecords(records) };
  return {
    internArea: openInternArea(
      {
        ...deps,
        readPreset: createReadPreset(areas.services.presets, deps.formats.chat),
        removeSecrets: (id) => deps.vault.openVault(() => Promise.resolve([])).removeAll({ kind: 'intern', id }),
        containers,
      },
      generateDeps,
    ),
    evaluationArea: openEvaluationArea(
      { ...deps, ...reading, containers, presets: areas.services.presets },
      generateDeps,
    ),
    classifiers: openClassifiers({ ...deps, ...reading, catalog: live.catalog, input }, generateDeps),
  };
}

/** What goes on beside requests and after them. */
function openBackground(
  options: GatewayOptions,
  { shared, storage: { database, journal, records }, accounts }: Foundation,
  {
    catalog,
    spending,
    administration,
    areas,
    keepsStore,
  }: Pick<Parts, 'spending' | 'administration' | 'areas'> & {
    readonly catalog: LiveCatalog['catalog'];
    readonly keepsStore: boolean;
  },
): Pick<Parts, 'observability' | 'jobs' | 'notifications' | 'classifierInput'> {
  const jobs = openJobs({ ...options, ...shared, database, keepsStore });
  const notifications = openNotifications({
    ...options,
    ...shared,
    ...areas,
    ...accounts,
    database,
    records,
    administration,
    spending,
    jobs,
    keepsStore,
  });
  const observability = createObservability({
    ...shared,
    ...areas,
    database,
    journal,
    catalog,
    changes: administration.changes,
    keys: accounts.keyStore,
    keepsStore,
    onDestinationOff: ({ id, name, workspaceId, type }, error) =>
      void notifications.raise({
        type: 'destination.disabled',
        severity: 'warning',
        subject: `destination:${id}`,
        workspaceId,
        title: `The destination "${name ?? id}" was switched off`,
        text: `Nothing reached it for a long time: ${error} Change it and enable it again.`,
        facts: { destination_id: id, destination: name, kind: type, error },
        link: `/ui/destinations/${id}`,
      }),
  });
  const classifierInput = openClassifierInput({
    ...shared,
    ...areas,
    ...administration,
    database,
    invalidations: shared.state.invalidations,
    jobs,
    catalog,
  });
  return { observability, jobs, notifications, classifierInput };
}

function reloading({ config, betaTable, log }: SharedDeps, live: LiveCatalog): Pick<Parts, 'inEffect' | 'reload'> {
  const inEffect = watchConfig(config);
  return {
    inEffect,
    reload(next) {
      betaTable.replace(next.betaFlags);
      live.configure(next);
      log.general.info({ needsRestart: inEffect.take(next) }, 'the configuration was read again');
    },
  };
}

/** Every process replies for its own. */
function runningOf({ config, state }: SharedDeps, { running, monotonicMs }: GenerateDeps): RunningGenerations {
  const { workers } = config.server;
  return createRunning({
    here: createRunningHere(running, monotonicMs),
    bus: state.invalidations,
    others: config.redisUrl !== undefined ? undefined : workers === 1 ? 0 : workers,
  });
}

function stateFailed(log: Log): (error: unknown) => void {
  return (error) => log.general.error({ err: error }, 'a charge could not be reported to the shared state');
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

/** @param listener `mount` gives what serves everything but generations, which may ask the server whether it drains */
export function openServer(
  { bodyLimits }: GatewayOptions,
  { shared, accounts }: Foundation,
  { formats, generateDeps, areas, responseArea, videoArea }: Parts,
  listener: {
    readonly reusePort?: boolean;
    readonly connectionsMax?: number;
    /** Absent: this process serves no dashboard. */
    readonly console?: (own: Pick<GenerationLimits, 'unread' | 'draining'>) => ServerOptions['console'];
    readonly mount: (server: () => HttpServer) => ServerOptions['mount'];
  },
): HttpServer {
  const { config, log } = shared;
  const unread = createUnreadResponses({ bytesMax: config.memory.unreadBytes });
  const { reusePort = false, connectionsMax = config.memory.connections, mount, console } = listener;
  const server: HttpServer = createHttpServer({
    host: config.server.host,
    port: config.server.port,
    reusePort,
    onBug: (error) => log.general.error({ err: error }, 'bug'),
    serializeError: serializeErrorIn(formats, shared.baseUrl),
    connectionsMax,
    unread,
    generation: generationRoutes(shared, formats, generateDeps, accounts.authenticate, areas.services.presets, {
      draining: () => server.refusing,
      bodyLimits,
      unread,
      kept: responseArea.storedResponses,
      runVideo: videoArea.videos.run,
    }),
    console: console?.({ unread, draining: () => server.refusing }),
    mount: mount(() => server),
  });
  return server;
}

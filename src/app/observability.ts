import { setTimeout as sleep } from 'node:timers/promises';
import { createAnalyticsRateLimit } from '../accounts/limits/analytics-rate-limit.ts';
import { longestRequestMs, type Config } from '../config/config.ts';
import type { ManagementServices } from '../http/management/route.ts';
import type { Clock } from '../lib/clock.ts';
import { createReadThroughCache, type ReadThroughCache } from '../lib/cache/read-through-cache.ts';
import { createHousekeeping, type Housekeeping } from '../lib/async/housekeeping.ts';
import type { HttpClient } from '../lib/net/http-client.ts';
import type { Journal } from '../journal/journal.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Changes } from '../store/engine/changes.ts';
import type { Database } from '../store/engine/database.ts';
import { createTaskTrafficStore } from '../store/usage/task-traffic.ts';
import { watchTaskTraffic, type TaskTrafficWatch } from '../telemetry/task-traffic.ts';
import { createContentStore } from '../store/generations/generation-content.ts';
import { createFeedbackStore } from '../store/generations/generation-feedback.ts';
import type { SharedState } from '../state/contract.ts';
import type { KeyStore } from '../store/accounts/keys.ts';
import { createUsageReports } from '../store/usage/usage-reports.ts';
import { createUsageRollup } from '../store/usage/usage-rollup.ts';
import { createWorkspaceStore } from '../store/accounts/workspaces.ts';
import { createSessionCosts } from '../store/usage/session-costs.ts';
import { nameSessionCosts } from '../telemetry/datasets/session-costs.ts';
import { createAnalytics } from '../telemetry/analytics/analytics.ts';
import type { ResponseCapture } from '../telemetry/response-capture.ts';
import { createContentLog, type ContentLog, type LogSwitches } from '../telemetry/content-log.ts';
import type { Delivery } from '../telemetry/destinations/delivery/delivery.ts';
import { createFeedbackBox, type FeedbackBox } from '../telemetry/feedback.ts';
import { createLiveHub, type LiveHub } from '../telemetry/live/live-hub.ts';
import { rowOf } from '../telemetry/generation-row.ts';
import { serializeListed } from '../http/management/generations/serialize-listed.ts';
import type { Log } from '../telemetry/logs.ts';
import type { DestinationRow } from '../resources/destinations.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { createRouteLog, type RouteLog } from '../telemetry/route-log/route-log.ts';
import { createMatchCounter } from '../telemetry/route-log/guardrail-matches.ts';
import { createRouteStore } from '../store/generations/generation-routes.ts';
import type { Catalog } from '../catalog/model.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import type { VaultArea } from './vault/vault-area.ts';
import { openDestinations } from './destinations/open-destinations.ts';
import { openMetricsPush } from './destinations/open-metrics-push.ts';

/** What is done with records of generations after their requests have ended. */
export interface Observability {
  readonly services: Pick<
    ManagementServices,
    'analytics' | 'content' | 'routes' | 'countMatches' | 'feedback' | 'destinations' | 'insights'
  >;
  readonly content: Pick<ContentLog, 'read'>;
  /** What requests of the last days were about. */
  readonly traffic: TaskTrafficWatch;
  readonly hub: LiveHub;
  /** What of records destinations need. */
  readonly exports: Pick<Delivery, 'isOn' | 'factsOf'>;
  /** Begins to capture a response; `undefined` when its content is not to be stored. */
  openCapture(log: Pick<GenerationRecord, 'id' | 'principal' | 'request'>): ResponseCapture | undefined;
  /** A generation has ended and was settled. Never throws; what follows runs in the background. */
  ended(record: GenerationRecord): void;
  start(): void;
  /** Lets what is under way finish. To be called before the database closes. */
  close(): Promise<void>;
}

export interface ObservabilityDeps {
  readonly config: Pick<Config, 'observability' | 'server' | 'timeouts' | 'responses'>;
  readonly database: Database;
  readonly journal: Pick<Journal, 'append'>;
  readonly keys: Pick<KeyStore, 'find'>;
  /** Notified when workspaces were changed. */
  readonly changes: Pick<Changes, 'subscribe'>;
  readonly box: () => Promise<SecretBox>;
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly state: Pick<SharedState, 'rateLimitState' | 'invalidations'>;
  readonly catalog: Pick<Catalog, 'find'>;
  readonly metrics: Pick<Metrics, 'contentLost' | 'exported' | 'routeLost'>;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
  /** Whether this process sums up records and deletes old content. */
  readonly keepsStore: boolean;
  readonly vault: Pick<VaultArea, 'values'>;
  /** A destination was turned off after long failure. */
  readonly onDestinationOff: (row: DestinationRow, error: string) => void;
}

/** How long after the longest request a record may still come: it waits minutes for a database that is away. */
const RECORD_GRACE_MS = 600_000;
const SUM_UP_EVERY_MS = 60_000;
const PURGE_EVERY_MS = 600_000;
const PAUSE_MS = 20;
/** Records whose workspace is being looked up, or whose content is being encrypted; beyond it they are left out and counted. */
const HANDING_MAX = 1_000;
/** How long the records of the last requests are waited for at the end. */
const LAST_MS_MAX = 1_000;
/** A destination that was made or changed in another process is known after this, where the change was not announced. */
const DESTINATIONS_EVERY_MS = 10_000;
/** Processes without notifications see a change of the logging switch after this time. */
const SWITCHES_FRESH_MS = 2_000;
const SWITCHES_STALE_MS_MAX = 600_000;
const SWITCHES_READ_MS_MAX = 5_000;
const WORKSPACES_MAX = 10_000;

/** A workspace that is not there keeps nothing and sends nothing. */
const ALL_OFF: LogSwitches = {
  isIoLoggingEnabled: false,
  ioLoggingSamplingPpm: 0,
  ioLoggingApiKeyIds: null,
  ioLoggingApiKeyHashes: null,
  isBroadcastEnabled: false,
};

function feedbackOf({ database, journal, clock }: ObservabilityDeps): FeedbackBox {
  const store = createFeedbackStore({ database, append: (payload) => journal.append(payload) });
  return createFeedbackBox({ store, clock });
}

export function createObservability(deps: ObservabilityDeps): Observability {
  const { config, database, clock, log } = deps;
  const switches = openSwitches(deps);
  const content = createContentLog({
    store: createContentStore({ database }),
    switches,
    box: deps.box,
    clock,
    retentionMs: config.observability.contentRetentionMs,
    onLost(generationId, error) {
      deps.metrics.contentLost();
      log.general.error({ generationId, err: error }, 'content of a generation lost');
    },
  });
  const metricsPush = openMetricsPush(deps);
  const { destinations, delivery, poster, patterns, cleaning } = openDestinations(deps, content, switches);
  const traffic = watchTaskTraffic(createTaskTrafficStore(database), longestRequestMs(config));
  const routes = openRouteLog(deps);
  const jobs = [...jobsOf(deps, { content, routes, delivery, traffic }), ...cleaning];
  const underWay = new Set<Promise<void>>();

  async function handOn(record: GenerationRecord): Promise<void> {
    try {
      const exchange = await content.take(record);
      if (exchange !== undefined) await content.keep(record, exchange);
    } catch (error) {
      log.general.error({ err: error, id: record.id }, 'the content of a record could not be stored');
    }
  }

  return {
    services: {
      analytics: createAnalytics({ reports: createUsageReports({ database }), clock }),
      content,
      ...routeServicesOf(deps, routes),
      destinations,
      insights: insightsOf(deps, traffic),
    },
    content,
    traffic,
    hub: openLiveHub(deps),
    exports: delivery,
    openCapture: (of) => content.open(of),
    ended(record) {
      routes.offer(record);
      metricsPush?.observe(record);
      if (record.capture === undefined) return;
      if (underWay.size >= HANDING_MAX) return deps.metrics.contentLost();
      const handing = handOn(record).finally(() => underWay.delete(handing));
      underWay.add(handing);
    },
    start() {
      delivery
        .refresh()
        .catch((error: unknown) => log.general.warn({ err: error }, 'destinations could not be read'))
        .finally(() => delivery.start());
      for (const job of jobs) job.start();
      metricsPush?.start();
    },
    async close() {
      await Promise.all(jobs.map((job) => job.stop()));
      // Of the last requests some may not have come so far as to wait in a queue.
      await Promise.race([Promise.all(underWay), sleep(LAST_MS_MAX, undefined, { ref: false })]);
      await Promise.all([
        metricsPush?.close(),
        content.close(),
        routes.close(),
        delivery.close().then(() => patterns.close()),
      ]);
      await poster.close();
    },
  };
}

function openSwitches({ database, clock, changes }: ObservabilityDeps): ReadThroughCache<LogSwitches> {
  const workspaces = createWorkspaceStore({ database });
  const switches = createReadThroughCache<LogSwitches>({
    read: async (workspaceId) => (await workspaces.find(workspaceId)) ?? ALL_OFF,
    nowMs: clock.monotonicMs,
    freshMs: SWITCHES_FRESH_MS,
    staleMsMax: SWITCHES_STALE_MS_MAX,
    readMsMax: SWITCHES_READ_MS_MAX,
    entriesMax: WORKSPACES_MAX,
  });
  // Operators rely on turning logging off: the next request is not stored any more.
  changes.subscribe(() => switches.markStale());
  return switches;
}

function insightsOf(
  { state, clock, database }: ObservabilityDeps,
  traffic: TaskTrafficWatch,
): Observability['services']['insights'] {
  return {
    take: createAnalyticsRateLimit({ rateLimitState: state.rateLimitState, clock }),
    taskGroups: () => traffic.groups(),
    sessionCosts: nameSessionCosts(createSessionCosts(database), createUsageReports({ database })),
    nowMs: clock.nowMs,
  };
}

function routeServicesOf(
  deps: ObservabilityDeps,
  routes: RouteLog,
): Pick<ManagementServices, 'routes' | 'countMatches' | 'feedback'> {
  const { config, database, clock } = deps;
  const { retentionMs } = config.observability.routeLog;
  const countMatches = createMatchCounter({ store: createRouteStore(database), clock, retentionMs });
  return { routes, countMatches, feedback: feedbackOf(deps) };
}

function openRouteLog({ config, database, catalog, clock, random, metrics, log }: ObservabilityDeps): RouteLog {
  return createRouteLog({
    store: createRouteStore(database),
    catalog,
    clock,
    random,
    ...config.observability.routeLog,
    onLost(error) {
      metrics.routeLost();
      log.general.error({ err: error }, 'how a request was routed could not be stored');
    },
  });
}

function jobsOf(
  { config, database, clock, log, keepsStore }: ObservabilityDeps,
  {
    content,
    routes,
    delivery,
    traffic,
  }: {
    readonly content: ContentLog;
    readonly routes: RouteLog;
    readonly delivery: Delivery;
    readonly traffic: TaskTrafficWatch;
  },
): readonly Housekeeping[] {
  const rollup = createUsageRollup({ database, lagMs: longestRequestMs(config) + RECORD_GRACE_MS });
  const onFailed =
    (what: string) =>
    (error: unknown): void =>
      log.general.warn({ err: error }, `${what}: tried again later`);
  const summing = createHousekeeping({
    work: () => rollup.step(clock.nowMs()),
    everyMs: SUM_UP_EVERY_MS,
    pauseMs: PAUSE_MS,
    onFailed: onFailed('generations could not be summed up'),
  });
  const purging = createHousekeeping({
    work: () => content.purge(),
    everyMs: PURGE_EVERY_MS,
    pauseMs: PAUSE_MS,
    onFailed: onFailed('old content could not be deleted'),
  });
  const purgingRoutes = createHousekeeping({
    work: () => routes.purge(),
    everyMs: PURGE_EVERY_MS,
    pauseMs: PAUSE_MS,
    onFailed: onFailed('old routes could not be deleted'),
  });
  return [
    ...(keepsStore ? [summing, purging, purgingRoutes] : []),
    createHousekeeping({
      work: () => traffic.step(clock.nowMs()),
      everyMs: SUM_UP_EVERY_MS,
      pauseMs: PAUSE_MS,
      onFailed: onFailed('what requests were about could not be read'),
    }),
    createHousekeeping({
      async work() {
        await delivery.refresh();
        return false;
      },
      everyMs: DESTINATIONS_EVERY_MS,
      pauseMs: PAUSE_MS,
      onFailed: onFailed('destinations could not be read'),
    }),
  ];
}

/** What reaches live views of the dashboard, in rows as `GET /generations` has them. */
function openLiveHub({ clock, state, config }: Pick<ObservabilityDeps, 'clock' | 'state' | 'config'>): LiveHub {
  return createLiveHub({
    clock,
    bus: state.invalidations,
    toRow: (record) => serializeListed(rowOf(record, config.server.region), record.principal.name ?? null),
  });
}

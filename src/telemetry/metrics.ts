import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import { apiTypeOf } from '../canonical/operation.ts';
import { usdFromNano } from '../lib/money.ts';
import { createEndpointSeries } from './metrics/endpoint-series.ts';
import { statusOf } from './generation-row.ts';
import type { GenerationRecord } from './record.ts';
import { createJournalSeries, watchJournal, type WatchedJournal } from './metrics/journal-series.ts';
import type { ProcessFigures } from './process-figures.ts';
import { countSteps, kept, type Steps } from './metrics/steps.ts';

/** The metrics of the service for Prometheus. */
export interface Metrics {
  observe(record: GenerationRecord): void;
  /** A request that was refused before it was routed. */
  refused(format: string, status: number): void;
  streamOpened(): void;
  streamClosed(): void;
  /** A caller's generation, from its admission to its settlement. */
  requestBegan(): void;
  requestEnded(): void;
  /** From where the names of endpoints come whose circuit is open. Called once. */
  watchCircuits(open: () => readonly string[]): void;
  recordLost(): void;
  /** A response did not wait for the database any longer, as `journal.durability` wants. */
  recordLate(): void;
  /** So many records came from the journal to the database. */
  recordsApplied(count: number): void;
  /** A part of the journal cannot be read. */
  journalDamaged(): void;
  /** From where the state of the journal comes. Called once. */
  watchJournal(read: () => WatchedJournal): void;
  contentLost(): void;
  /** How a request was routed could not be stored. */
  routeLost(): void;
  /** A browser reported what the policy of the dashboard's pages made it refuse. */
  policyReported(): void;
  /** A job that makes a clip is over. */
  videoJobEnded(status: string): void;
  /** The end of a job was reported to a caller's address, or was not. */
  callbackSent(outcome: string): void;
  /** A run of a job is over: `done`, `failed`, `cancelled`, `waiting`, or `again`. */
  jobEnded(kind: string, outcome: string): void;
  /** A notification was delivered, failed and is tried again, or failed for good, by the kind of its channel. */
  notified(kind: string, outcome: string): void;
  /** Generations on their way to destinations of a type. */
  exported(type: string, outcome: string, count: number): void;
  /** Whether shared state is reachable. Never called without shared state. */
  sharedState(isUp: boolean): void;
  text(): Promise<string>;
  readonly contentType: string;
  /** The figures that operators look at first. They leave those of the next scrape as they are. */
  figures(): Promise<Omit<ProcessFigures, 'journal'>>;
  /** What there is, whether or not it has a value. */
  list(): readonly object[];
}

const MS_PER_S = 1_000;
const NS_PER_S = 1e9;
const NS_PER_MS = 1e6;

/** Of endpoints whose circuit is open, so many are named. */
const CIRCUITS_MAX = 1_000;

/** @param version of the gateway */
export function createMetrics(version = 'unknown'): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const series = createSeries(registers);
  const delay = observeProcess(registers);
  collectDefaultMetrics({ register: registry });
  reportBuild(registers, version);
  let inFlight = 0;
  watchRequests(registers, () => inFlight);

  return {
    observe(record) {
      const { report, request, firstTokenMs } = record;
      const requested = series.ofEndpoint(record.endpoint);
      requested.requests(apiTypeOf(request), statusOf(record)).add(1);
      requested.duration.add(((report.endedMs ?? report.arrivedMs) - report.arrivedMs) / MS_PER_S);
      if (firstTokenMs !== undefined) requested.firstToken.add((firstTokenMs - report.arrivedMs) / MS_PER_S);
      for (const { provider, status } of record.attempts) series.attempts(provider, status).add(1);
      for (const outcome of record.rescues) series.rescues.inc({ outcome });
      for (const { endpoint, isByok, usage, cost } of record.served) {
        const part = series.ofEndpoint(endpoint);
        part.countTokens(usage);
        for (const { count } of usage.implausible ?? []) series.implausible.inc({ provider: endpoint.provider, count });
        if (!isByok && cost !== undefined) part.spend.add(usdFromNano(cost.totalNanoUsd));
      }
    },
    refused: (format, status) => series.ofEndpoint(undefined).requests(format, status).add(1),
    streamOpened: () => series.openStreams.inc(),
    streamClosed: () => series.openStreams.dec(),
    requestBegan: () => void inFlight++,
    requestEnded: () => void inFlight--,
    watchCircuits: (open) => watchCircuits(registers, open),
    recordLost: () => series.lost.inc(),
    recordLate: () => series.late.inc(),
    recordsApplied: (count) => series.applied.inc(count),
    journalDamaged: () => series.damaged.inc(),
    watchJournal: (read) => watchJournal(registers, read),
    contentLost: () => series.contentLost.inc(),
    routeLost: () => series.routesLost.inc(),
    policyReported: () => series.policyReports.inc(),
    ...countBackgroundWork(series),
    sharedState(isUp) {
      series.sharedState.set({ by: 'redis' }, isUp ? 1 : 0);
      series.sharedStateLost.inc({ by: 'redis' }, isUp ? 0 : 1);
    },
    text: () => registry.metrics(),
    async figures() {
      const { rss, heapUsed } = process.memoryUsage();
      return {
        pid: process.pid,
        uptimeMs: Math.round(process.uptime() * MS_PER_S),
        memoryBytes: rss,
        heapBytes: heapUsed,
        loopDelayMs: {
          p50: delay.percentile(50) / NS_PER_MS,
          p99: delay.percentile(99) / NS_PER_MS,
          max: delay.max / NS_PER_MS,
        },
        openStreams: await valueOf(series.openStreams),
        requestsInFlight: inFlight,
        recordsLost: await valueOf(series.lost),
        contentLost: await valueOf(series.contentLost),
        policyReports: await valueOf(series.policyReports),
      };
    },
    contentType: registry.contentType,
    list: () => registry.getMetricsAsArray(),
  };
}

/** What happens beside requests. */
function countBackgroundWork(
  series: ReturnType<typeof createSeries>,
): Pick<Metrics, 'videoJobEnded' | 'callbackSent' | 'notified' | 'jobEnded' | 'exported'> {
  return {
    videoJobEnded: (status) => series.videoJobs.inc({ status }),
    callbackSent: (outcome) => series.callbacks.inc({ outcome }),
    notified: (kind, outcome) => series.notified.inc({ kind, outcome }),
    jobEnded: (kind, outcome) => series.jobs.inc({ kind, outcome }),
    exported: (type, outcome, count) => series.exported.inc({ type, outcome }, count),
  };
}

function createSeries(registers: Registry[]) {
  return {
    ofEndpoint: createEndpointSeries(registers),
    attempts: countAttempts(registers),
    rescues: countRescues(registers),
    implausible: new Counter({
      name: 'gateway_implausible_usage_total',
      help: 'Token counts that a provider reported beyond what the request allowed; an estimate was charged instead.',
      labelNames: ['provider', 'count'] as const,
      registers,
    }),
    ...createJournalSeries(registers),
    sharedState: new Gauge({
      name: 'gateway_shared_state_up',
      help: '1 while state is shared with other processes, otherwise 0; no series unless it is configured.',
      labelNames: ['by'] as const,
      registers,
    }),
    sharedStateLost: new Counter({
      name: 'gateway_shared_state_lost_total',
      help: 'How often this process fell back to state of its own.',
      labelNames: ['by'] as const,
      registers,
    }),
    ...createHandedOnSeries(registers),
    openStreams: new Gauge({ name: 'gateway_open_streams', help: 'Streams being written now.', registers }),
  };
}

function reportBuild(registers: Registry[], version: string): void {
  const build = new Gauge({
    name: 'gateway_build_info',
    help: 'Always 1; the labels hold the versions.',
    labelNames: ['version', 'node_version'] as const,
    registers,
  });
  build.set({ version, node_version: process.versions.node }, 1);
}

function watchRequests(registers: Registry[], inFlight: () => number): void {
  const gauge: Gauge = new Gauge({
    name: 'gateway_requests_in_flight',
    help: 'Generation requests in flight now, including streams.',
    registers,
    collect: () => gauge.set(inFlight()),
  });
}

function watchCircuits(registers: Registry[], open: () => readonly string[]): void {
  const gauge: Gauge<'endpoint'> = new Gauge({
    name: 'gateway_circuit_open',
    help: '1 for each endpoint whose circuit is open now.',
    labelNames: ['endpoint'] as const,
    registers,
    collect() {
      gauge.reset();
      for (const endpoint of open().slice(0, CIRCUITS_MAX)) gauge.set({ endpoint }, 1);
    },
  });
}

function countAttempts(registers: Registry[]): (provider: string, status: number | null) => Steps {
  const attempts = countSteps({
    name: 'gateway_upstream_attempts_total',
    help: 'Attempts at upstreams by status; "none" without a response.',
    labelNames: ['provider', 'status'] as const,
    registers,
  });
  const outcomes = new Map<string, Steps>();
  return (provider, status) =>
    kept(outcomes, `${status} ${provider}`, () => attempts({ provider, status: status ?? 'none' }));
}

function countRescues(registers: Registry[]): Counter<'outcome'> {
  return new Counter({
    name: 'gateway_rescues_total',
    help: 'Mid-stream failovers by outcome: continued from a prefill, joined to a restart, or failed.',
    labelNames: ['outcome'] as const,
    registers,
  });
}

/** What happens to records after their requests. */
function createHandedOnSeries(registers: Registry[]) {
  return {
    contentLost: new Counter({
      name: 'gateway_content_lost_total',
      help: 'Generations whose content could not be stored.',
      registers,
    }),
    routesLost: new Counter({
      name: 'gateway_routes_lost_total',
      help: 'Generations whose route was to be kept and could not be stored.',
      registers,
    }),
    policyReports: new Counter({
      name: 'gateway_console_policy_reports_total',
      help: 'Reports of browsers about what the content security policy of the dashboard forbade.',
      registers,
    }),
    videoJobs: new Counter({
      name: 'gateway_video_jobs_ended_total',
      help: 'Jobs that make clips and are over, by their final status.',
      labelNames: ['status'] as const,
      registers,
    }),
    callbacks: new Counter({
      name: 'gateway_callbacks_total',
      help: 'Calls that report the end of a job: delivered, failed and tried again, or given up.',
      labelNames: ['outcome'] as const,
      registers,
    }),
    notified: new Counter({
      name: 'gateway_notifications_total',
      help: 'Attempts to deliver notifications, by the kind of their channel: sent, to be tried again, or failed for good.',
      labelNames: ['kind', 'outcome'] as const,
      registers,
    }),
    jobs: new Counter({
      name: 'gateway_jobs_total',
      help: 'Runs of jobs that are over, by their kind: done, failed, cancelled, waiting for something outside, or to be tried again.',
      labelNames: ['kind', 'outcome'] as const,
      registers,
    }),
    exported: new Counter({
      name: 'gateway_destination_records_total',
      help: 'Generations for destinations: sent, dropped because too many waited, or failed for good.',
      labelNames: ['type', 'outcome'] as const,
      registers,
    }),
  };
}

function observeProcess(registers: Registry[]): ReturnType<typeof monitorEventLoopDelay> {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const lag = new Gauge({
    name: 'gateway_event_loop_lag_seconds',
    help: 'Event-loop delay since the last scrape.',
    labelNames: ['percentile'] as const,
    registers,
    collect() {
      for (const percentile of [50, 99, 100] as const) lag.set({ percentile }, delay.percentile(percentile) / NS_PER_S);
      delay.reset();
    },
  });
  const memory: Gauge = new Gauge({
    name: 'gateway_resident_memory_bytes',
    help: 'Resident memory of the process.',
    registers,
    collect: () => {
      memory.set(process.memoryUsage.rss());
    },
  });
  return delay;
}

/** Of a series without labels. */
async function valueOf(series: Pick<Counter, 'get'> | Pick<Gauge, 'get'>): Promise<number> {
  const { values } = await series.get();
  return values[0]?.value ?? 0;
}

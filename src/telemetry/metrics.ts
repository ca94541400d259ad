import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, Registry } from 'prom-client';
import { usdFromNano } from '../lib/money.ts';
import { createEndpointSeries } from './endpoint-series.ts';
import { statusOf } from './generation-row.ts';
import type { GenerationRecord } from './record.ts';
import { countSteps, kept, type Steps } from './steps.ts';

/** What the service tells Prometheus. */
export interface Metrics {
  observe(record: GenerationRecord): void;
  /** A request that was refused before it was routed. */
  refused(format: string, status: number): void;
  streamOpened(): void;
  streamClosed(): void;
  recordLost(): void;
  /** From where the number of records comes that wait for the database. Called once. */
  watchRecords(waiting: () => number): void;
  contentLost(): void;
  /** Generations on their way to destinations of a type. */
  exported(type: string, outcome: string, count: number): void;
  /** Whether other processes are reached. Never told where there are none. */
  sharedState(isUp: boolean): void;
  text(): Promise<string>;
  readonly contentType: string;
}

const MS_PER_S = 1_000;
const NS_PER_S = 1e9;

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const series = createSeries(registers);
  observeProcess(registers);

  return {
    observe(record) {
      const { report, request, firstTokenMs } = record;
      const asked = series.ofEndpoint(record.endpoint);
      asked.requests(request.format, statusOf(record)).add(1);
      asked.duration.add(((report.endedMs ?? report.arrivedMs) - report.arrivedMs) / MS_PER_S);
      if (firstTokenMs !== undefined) asked.firstToken.add((firstTokenMs - report.arrivedMs) / MS_PER_S);
      for (const { provider, status } of record.attempts) series.attempts(provider, status).add(1);
      for (const outcome of record.rescues) series.rescues.inc({ outcome });
      for (const { endpoint, isByok, usage, cost } of record.served) {
        const part = series.ofEndpoint(endpoint);
        part.countTokens(usage);
        if (!isByok && cost !== undefined) part.spend.add(usdFromNano(cost.totalNanoUsd));
      }
    },
    refused: (format, status) => series.ofEndpoint(undefined).requests(format, status).add(1),
    streamOpened: () => series.openStreams.inc(),
    streamClosed: () => series.openStreams.dec(),
    recordLost: () => series.lost.inc(),
    watchRecords: (waiting) => watchRecords(registers, waiting),
    contentLost: () => series.contentLost.inc(),
    exported: (type, outcome, count) => series.exported.inc({ type, outcome }, count),
    sharedState(isUp) {
      series.sharedState.set({ by: 'redis' }, isUp ? 1 : 0);
      series.sharedStateLost.inc({ by: 'redis' }, isUp ? 0 : 1);
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

function createSeries(registers: Registry[]) {
  return {
    ofEndpoint: createEndpointSeries(registers),
    attempts: countAttempts(registers),
    rescues: countRescues(registers),
    lost: new Counter({
      name: 'gateway_records_lost_total',
      help: 'Generation records that could not be stored.',
      registers,
    }),
    sharedState: new Gauge({
      name: 'gateway_shared_state_up',
      help: 'Whether state is shared with other processes now; absent where there is nothing to share it through.',
      labelNames: ['by'] as const,
      registers,
    }),
    sharedStateLost: new Counter({
      name: 'gateway_shared_state_lost_total',
      help: 'How often this process had to go on with state of its own.',
      labelNames: ['by'] as const,
      registers,
    }),
    ...createHandedOnSeries(registers),
    openStreams: new Gauge({ name: 'gateway_open_streams', help: 'Streams being written now.', registers }),
  };
}

function watchRecords(registers: Registry[], waiting: () => number): void {
  const gauge: Gauge = new Gauge({
    name: 'gateway_records_waiting',
    help: 'Generation records that wait for the database.',
    registers,
    collect: () => gauge.set(waiting()),
  });
}

function countAttempts(registers: Registry[]): (provider: string, status: number | null) => Steps {
  const attempts = countSteps({
    name: 'gateway_upstream_attempts_total',
    help: 'Attempts at upstreams by what they answered; "none" where they did not.',
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
    help: 'Streams that broke off and were to be rescued: continued from a prefill, joined to a restart, or failed.',
    labelNames: ['outcome'] as const,
    registers,
  });
}

/** What happens to records after their requests. */
function createHandedOnSeries(registers: Registry[]) {
  return {
    contentLost: new Counter({
      name: 'gateway_content_lost_total',
      help: 'Generations whose content was to be kept and could not be.',
      registers,
    }),
    exported: new Counter({
      name: 'gateway_destination_records_total',
      help: 'Generations for destinations: sent, dropped as too many waited, or failed for good.',
      labelNames: ['type', 'outcome'] as const,
      registers,
    }),
  };
}

function observeProcess(registers: Registry[]): void {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const lag = new Gauge({
    name: 'gateway_event_loop_lag_seconds',
    help: 'Event-loop delay since the last scrape.',
    labelNames: ['quantile'] as const,
    registers,
    collect() {
      for (const [quantile, percentile] of [
        ['0.5', 50],
        ['0.99', 99],
        ['1', 100],
      ] as const)
        lag.set({ quantile }, delay.percentile(percentile) / NS_PER_S);
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
}

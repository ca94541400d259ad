import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Usage } from '../canonical/usage.ts';
import { usdFromNano } from '../lib/money.ts';
import { statusOf } from './generation-row.ts';
import type { GenerationRecord } from './record.ts';

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

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160];
const MS_PER_S = 1_000;
const NS_PER_S = 1e9;
/** Labels come from the catalog, not from callers, but pass-through names are open: beyond this they are `other`. */
const MODELS_MAX = 2_000;

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const series = createSeries(registers);
  observeProcess(registers);
  const models = new Set<string>();

  function modelLabel(model: string | undefined): string {
    if (model === undefined) return 'none';
    if (!models.has(model)) {
      if (models.size >= MODELS_MAX) return 'other';
      models.add(model);
    }
    return model;
  }

  return {
    observe(record) {
      const model = modelLabel(record.endpoint?.model);
      const provider = record.endpoint?.provider ?? 'none';
      const { report } = record;
      const endedMs = report.endedMs ?? report.arrivedMs;
      series.requests.inc({ format: record.request.format, model, provider, status: statusOf(record) });
      series.duration.observe({ model, provider }, (endedMs - report.arrivedMs) / MS_PER_S);
      if (record.firstTokenMs !== undefined)
        series.firstToken.observe({ model, provider }, (record.firstTokenMs - report.arrivedMs) / MS_PER_S);
      for (const attempt of record.attempts)
        series.attempts.inc({ provider: attempt.provider, status: attempt.status ?? 'none' });
      for (const outcome of record.rescues) series.rescues.inc({ outcome });
      for (const { endpoint, isByok, usage, cost } of record.served) {
        const part = { model: modelLabel(endpoint.model), provider: endpoint.provider };
        countTokens(series.tokens, usage, part);
        if (!isByok && cost !== undefined && cost.totalNanoUsd > 0)
          series.spend.inc(part, usdFromNano(cost.totalNanoUsd));
      }
    },
    refused: (format, status) => series.requests.inc({ format, model: 'none', provider: 'none', status }),
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

function countTokens(
  tokens: Counter<'model' | 'provider' | 'kind'>,
  usage: Usage,
  part: { readonly model: string; readonly provider: string },
): void {
  const add = (kind: string, count: number | undefined): void => {
    if (count !== undefined && count > 0) tokens.inc({ ...part, kind }, count);
  };
  add('prompt', usage.promptTokens);
  add('completion', usage.completionTokens);
  add('cache_read', usage.cacheReadTokens);
  add('cache_write', usage.cacheWriteTokens);
  add('reasoning', usage.reasoningTokens);
}

function createSeries(registers: Registry[]) {
  return {
    requests: new Counter({
      name: 'gateway_requests_total',
      help: 'Generation requests by outcome.',
      labelNames: ['format', 'model', 'provider', 'status'] as const,
      registers,
    }),
    firstToken: new Histogram({
      name: 'gateway_time_to_first_token_seconds',
      help: 'From arrival to the first content, of answers that had any.',
      labelNames: ['model', 'provider'] as const,
      buckets: SECONDS,
      registers,
    }),
    duration: new Histogram({
      name: 'gateway_request_duration_seconds',
      help: 'From arrival to the end of the answer.',
      labelNames: ['model', 'provider'] as const,
      buckets: SECONDS,
      registers,
    }),
    tokens: new Counter({
      name: 'gateway_tokens_total',
      help: 'Tokens by kind; prompt includes cached ones, completion includes reasoning.',
      labelNames: ['model', 'provider', 'kind'] as const,
      registers,
    }),
    spend: new Counter({
      name: 'gateway_cost_usd_total',
      help: 'Charged cost in USD.',
      labelNames: ['model', 'provider'] as const,
      registers,
    }),
    attempts: new Counter({
      name: 'gateway_upstream_attempts_total',
      help: 'Attempts at upstreams by what they answered; "none" where they did not.',
      labelNames: ['provider', 'status'] as const,
      registers,
    }),
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

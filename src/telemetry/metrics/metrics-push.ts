import type { Clock } from '../../lib/clock.ts';
import { isJsonObject } from '../../lib/json.ts';
import type { HttpClient } from '../../lib/net/http-client.ts';
import { callJson } from '../../lib/net/json-call.ts';
import type { Service } from '../destinations/contract.ts';
import { resourceOf, scopeOf } from '../destinations/otlp/otlp-destination.ts';
import { attributesOf } from '../destinations/otlp/encode-json.ts';
import type { GenerationRecord } from '../record.ts';
import { createModelMetrics } from './model-metrics.ts';

/** Sends metrics of models to a collector of the operator's own, from time to time. */
export interface MetricsPush {
  observe(record: GenerationRecord): void;
  start(): void;
  /** Sends what there is once more, if that takes no longer than a moment. */
  close(): Promise<void>;
}

export interface MetricsPushDeps {
  readonly http: HttpClient;
  readonly clock: Clock;
  /** With its path. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly intervalMs: number;
  readonly temporality: 'cumulative' | 'delta';
  /** Names this process among all that send. */
  readonly service: Service;
  /** Called once while it fails. */
  readonly onFailed: (reason: string) => void;
  readonly onMended: () => void;
}

const PUSH_MS_MAX = 10_000;
const LAST_PUSH_MS_MAX = 2_000;
const ANSWER_BYTES_MAX = 65_536;

export function createMetricsPush(deps: MetricsPushDeps): MetricsPush {
  const { http, clock, headers, temporality, service } = deps;
  const url = new URL(deps.url);
  const metrics = createModelMetrics(temporality, clock.nowMs());
  let timer: NodeJS.Timeout | undefined;
  let pushing: Promise<void> | undefined;
  let isFailing = false;
  let isClosed = false;
  const ended = new AbortController();

  async function send(timeoutMs: number): Promise<void> {
    const nowMs = Math.floor(clock.nowMs());
    const encoded = metrics.encode(nowMs);
    if (encoded.length === 0) return;
    const body = {
      resourceMetrics: [
        {
          resource: { attributes: attributesOf(resourceOf(service)) },
          scopeMetrics: [{ scope: { ...scopeOf(service) }, metrics: encoded }],
        },
      ],
    };
    const limits = { timeoutMs, bytesMax: ANSWER_BYTES_MAX };
    // What is observed meanwhile belongs to the next report. One that is lost stays lost: to count it twice would be worse.
    if (temporality === 'delta') metrics.reset(nowMs);
    const answer = await callJson(http, { method: 'POST', url, headers, body }, limits, ended.signal);
    if (answer.status < 200 || answer.status >= 300) throw new Error(`answered with status ${answer.status}`);
    const partial = isJsonObject(answer.body) ? answer.body['partialSuccess'] : undefined;
    const rejected = isJsonObject(partial) ? Number(partial['rejectedDataPoints'] ?? 0) : 0;
    if (rejected > 0) throw new Error(`rejected ${rejected} data points`);
  }

  async function trySend(timeoutMs: number): Promise<void> {
    try {
      await send(timeoutMs);
      if (isFailing) deps.onMended();
      isFailing = false;
    } catch (error) {
      if (!isFailing) deps.onFailed(error instanceof Error ? error.message : String(error));
      isFailing = true;
    }
  }

  function push(timeoutMs: number): Promise<void> {
    pushing ??= trySend(timeoutMs).finally(() => (pushing = undefined));
    return pushing;
  }

  return {
    observe: (record) => metrics.observe(record),
    start() {
      if (isClosed || timer !== undefined) return;
      timer = setInterval(() => void push(PUSH_MS_MAX), deps.intervalMs).unref();
    },
    async close() {
      isClosed = true;
      clearInterval(timer);
      const last = setTimeout(() => ended.abort(), LAST_PUSH_MS_MAX);
      await pushing;
      await push(LAST_PUSH_MS_MAX);
      clearTimeout(last);
    },
  };
}

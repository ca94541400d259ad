import type { DestinationType } from './contract.ts';
import { otelCollector } from './otel-collector/destination.ts';
import { otelMetrics } from './otel-metrics/destination.ts';
import { webhook } from './webhook/destination.ts';

/** Every kind of destination. */
export const DESTINATION_TYPES: readonly DestinationType[] = [otelCollector, otelMetrics, webhook];

/** Kinds that callers may know from elsewhere: each of them takes OTLP, which `otel-collector` sends. @spec destination-1 */
export const UNSUPPORTED_TYPES =
  'arize braintrust clickhouse datadog grafana langfuse langsmith newrelic opik posthog ramp s3 sentry snowflake weave'.split(
    ' ',
  );

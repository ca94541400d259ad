import { arize } from './arize/destination.ts';
import { braintrust } from './braintrust/destination.ts';
import { clickhouse } from './clickhouse/destination.ts';
import { datadog } from './datadog/destination.ts';
import { grafana } from './grafana/destination.ts';
import { langfuse } from './langfuse/destination.ts';
import { langsmith } from './langsmith/destination.ts';
import { newrelic } from './newrelic/destination.ts';
import { opik } from './opik/destination.ts';
import { otelCollector } from './otel-collector/destination.ts';
import { otelMetrics } from './otel-metrics/destination.ts';
import { posthog } from './posthog/destination.ts';
import { ramp } from './ramp/destination.ts';
import { s3 } from './s3/destination.ts';
import { sentry } from './sentry/destination.ts';
import { snowflake } from './snowflake/destination.ts';
import { weave } from './weave/destination.ts';
import { webhook } from './webhook/destination.ts';
import type { DestinationType } from './contract.ts';

/** Every kind of destination. @spec destination-1 */
export const DESTINATION_TYPES: readonly DestinationType[] = [
  arize,
  braintrust,
  clickhouse,
  datadog,
  grafana,
  langfuse,
  langsmith,
  newrelic,
  opik,
  otelCollector,
  otelMetrics,
  posthog,
  ramp,
  s3,
  sentry,
  snowflake,
  weave,
  webhook,
];

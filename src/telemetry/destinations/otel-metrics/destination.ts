import type { DestinationType } from '../contract.ts';
import { encodeMetrics } from '../otlp-metrics.ts';
import { otlpDestination } from '../otlp-destination.ts';

/** What `otel-collector` is for spans: metrics of the GenAI conventions, over OTLP and HTTP. */
export const otelMetrics: DestinationType = otlpDestination({
  type: 'otel-metrics',
  path: '/v1/metrics',
  serialize: encodeMetrics,
  empty: { resourceMetrics: [] },
});

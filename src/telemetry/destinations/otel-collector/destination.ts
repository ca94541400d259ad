import type { DestinationType } from '../contract.ts';
import { otlpDestination } from '../otlp-destination.ts';
import { serializeTraces } from '../otlp.ts';

/** Any OpenTelemetry collector, or another receiver of OTLP over HTTP. */
export const otelCollector: DestinationType = otlpDestination({
  type: 'otel-collector',
  path: '/v1/traces',
  serialize: serializeTraces,
  empty: { resourceSpans: [] },
});

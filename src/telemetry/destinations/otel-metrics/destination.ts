import { z } from 'zod';
import { headersMember, urlMember } from '../config-members.ts';
import type { DestinationType } from '../contract.ts';
import { encodeMetrics } from '../otlp-metrics.ts';

const schema = z.strictObject({
  endpoint: urlMember.describe('Of a collector: `/v1/metrics` is added where the address does not end with it.'),
  headers: headersMember.optional(),
});

/** What `otel-collector` is for spans: metrics of the GenAI conventions, over OTLP and HTTP. */
export const otelMetrics: DestinationType = {
  type: 'otel-metrics',
  schema,
  secrets: ['headers'],
  open(config) {
    const { endpoint, headers = {} } = schema.parse(config);
    const url = metricsUrl(endpoint);
    const post = (body: object, further: Readonly<Record<string, string>> = {}) => ({
      url,
      method: 'POST' as const,
      headers: { ...headers, ...further, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return {
      url,
      serialize: (batch, reported, nowMs) => post(encodeMetrics(batch, reported, nowMs)),
      serializeTest: () => post({ resourceMetrics: [] }, { 'x-test-connection': 'true' }),
    };
  },
};

/** @source opentelemetry.io "OTLP/HTTP Request": the default path of metrics, read 2026-11 */
function metricsUrl(endpoint: string): string {
  const url = new URL(endpoint);
  if (!url.pathname.endsWith('/v1/metrics')) url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/metrics`;
  return url.href;
}

import { z } from 'zod';
import { headersMember, urlMember } from '../config-members.ts';
import type { DestinationType } from '../contract.ts';
import { serializeTraces } from '../otlp.ts';

const schema = z.strictObject({
  endpoint: urlMember.describe('Of a collector: `/v1/traces` is added where the address does not end with it.'),
  headers: headersMember.optional(),
});

/** Any OpenTelemetry collector, or another receiver of OTLP over HTTP. */
export const otelCollector: DestinationType = {
  type: 'otel-collector',
  schema,
  secrets: ['headers'],
  open(config) {
    const { endpoint, headers = {} } = schema.parse(config);
    const url = tracesUrl(endpoint);
    const post = (body: object, further: Readonly<Record<string, string>> = {}) => ({
      url,
      method: 'POST' as const,
      headers: { ...headers, ...further, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return {
      url,
      serialize: (batch, reported) => post(serializeTraces(batch, reported)),
      serializeTest: () => post({ resourceSpans: [] }, { 'x-test-connection': 'true' }),
    };
  },
};

/** @source opentelemetry.io "OTLP/HTTP Request": the default path of traces, read 2026-11 */
function tracesUrl(endpoint: string): string {
  const url = new URL(endpoint);
  if (!url.pathname.endsWith('/v1/traces')) url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/traces`;
  return url.href;
}

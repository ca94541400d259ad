import { z } from 'zod';
import { headersMember, urlMember } from '../config-members.ts';
import type { DestinationType, OutboundCall } from '../contract.ts';
import { judgeOtlp } from '../delivery/judge.ts';
import { encodeMetrics } from '../otlp-metrics.ts';
import { faultOfTest, withPath } from '../otlp/otlp-destination.ts';

const schema = z.strictObject({
  endpoint: urlMember.describe('Of a collector: `/v1/metrics` is added where the address does not end with it.'),
  headers: headersMember.optional(),
});

/** What `otel-collector` is for spans: metrics of the GenAI conventions, over OTLP and HTTP. */
export const otelMetrics: DestinationType = {
  type: 'otel-metrics',
  label: 'OpenTelemetry metrics',
  schema,
  secrets: ['headers'],
  open(config, service) {
    const { endpoint, headers = {} } = schema.parse(config);
    const url = withPath(endpoint, '/v1/metrics');
    const post = (body: object, ids: readonly string[], further: object = {}): OutboundCall => ({
      url,
      method: 'POST',
      headers: { ...headers, ...further, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ids,
    });
    return {
      url,
      calls: (batch, nowMs) => [
        post(
          encodeMetrics(batch, service, nowMs),
          batch.map(({ id }) => id),
        ),
      ],
      judge: (_call, answer) => judgeOtlp(answer),
      test: () => [
        {
          call: post({ resourceMetrics: [] }, [], { 'x-test-connection': 'true' }),
          judge: (answer) => (answer.status === 400 ? undefined : faultOfTest(answer, 'config.headers')),
        },
      ],
    };
  },
};

import { z } from 'zod';
import { headersMember, urlMember } from '../config-members.ts';
import { otlpDestination, otlpMembers, withPath } from '../otlp/otlp-destination.ts';

const schema = z.strictObject({
  endpoint: urlMember.describe('Of a collector: `/v1/traces` is added where the address does not end with it.'),
  headers: headersMember.optional(),
  encoding: z.enum(['json', 'protobuf']).optional().describe('Default: `json`.'),
  ...otlpMembers,
});

/** Any OpenTelemetry collector, or another receiver of OTLP over HTTP. */
export const otelCollector = otlpDestination({
  type: 'otel-collector',
  label: 'OpenTelemetry collector',
  schema,
  secrets: ['headers'],
  encoding: ({ encoding = 'json' }) => encoding,
  shape: 'tree',
  address: ({ endpoint, headers = {} }) => ({ url: withPath(endpoint, '/v1/traces'), headers }),
  keyMembers: 'config.headers',
  takesBadRequest: true,
});

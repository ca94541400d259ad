import { z } from 'zod';
import { baseUrlMember, headersMember, secretMember, textMember } from '../config-members.ts';
import { basicAuth, otlpDestination, otlpMembers, withPath } from '../otlp/otlp-destination.ts';

/** @source `@openrouter/sdk` 1.3.19, `ObservabilityGrafanaDestinationConfig` */
const US_WEST = 'https://otlp-gateway-prod-us-west-0.grafana.net';

const schema = z.strictObject({
  baseUrl: baseUrlMember(US_WEST)
    .refine(
      (text) => text === undefined || !/\/tempo(?:\/|$)/.test(URL.parse(text)?.pathname ?? ''),
      'is the address for queries: take the one of the OTLP gateway',
    )
    .describe('`https://otlp-gateway-{zone}.grafana.net`'),
  instanceId: textMember,
  apiKey: secretMember.describe('A token with `traces:write`.'),
  headers: headersMember.optional(),
  ...otlpMembers,
});

/** @source grafana.com/docs/grafana-cloud/send-data/otlp, "Send data to the Grafana Cloud OTLP endpoint", read 2026-11 */
export const grafana = otlpDestination({
  type: 'grafana',
  label: 'Grafana Cloud',
  schema,
  secrets: ['apiKey', 'headers'],
  encoding: 'protobuf',
  shape: 'tree',
  address: ({ baseUrl = US_WEST, instanceId, apiKey, headers = {} }) => ({
    url: withPath(withPath(baseUrl, '/otlp', '/v1/traces'), '/v1/traces'),
    headers: { ...headers, authorization: basicAuth(instanceId, apiKey) },
  }),
  keyMembers: 'config.instanceId, config.apiKey',
});

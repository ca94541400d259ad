import { z } from 'zod';
import { headersMember, secretMember } from '../config-members.ts';
import { otlpDestination, otlpMembers } from '../otlp/otlp-destination.ts';
import type { Attributes, AttributeValue } from '../otlp/span.ts';

const HOSTS = { us: 'https://otlp.nr-data.net/v1/traces', eu: 'https://otlp.eu01.nr-data.net/v1/traces' } as const;
const BODY_BYTES_MAX = 900_000;
/** Of an attribute: longer ones are cut there. */
const VALUE_CHARS_MAX = 4_095;
const LIST_MAX = 64;

const schema = z.strictObject({
  licenseKey: secretMember,
  region: z.enum(['us', 'eu']).optional().describe('Default: `us`.'),
  headers: headersMember.optional(),
  ...otlpMembers,
});

/** @source docs.newrelic.com "OpenTelemetry OTLP endpoint", endpoints, attribute limits and payload size, read 2026-11 */
export const newrelic = otlpDestination({
  type: 'newrelic',
  label: 'New Relic',
  schema,
  secrets: ['licenseKey', 'headers'],
  encoding: 'protobuf',
  shape: 'tree',
  origin: 'https://nr-data.net',
  limits: { bytes: BODY_BYTES_MAX },
  address: ({ licenseKey, region = 'us', headers = {} }) => ({
    url: HOSTS[region],
    headers: { ...headers, 'api-key': licenseKey },
  }),
  resource: () => ({ 'instrumentation.provider': 'model-gateway' }),
  rename: (span) => ({ ...span, attributes: bound(span.attributes) }),
  keyMembers: 'config.licenseKey, config.region',
});

function bound(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).map(([key, value]) => [key, boundValue(value)]));
}

/** Messages are JSON, which is whole or not there. */
function boundValue(value: AttributeValue | undefined): AttributeValue | undefined {
  if (typeof value === 'string' && value.length > VALUE_CHARS_MAX)
    return value.startsWith('[') || value.startsWith('{') ? undefined : value.slice(0, VALUE_CHARS_MAX);
  return Array.isArray(value) ? value.slice(0, LIST_MAX) : value;
}

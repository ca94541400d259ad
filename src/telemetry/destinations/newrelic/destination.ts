import { z } from 'zod';
import { parseJson, type Json } from '../../../lib/json.ts';
import { headersMember, secretMember } from '../config-members.ts';
import { otlpDestination, otlpMembers } from '../otlp/otlp-destination.ts';
import type { Attributes, AttributeValue } from '../otlp/span.ts';

const HOSTS = { us: 'https://otlp.nr-data.net/v1/traces', eu: 'https://otlp.eu01.nr-data.net/v1/traces' } as const;
const BODY_BYTES_MAX = 900_000;
/** Of an attribute: longer ones are cut there. */
const VALUE_CHARS_MAX = 4_095;
const LIST_MAX = 64;
/** Of a message that has more texts than fit with so many characters each, nothing is sent. */
const TEXT_CHARS_MIN = 16;

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
  const entries = Object.entries(attributes).map(([key, value]) => [key, boundValue(value)] as const);
  const isCut = entries.some(([key, value]) => CONTENT.test(key) && value !== attributes[key]);
  return { ...Object.fromEntries(entries), ...(isCut && { 'gateway.content.cut': true }) };
}

const CONTENT = /^gen_ai\.(?:input|output|system_instructions)/;

function boundValue(value: AttributeValue | undefined): AttributeValue | undefined {
  if (typeof value === 'string' && value.length > VALUE_CHARS_MAX) {
    const list = value.startsWith('[') ? parseJson(value) : undefined;
    if (Array.isArray(list)) return shorten(list);
    return value.startsWith('{') ? undefined : value.slice(0, VALUE_CHARS_MAX);
  }
  return Array.isArray(value) && value.length > LIST_MAX ? value.slice(0, LIST_MAX) : value;
}

/** The last messages that fit; of one that is too long alone, the beginnings of its texts. JSON stays whole. */
function shorten(messages: readonly Json[]): string | undefined {
  let chars = 2;
  let from = messages.length;
  while (from > 0 && chars <= VALUE_CHARS_MAX) chars += JSON.stringify(messages[--from]).length + 1;
  if (chars > VALUE_CHARS_MAX) from++;
  if (from < messages.length) return JSON.stringify(messages.slice(from));
  const last = messages.slice(-1);
  for (let charsMax = VALUE_CHARS_MAX / 2; charsMax >= TEXT_CHARS_MIN; charsMax /= 2) {
    const json = JSON.stringify(last, (_key, value: unknown) =>
      typeof value === 'string' ? value.slice(0, charsMax) : value,
    );
    if (json.length <= VALUE_CHARS_MAX) return json;
  }
  return undefined;
}

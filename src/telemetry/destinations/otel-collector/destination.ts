import { z } from 'zod';
import { headersMember, urlMember } from '../config-members.ts';
import type { ExportedGeneration } from '../contract.ts';
import { contentMembers } from '../otlp/generation-attributes.ts';
import { otlpDestination, otlpMembers, withoutAttributes, withPath } from '../otlp/otlp-destination.ts';
import { Structured, type Span } from '../otlp/span.ts';

const schema = z.strictObject({
  endpoint: urlMember.describe('Of a collector: `/v1/traces` is added where the address does not end with it.'),
  headers: headersMember.optional(),
  encoding: z.enum(['json', 'protobuf']).optional().describe('Default: `json`.'),
  content_as: z
    .enum(['attributes', 'event'])
    .optional()
    .describe('Content as attributes of the span, or as a structure in one event of it. Default: `attributes`.'),
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
  rename: (span, generation, { content_as: place }) => (place === 'event' ? withContentEvent(span, generation) : span),
  keyMembers: 'config.headers',
  takesBadRequest: true,
});

/** @source github.com open-telemetry/semantic-conventions-genai, events, read 2026-11 */
const DETAILS_EVENT = 'gen_ai.client.inference.operation.details';

/** The same attributes in one event, the content as a structure; the span keeps all but the content. */
function withContentEvent(span: Span, generation: ExportedGeneration): Span {
  const members = contentMembers(generation);
  if (span.role !== 'generation' || members.length === 0) return span;
  const attributes = withoutAttributes(span.attributes, ...members.map(([name]) => name));
  const content = Object.fromEntries(members.map(([name, value]) => [name, new Structured([...value])]));
  const event = { name: DETAILS_EVENT, atMs: span.endMs, attributes: { ...attributes, ...content } };
  return { ...span, attributes, events: [...span.events, event] };
}

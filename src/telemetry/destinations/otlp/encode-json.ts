import { ExactNumber, isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import {
  Double,
  fitsInt64,
  Structured,
  type Attributes,
  type AttributeValue,
  type Span,
  type SpanExport,
} from './span.ts';

const NS_PER_MS = '000000';

/** An OTLP export request in its JSON encoding. @source opentelemetry.io "OTLP Specification", JSON Protobuf Encoding, read 2026-11 */
export function encodeSpansAsJson({ resource, scope, spans }: SpanExport): string {
  const resourceSpans =
    spans.length === 0
      ? []
      : [
          {
            resource: { attributes: attributesOf(resource) },
            scopeSpans: [{ scope: { name: scope.name, version: scope.version }, spans: spans.map(encodeSpan) }],
          },
        ];
  return JSON.stringify({ resourceSpans });
}

function encodeSpan(span: Span): JsonObject {
  const { traceId, traceState, spanId, parentSpanId, name, kind, status, flags } = span;
  return {
    traceId,
    spanId,
    ...(traceState !== undefined && { traceState }),
    ...(parentSpanId !== undefined && { parentSpanId }),
    ...(flags !== 0 && { flags }),
    name,
    kind,
    startTimeUnixNano: nanoOf(span.startMs),
    endTimeUnixNano: nanoOf(span.endMs),
    attributes: attributesOf(span.attributes),
    events: span.events.map((event) => ({
      name: event.name,
      timeUnixNano: nanoOf(event.atMs),
      attributes: attributesOf(event.attributes),
    })),
    ...(span.links.length > 0 && { links: span.links.map((link) => ({ ...link })) }),
    status: status === undefined ? {} : { ...status },
  };
}

export function attributesOf(attributes: Attributes): readonly JsonObject[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: encodeValue(value) }],
  );
}

function encodeValue(value: AttributeValue): JsonObject {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (value instanceof Double) return { doubleValue: value.value };
  // 64-bit integers are texts in the JSON encoding.
  if (typeof value === 'number') return fitsInt64(value) ? { intValue: String(BigInt(value)) } : { doubleValue: value };
  if (value instanceof Structured) return encodeTree(value.value);
  return { arrayValue: { values: value.map((one) => ({ stringValue: one })) } };
}

function encodeTree(value: Json): JsonObject {
  if (value === null || value === undefined) return {};
  if (typeof value !== 'object') return encodeValue(value);
  if (value instanceof ExactNumber) return encodeValue(value.text);
  if (isJsonObject(value)) return { kvlistValue: { values: treesOf(value) } };
  return { arrayValue: { values: value.map(encodeTree) } };
}

function treesOf(members: JsonObject): readonly JsonObject[] {
  return Object.entries(members).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: encodeTree(value) }],
  );
}

export function nanoOf(ms: number): string {
  return `${Math.round(ms)}${NS_PER_MS}`;
}

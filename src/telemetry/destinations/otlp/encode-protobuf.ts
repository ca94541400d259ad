import { ExactNumber, isJsonObject, type Json } from '../../../lib/json.ts';
import {
  Double,
  fitsInt64,
  Structured,
  type Attributes,
  type AttributeValue,
  type Span,
  type SpanExport,
} from './span.ts';

/*
 * Numbers of fields: opentelemetry-proto 1.9, `trace.proto`, `common.proto` and `resource.proto`, read 2026-11. Empty
 * fields are left out, but for the one of an AnyValue, which says of what type it is.
 */
const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;
const FIXED32 = 5;
const NS_PER_MS = 1_000_000n;
const VARINT_BYTES_MAX = 10;

/** An OTLP export request in Protocol Buffers. */
export function encodeSpansAsProtobuf({ resource, scope, spans }: SpanExport): Uint8Array {
  if (spans.length === 0) return new Uint8Array();
  const scopeSpans = message([
    bytesField(1, message([textField(1, scope.name), textField(2, scope.version)])),
    ...spans.map((span) => bytesField(2, encodeSpan(span))),
  ]);
  const resourceSpans = message([bytesField(1, message(attributeFields(1, resource))), bytesField(2, scopeSpans)]);
  return message([bytesField(1, resourceSpans)]);
}

function encodeSpan(span: Span): Buffer {
  const { status } = span;
  return message([
    bytesField(1, Buffer.from(span.traceId, 'hex')),
    bytesField(2, Buffer.from(span.spanId, 'hex')),
    textField(3, span.traceState ?? ''),
    ...(span.parentSpanId === undefined ? [] : [bytesField(4, Buffer.from(span.parentSpanId, 'hex'))]),
    textField(5, span.name),
    varintField(6, BigInt(span.kind)),
    nanoField(7, span.startMs),
    nanoField(8, span.endMs),
    ...attributeFields(9, span.attributes),
    ...span.events.map((event) =>
      bytesField(
        11,
        message([nanoField(1, event.atMs), textField(2, event.name), ...attributeFields(3, event.attributes)]),
      ),
    ),
    ...span.links.map((link) =>
      bytesField(
        13,
        message([bytesField(1, Buffer.from(link.traceId, 'hex')), bytesField(2, Buffer.from(link.spanId, 'hex'))]),
      ),
    ),
    ...(status === undefined
      ? []
      : [bytesField(15, message([textField(2, status.message ?? ''), varintField(3, BigInt(status.code))]))]),
    fixed32Field(16, span.flags),
  ]);
}

function attributeFields(field: number, attributes: Attributes): readonly Buffer[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [bytesField(field, message([textField(1, key), bytesField(2, encodeValue(value))]))],
  );
}

function encodeValue(value: AttributeValue): Buffer {
  if (typeof value === 'string') return bytesField(1, Buffer.from(value));
  if (typeof value === 'boolean') return message([tag(2, VARINT), varint(value ? 1n : 0n)]);
  if (value instanceof Double) return doubleField(value.value);
  if (typeof value === 'number')
    return fitsInt64(value) ? message([tag(3, VARINT), varint(BigInt(value))]) : doubleField(value);
  if (value instanceof Structured) return encodeTree(value.value);
  return bytesField(5, message(value.map((one) => bytesField(1, encodeValue(one)))));
}

function encodeTree(value: Json | undefined): Buffer {
  if (value === null || value === undefined) return EMPTY;
  if (typeof value !== 'object') return encodeValue(value);
  if (value instanceof ExactNumber) return encodeValue(value.text);
  if (!isJsonObject(value)) return bytesField(5, message(value.map((one) => bytesField(1, encodeTree(one)))));
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return bytesField(
    6,
    message(
      members.map(([key, member]) => bytesField(1, message([textField(1, key), bytesField(2, encodeTree(member))]))),
    ),
  );
}

function doubleField(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return message([tag(4, FIXED64), bytes]);
}

const EMPTY = Buffer.alloc(0);
const message = (fields: readonly Uint8Array[]): Buffer => Buffer.concat(fields);

function bytesField(field: number, bytes: Uint8Array): Buffer {
  return message([tag(field, LENGTH), varint(BigInt(bytes.length)), bytes]);
}

function textField(field: number, text: string): Buffer {
  return text === '' ? EMPTY : bytesField(field, Buffer.from(text));
}

function varintField(field: number, value: bigint): Buffer {
  return value === 0n ? EMPTY : message([tag(field, VARINT), varint(value)]);
}

function nanoField(field: number, ms: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(Math.round(Math.max(0, ms))) * NS_PER_MS);
  return message([tag(field, FIXED64), bytes]);
}

function fixed32Field(field: number, value: number): Buffer {
  if (value === 0) return EMPTY;
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return message([tag(field, FIXED32), bytes]);
}

function tag(field: number, wireType: number): Buffer {
  return varint(BigInt((field << 3) | wireType));
}

/** A negative number has ten bytes, as 64 bits in two's complement. */
function varint(value: bigint): Buffer {
  const bytes = Buffer.alloc(VARINT_BYTES_MAX);
  let left = BigInt.asUintN(64, value);
  let length = 0;
  while (left > 127n) {
    bytes[length++] = Number(left & 127n) | 128;
    left >>= 7n;
  }
  bytes[length++] = Number(left);
  return bytes.subarray(0, length);
}

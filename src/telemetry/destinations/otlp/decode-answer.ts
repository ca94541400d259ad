/** What a receiver of OTLP says in Protocol Buffers, which is how it answers calls in Protocol Buffers. */
export interface DecodedAnswer {
  readonly rejected: number;
  readonly message: string;
}

const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;
const FIXED32 = 5;
const VARINT_BYTES_MAX = 10;
const WIRE_TYPE_BITS = 3;

/** One field of a message: a number, or the bytes of a text or of another message. */
interface Field {
  readonly number: number;
  readonly value: bigint | Buffer;
}

/**
 * `ExportTraceServiceResponse` and its like for metrics; `undefined`: it is none, or says nothing.
 * @source opentelemetry-proto 1.9, `trace_service.proto`, `ExportTracePartialSuccess`, read 2026-11
 */
export function decodeExportResponse(bytes: Uint8Array): DecodedAnswer | undefined {
  const partial = fieldsOf(bytes)?.find(({ number }) => number === 1)?.value;
  const fields = Buffer.isBuffer(partial) ? fieldsOf(partial) : undefined;
  if (fields === undefined) return undefined;
  const rejected = fields.find(({ number }) => number === 1)?.value;
  return {
    rejected: typeof rejected === 'bigint' ? Number(BigInt.asIntN(64, rejected)) : 0,
    message: textIn(fields, 2),
  };
}

/** The message of a `google.rpc.Status`; empty: it has none. @source opentelemetry.io "OTLP Specification", OTLP/HTTP Failures, read 2026-11 */
export function decodeStatusMessage(bytes: Uint8Array): string {
  return textIn(fieldsOf(bytes) ?? [], 2);
}

function textIn(fields: readonly Field[], number: number): string {
  const value = fields.find((field) => field.number === number)?.value;
  return Buffer.isBuffer(value) ? value.toString('utf8') : '';
}

/** `undefined`: the bytes are no message. */
function fieldsOf(bytes: Uint8Array): readonly Field[] | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const fields: Field[] = [];
  for (let at = 0; at < buffer.length;) {
    const tag = varintAt(buffer, at);
    if (tag === undefined) return undefined;
    const wireType = Number(tag.value & 7n);
    const number = Number(tag.value >> BigInt(WIRE_TYPE_BITS));
    const read = valueAt(buffer, tag.end, wireType);
    if (read === undefined || number === 0) return undefined;
    fields.push({ number, value: read.value });
    at = read.end;
  }
  return fields;
}

function valueAt(
  buffer: Buffer,
  at: number,
  wireType: number,
): { readonly value: bigint | Buffer; readonly end: number } | undefined {
  if (wireType === VARINT) return varintAt(buffer, at);
  const length = wireType === LENGTH ? varintAt(buffer, at) : undefined;
  const start = length?.end ?? at;
  const size =
    wireType === FIXED64 ? 8 : wireType === FIXED32 ? 4 : length === undefined ? undefined : Number(length.value);
  if (size === undefined || start + size > buffer.length) return undefined;
  return { value: buffer.subarray(start, start + size), end: start + size };
}

function varintAt(buffer: Buffer, at: number): { readonly value: bigint; readonly end: number } | undefined {
  let value = 0n;
  for (let index = 0; index < VARINT_BYTES_MAX; index++) {
    const byte = buffer[at + index];
    if (byte === undefined) return undefined;
    value |= BigInt(byte & 127) << BigInt(7 * index);
    if (byte < 128) return { value, end: at + index + 1 };
  }
  return undefined;
}

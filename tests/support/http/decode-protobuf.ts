import type { JsonObject } from '../../../src/lib/json.ts';

/** Fields of messages, by number: as opentelemetry-proto 1.9 has them. */
type Schema = Readonly<
  Record<number, readonly [name: string, type: string | Schema | (() => Schema), repeated?: true]>
>;

const anyValue: Schema = {
  1: ['stringValue', 'text'],
  2: ['boolValue', 'bool'],
  3: ['intValue', 'int64'],
  4: ['doubleValue', 'double'],
  5: ['arrayValue', () => ({ 1: ['values', anyValue, true] })],
  6: ['kvlistValue', () => ({ 1: ['values', keyValue, true] })],
};
const keyValue: Schema = { 1: ['key', 'text'], 2: ['value', anyValue] };
const event: Schema = { 1: ['timeUnixNano', 'fixed64'], 2: ['name', 'text'], 3: ['attributes', keyValue, true] };
const link: Schema = { 1: ['traceId', 'hex'], 2: ['spanId', 'hex'] };
const status: Schema = { 2: ['message', 'text'], 3: ['code', 'number'] };
const span: Schema = {
  1: ['traceId', 'hex'],
  2: ['spanId', 'hex'],
  3: ['traceState', 'text'],
  4: ['parentSpanId', 'hex'],
  5: ['name', 'text'],
  6: ['kind', 'number'],
  7: ['startTimeUnixNano', 'fixed64'],
  8: ['endTimeUnixNano', 'fixed64'],
  9: ['attributes', keyValue, true],
  11: ['events', event, true],
  13: ['links', link, true],
  15: ['status', status],
  16: ['flags', 'fixed32'],
};
const scopeSpans: Schema = {
  1: ['scope', { 1: ['name', 'text'], 2: ['version', 'text'] }],
  2: ['spans', span, true],
};
const resourceSpans: Schema = {
  1: ['resource', { 1: ['attributes', keyValue, true] }],
  2: ['scopeSpans', scopeSpans, true],
};
const request: Schema = { 1: ['resourceSpans', resourceSpans, true] };

/** Reads an export request as its JSON has it. Throws at a field that the messages do not have. */
export function decodeProtobuf(bytes: Uint8Array): JsonObject {
  return decode(Buffer.from(bytes), request) as JsonObject;
}

function decode(bytes: Buffer, schema: Schema): object {
  const found: Record<string, unknown> = {};
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = BigInt(bytes.readUInt8(at++));
      value |= (byte & 127n) << shift;
      if (byte < 128n) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const known = schema[tag >> 3];
    if (known === undefined) throw new Error(`field ${tag >> 3} is unknown`);
    const [name, type, isRepeated] = known;
    const value = readValue(tag & 7, type);
    if (isRepeated === true) found[name] = [...((found[name] as unknown[] | undefined) ?? []), value];
    else found[name] = value;
  }
  return found;

  function readValue(wireType: number, type: string | Schema | (() => Schema)): unknown {
    if (wireType === 0) {
      const value = varint();
      if (type === 'bool') return value === 1n;
      return type === 'number' ? Number(value) : String(BigInt.asIntN(64, value));
    }
    if (wireType === 1) {
      at += 8;
      return type === 'double' ? bytes.readDoubleLE(at - 8) : String(bytes.readBigUInt64LE(at - 8));
    }
    if (wireType === 5) {
      at += 4;
      return bytes.readUInt32LE(at - 4);
    }
    const length = Number(varint());
    at += length;
    const part = bytes.subarray(at - length, at);
    if (type === 'text') return part.toString('utf8');
    if (type === 'hex') return part.toString('hex');
    return decode(part, typeof type === 'function' ? type() : (type as Schema));
  }
}

import { crc32 } from 'node:zlib';

/** Test support: one binary message as a service would send it. */
export function encodeMessage(headers: Readonly<Record<string, string>>, payload: Uint8Array | string): Buffer {
  return encodeRawMessage(Buffer.concat(Object.entries(headers).map(encodeTextHeader)), Buffer.from(payload));
}

/** Test support: the same with headers that are bytes already. */
export function encodeRawMessage(headers: Uint8Array, payload: Uint8Array): Buffer {
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(16 + headers.length + payload.length, 0);
  lengths.writeUInt32BE(headers.length, 4);
  const unsealed = Buffer.concat([lengths, uint32(crc32(lengths)), headers, payload]);
  return Buffer.concat([unsealed, uint32(crc32(unsealed))]);
}

function encodeTextHeader([name, value]: readonly [string, string]): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([Buffer.from([Buffer.byteLength(name)]), Buffer.from(name), Buffer.from([7]), length, bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

import { promisify } from 'node:util';
import { deflateRaw, deflateRawSync, inflateRaw } from 'node:zlib';
import { isJsonObject, parseJson, type JsonObject } from '../../lib/json.ts';

/** Far more than the longest decision has. */
const BYTES_MAX = 1_048_576;

/** Up to here the event loop takes less time, 0.15 ms at most, than the way to a thread and back. */
const COMPRESSED_AT_ONCE_CHARS_MAX = 32_768;
/** Less than zlib's own: a call then allocates 24 KB in place of 270, for a text of a few. */
const SMALL_WINDOW = { windowBits: 13, memLevel: 6, chunkSize: 4_096 };

const compressInThread = promisify<string, Buffer>(deflateRaw);

export async function packDecision(decision: JsonObject): Promise<string> {
  return (await compress(JSON.stringify(decision))).toString('base64');
}

/** `undefined`: another version wrote something that is no object. */
export async function unpackDecision(body: string): Promise<JsonObject | undefined> {
  const decision = parseJson((await inflate(Buffer.from(body, 'base64'))).toString('utf8'));
  return isJsonObject(decision) ? decision : undefined;
}

function compress(text: string): Buffer | Promise<Buffer> {
  if (text.length <= COMPRESSED_AT_ONCE_CHARS_MAX) return deflateRawSync(text, SMALL_WINDOW);
  return compressInThread(text);
}

function inflate(bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    inflateRaw(bytes, { maxOutputLength: BYTES_MAX }, (error, result) =>
      error === null ? resolve(result) : reject(error),
    );
  });
}

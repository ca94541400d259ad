import { crc32 } from 'node:zlib';

/** One message of an `application/vnd.amazon.eventstream`. */
export interface EventStreamMessage {
  /** Headers that hold text, which is what services use; those of other types are passed over. */
  readonly headers: ReadonlyMap<string, string>;
  /** A view of the bytes that were read: good until the callback returns. */
  readonly payload: Uint8Array;
}

/** Why nothing more can be read: a message over the limit, or bytes that are no messages. */
export type EventStreamFault = 'too-large' | 'corrupt';

/** Reads binary messages out of the bytes of a stream, however they are cut. */
export interface EventStreamParser {
  /**
   * Calls `onMessage` for every message that these bytes complete. Gives the fault that was met, on every later call
   * too: one broken message leaves no way to find the next.
   */
  push(chunk: Uint8Array): EventStreamFault | undefined;
}

export interface EventStreamParserOptions {
  readonly onMessage: (message: EventStreamMessage) => void;
  /** Bound on one message, so that a length out of the blue cannot fill the memory. */
  readonly messageBytesMax?: number;
}

const MESSAGE_BYTES_MAX = 16 * 1024 * 1024;
/** Length of the message, length of its headers, and the checksum of both: four bytes each. */
const PRELUDE_BYTES = 12;
const PRELUDE_CRC_AT = 8;
const CRC_BYTES = 4;

const TYPE_BYTES = 6;
const TYPE_TEXT = 7;
/** Bytes of a header's value by its type; types 6 and 7 bring their own length. */
const VALUE_BYTES: ReadonlyMap<number, number> = new Map([
  [0, 0],
  [1, 0],
  [2, 1],
  [3, 2],
  [4, 4],
  [5, 8],
  [8, 8],
  [9, 16],
]);

export function createEventStreamParser(options: EventStreamParserOptions): EventStreamParser {
  return new MessageParser(options);
}

/** @source docs.aws.amazon.com, Transcribe developer guide, "Event stream encoding", read 2026-11; smithy.io "Event streams" */
class MessageParser implements EventStreamParser {
  readonly #onMessage: EventStreamParserOptions['onMessage'];
  readonly #messageBytesMax: number;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  /** Nothing can be decoded before so many bytes are there: joining earlier would copy a large message for every read. */
  #neededBytes = PRELUDE_BYTES;
  #fault: EventStreamFault | undefined;
  /** Of the message before. Most of a stream have the same ones, which cost more to read than the rest of a message. */
  #headerBytes: Uint8Array = new Uint8Array();
  #headers: ReadonlyMap<string, string> = new Map();

  constructor({ onMessage, messageBytesMax = MESSAGE_BYTES_MAX }: EventStreamParserOptions) {
    this.#onMessage = onMessage;
    this.#messageBytesMax = messageBytesMax;
  }

  push(chunk: Uint8Array): EventStreamFault | undefined {
    if (this.#fault !== undefined) return this.#fault;
    if (this.#heldBytes + chunk.length < this.#neededBytes) {
      this.#hold(chunk);
      return undefined;
    }
    const bytes =
      this.#heldBytes === 0
        ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
        : Buffer.concat([...this.#held, chunk]);
    this.#held = [];
    this.#heldBytes = 0;
    this.#fault = this.#read(bytes);
    return this.#fault;
  }

  #read(bytes: Buffer): EventStreamFault | undefined {
    let at = 0;
    for (;;) {
      const left = bytes.length - at;
      if (left < PRELUDE_BYTES) {
        this.#neededBytes = PRELUDE_BYTES;
        break;
      }
      if (bytes.readUInt32BE(at + PRELUDE_CRC_AT) !== crc32(bytes.subarray(at, at + PRELUDE_CRC_AT))) return 'corrupt';
      const length = bytes.readUInt32BE(at);
      if (length > this.#messageBytesMax) return 'too-large';
      if (left < length) {
        this.#neededBytes = length;
        break;
      }
      if (!this.#take(bytes.subarray(at, at + length))) return 'corrupt';
      at += length;
    }
    this.#hold(bytes.subarray(at));
    return undefined;
  }

  /** False for bytes that are no message. */
  #take(message: Buffer): boolean {
    const crcAt = message.length - CRC_BYTES;
    const payloadAt = message.length < PRELUDE_BYTES + CRC_BYTES ? crcAt + 1 : PRELUDE_BYTES + message.readUInt32BE(4);
    if (payloadAt > crcAt || message.readUInt32BE(crcAt) !== crc32(message.subarray(0, crcAt))) return false;
    const headerBytes = message.subarray(PRELUDE_BYTES, payloadAt);
    if (!headerBytes.equals(this.#headerBytes)) {
      const headers = readHeaders(headerBytes);
      if (headers === undefined) return false;
      this.#headers = headers;
      this.#headerBytes = Uint8Array.prototype.slice.call(headerBytes);
    }
    this.#onMessage({ headers: this.#headers, payload: message.subarray(payloadAt, crcAt) });
    return true;
  }

  #hold(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    // A copy, because the rest of the network buffer would stay in memory with it.
    this.#held.push(Uint8Array.prototype.slice.call(bytes));
    this.#heldBytes += bytes.length;
  }
}

/** `undefined` when a header runs over the end, or is of a type that does not exist. */
function readHeaders(bytes: Buffer): ReadonlyMap<string, string> | undefined {
  const headers = new Map<string, string>();
  let at = 0;
  while (at < bytes.length) {
    const nameAt = at + 1;
    const typeAt = nameAt + (bytes[at] ?? 0);
    const type = bytes[typeAt];
    if (type === undefined) return undefined;
    let valueAt = typeAt + 1;
    let length = VALUE_BYTES.get(type);
    if (type === TYPE_BYTES || type === TYPE_TEXT) {
      if (valueAt + 2 > bytes.length) return undefined;
      length = bytes.readUInt16BE(valueAt);
      valueAt += 2;
    }
    if (length === undefined || valueAt + length > bytes.length) return undefined;
    at = valueAt + length;
    if (type === TYPE_TEXT) headers.set(bytes.toString('utf8', nameAt, typeAt), bytes.toString('utf8', valueAt, at));
  }
  return headers;
}

/** Parses server-sent events from the bytes of a stream, however they are cut. */
export interface SseParser {
  /** Calls `onEvent` for every event that these bytes complete. @throws RangeError for an event over the limit */
  push(chunk: Uint8Array): void;
  /** Ends the stream: an event without its blank line counts too, as in lenient clients. */
  end(): void;
}

export interface SseParserOptions {
  /** `data` lines joined by newlines, and the `event` name where one was given. */
  readonly onEvent: (data: string, event: string | undefined) => void;
  /** Bound on the bytes of one event, so that an upstream without line ends cannot fill the memory. */
  readonly eventBytesMax?: number;
}

const EVENT_BYTES_MAX = 32 * 1024 * 1024;
const LF = 10;
const CR = 13;
const SPACE = 32;
const COLON = 58;
const BYTE_ORDER_MARK = 0xfeff;

/** The parser that suits every stream so far: see `SseParser` for what it promises. */
export function createSseParser(options: SseParserOptions): SseParser {
  return new LineParser(options);
}

/**
 * Bytes are decoded up to their last line end, which is always a character boundary, so that a character cut by two
 * reads is never broken (@spec stream-8). A `data` value that starts with `:` is a comment that some upstream wrapped
 * into data (@spec stream-9) and is dropped.
 * @source WHATWG HTML, "9.2.6 Interpreting an event stream"
 */
class LineParser implements SseParser {
  readonly #onEvent: SseParserOptions['onEvent'];
  readonly #eventBytesMax: number;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #eventBytes = 0;
  #data: string | undefined;
  #event: string | undefined;
  #endsInCr = false;
  #atStart = true;

  constructor({ onEvent, eventBytesMax = EVENT_BYTES_MAX }: SseParserOptions) {
    this.#onEvent = onEvent;
    this.#eventBytesMax = eventBytesMax;
  }

  push(chunk: Uint8Array): void {
    this.#eventBytes += chunk.length;
    const complete = lastLineEnd(chunk) + 1;
    if (complete === 0) {
      this.#hold(chunk);
    } else {
      this.#takeText(this.#heldBytes === 0 ? this.#decode(chunk, complete) : this.#decodeHeldAnd(chunk, complete));
      this.#hold(chunk.subarray(complete));
      if (this.#data === undefined) this.#eventBytes = this.#heldBytes;
    }
    if (this.#eventBytes > this.#eventBytesMax)
      throw new RangeError(`An event is larger than ${this.#eventBytesMax} bytes`);
  }

  end(): void {
    if (this.#heldBytes > 0) this.#takeText(`${this.#decodeHeldAnd(new Uint8Array(0), 0)}\n`);
    this.#dispatch();
  }

  #dispatch(): void {
    const data = this.#data;
    const event = this.#event;
    this.#data = undefined;
    this.#event = undefined;
    this.#eventBytes = 0;
    if (data !== undefined && data.charCodeAt(0) !== COLON) this.#onEvent(data, event);
  }

  #takeLine(line: string): void {
    if (line.startsWith('data:')) {
      const value = line.slice(line.charCodeAt(5) === SPACE ? 6 : 5);
      this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    } else if (line.startsWith('event:')) {
      this.#event = line.slice(line.charCodeAt(6) === SPACE ? 7 : 6);
    }
  }

  #takeText(text: string): void {
    let lines = this.#endsInCr && text.charCodeAt(0) === LF ? text.slice(1) : text;
    this.#endsInCr = text.charCodeAt(text.length - 1) === CR;
    if (lines.includes('\r')) lines = lines.replaceAll(/\r\n?/g, '\n');
    let from = 0;
    for (let to = lines.indexOf('\n'); to >= 0; to = lines.indexOf('\n', from)) {
      if (from === to) this.#dispatch();
      else if (this.#data === undefined && lines.charCodeAt(to + 1) === LF && lines.startsWith('data:', from)) {
        // Nearly all events: one line of data, and the blank line that ends it.
        this.#data = lines.slice(from + (lines.charCodeAt(from + 5) === SPACE ? 6 : 5), to++);
        this.#dispatch();
      } else this.#takeLine(lines.slice(from, to));
      from = to + 1;
    }
  }

  #decodeHeldAnd(chunk: Uint8Array, length: number): string {
    const joined = Buffer.concat([...this.#held, chunk.subarray(0, length)]);
    this.#held = [];
    this.#heldBytes = 0;
    return this.#decode(joined, joined.length);
  }

  #decode(bytes: Uint8Array, length: number): string {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('utf8');
    if (!this.#atStart) return text;
    this.#atStart = false;
    return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
  }

  #hold(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    // A copy, because the rest of the network buffer would stay in memory with it.
    this.#held.push(Uint8Array.prototype.slice.call(bytes));
    this.#heldBytes += bytes.length;
  }
}

function lastLineEnd(chunk: Uint8Array): number {
  for (let at = chunk.length - 1; at >= 0; at--) {
    const byte = chunk[at];
    if (byte === LF || byte === CR) return at;
  }
  return -1;
}

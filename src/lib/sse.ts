/** Reads server-sent events out of the bytes of a stream, however they are cut. */
export interface SseParser {
  /** Calls `onEvent` for every event that these bytes complete. @throws RangeError for an event over the limit */
  push(chunk: Uint8Array): void;
  /** The stream ended: an event without its blank line is given too, as lenient clients do. */
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

/**
 * Bytes are decoded up to their last line end, which is always a character boundary, so that a character cut by two
 * reads is never broken (pains.md 12). A `data` value that starts with `:` is a comment that some upstream wrapped
 * into data (pains.md 11) and is dropped.
 * @source WHATWG HTML, "9.2.6 Interpreting an event stream"
 */
export function createSseParser({ onEvent, eventBytesMax = EVENT_BYTES_MAX }: SseParserOptions): SseParser {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let eventBytes = 0;
  let data: string | undefined;
  let event: string | undefined;
  let endsInCr = false;
  let atStart = true;

  function dispatch(): void {
    const text = data;
    const name = event;
    data = undefined;
    event = undefined;
    eventBytes = 0;
    if (text !== undefined && text.charCodeAt(0) !== 58) onEvent(text, name);
  }

  function takeLine(line: string): void {
    if (line === '') {
      dispatch();
    } else if (line.startsWith('data:')) {
      const value = line.slice(line.charCodeAt(5) === 32 ? 6 : 5);
      data = data === undefined ? value : `${data}\n${value}`;
    } else if (line.startsWith('event:')) {
      event = line.slice(line.charCodeAt(6) === 32 ? 7 : 6);
    }
  }

  function takeText(text: string): void {
    let lines = text;
    if (endsInCr && lines.charCodeAt(0) === LF) lines = lines.slice(1);
    endsInCr = lines.charCodeAt(lines.length - 1) === CR;
    if (lines.includes('\r')) lines = lines.replace(/\r\n?/g, '\n');
    let from = 0;
    for (let to = lines.indexOf('\n'); to >= 0; to = lines.indexOf('\n', from)) {
      takeLine(from === to ? '' : lines.slice(from, to));
      from = to + 1;
    }
  }

  function decode(bytes: Uint8Array, length: number): string {
    let view = Buffer.from(bytes.buffer, bytes.byteOffset, length);
    if (atStart && length > 0) {
      atStart = false;
      if (view[0] === 0xef && view[1] === 0xbb && view[2] === 0xbf) view = view.subarray(3);
    }
    return view.toString('utf8');
  }

  function hold(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    // A copy, because the rest of the network buffer would stay in memory with it.
    held.push(Uint8Array.prototype.slice.call(bytes));
    heldBytes += bytes.length;
  }

  return {
    push(chunk) {
      eventBytes += chunk.length;
      const lineEnd = lastLineEnd(chunk);
      if (lineEnd < 0) {
        hold(chunk);
      } else {
        const complete = lineEnd + 1;
        if (heldBytes === 0) {
          takeText(decode(chunk, complete));
        } else {
          const joined = Buffer.concat([...held, chunk.subarray(0, complete)]);
          held = [];
          heldBytes = 0;
          takeText(decode(joined, joined.length));
        }
        hold(chunk.subarray(complete));
        if (eventBytes > heldBytes && data === undefined) eventBytes = heldBytes;
      }
      if (eventBytes > eventBytesMax) throw new RangeError(`An event is larger than ${eventBytesMax} bytes`);
    },
    end() {
      if (heldBytes > 0) {
        const rest = Buffer.concat(held);
        held = [];
        heldBytes = 0;
        takeText(`${decode(rest, rest.length)}\n`);
      }
      dispatch();
    },
  };
}

function lastLineEnd(chunk: Uint8Array): number {
  for (let at = chunk.length - 1; at >= 0; at--) {
    const byte = chunk[at];
    if (byte === LF || byte === CR) return at;
  }
  return -1;
}

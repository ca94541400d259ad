const LF = 10;
const CR = 13;
const DATA = Buffer.from('data:');
const SPACE = 32;

/**
 * Server-sent events of many megabytes each, whose data stays the bytes that came: as text they would be in memory twice.
 * The data of one event is joined once. A class because it lives as long as its stream.
 * @source WHATWG HTML, "9.2.6 Interpreting an event stream"
 */
export class SseBytes {
  readonly #eventBytesMax: number;
  #line: Uint8Array[] = [];
  #data: Buffer[] = [];
  /** Of the event that is not complete yet. */
  #bytes = 0;

  constructor(eventBytesMax: number) {
    this.#eventBytesMax = eventBytesMax;
  }

  /** Bytes of an event that is not complete. */
  get heldBytes(): number {
    return this.#bytes;
  }

  /** @returns the data of the events that these bytes complete @throws RangeError for an event over the limit */
  push(chunk: Uint8Array): readonly Buffer[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const events: Buffer[] = [];
    let from = 0;
    for (let to = bytes.indexOf(LF); to >= 0; to = bytes.indexOf(LF, from)) {
      this.#takeLine(bytes.subarray(from, to), events);
      from = to + 1;
    }
    if (from < bytes.length) {
      this.#bytes += bytes.length - from;
      this.#line.push(bytes.subarray(from));
    }
    if (this.#bytes > this.#eventBytesMax) throw new RangeError(`An event is larger than ${this.#eventBytesMax} bytes`);
    return events;
  }

  /** An event without its blank line counts, too, as in lenient clients. */
  end(): readonly Buffer[] {
    const events: Buffer[] = [];
    if (this.#line.length > 0) this.#takeLine(Buffer.alloc(0), events);
    this.#dispatch(events);
    return events;
  }

  #takeLine(rest: Buffer, events: Buffer[]): void {
    this.#bytes += rest.length;
    const joined = this.#line.length === 0 ? rest : Buffer.concat([...this.#line, rest]);
    this.#line = [];
    const line = joined.at(-1) === CR ? joined.subarray(0, -1) : joined;
    if (line.length === 0) this.#dispatch(events);
    else if (line.subarray(0, DATA.length).equals(DATA))
      this.#data.push(line.subarray(line[DATA.length] === SPACE ? DATA.length + 1 : DATA.length));
  }

  #dispatch(events: Buffer[]): void {
    const [first, ...more] = this.#data;
    this.#data = [];
    this.#bytes = 0;
    if (first === undefined) return;
    events.push(more.length === 0 ? first : Buffer.concat([first, ...more.flatMap((line) => [NEW_LINE, line])]));
  }
}

const NEW_LINE = Buffer.from('\n');

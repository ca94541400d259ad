/** One server-sent event. */
export interface ServerSentEvent {
  /** `message`, unless it is named. */
  readonly name: string;
  readonly id: string | undefined;
  readonly data: string;
}

/** An event that is longer breaks the stream off. */
const EVENT_CHARS_MAX = 16_000_000;

/** The events of a stream, as they arrive. @throws Error for an event without an end */
export async function* readServerSentEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<ServerSentEvent> {
  let rest = '';
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + piece).split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? '';
    if (rest.length > EVENT_CHARS_MAX) throw new Error('The stream sent an event that is too long.');
    for (const block of blocks) {
      const event = parseEvent(block);
      if (event !== undefined) yield event;
    }
  }
}

function parseEvent(block: string): ServerSentEvent | undefined {
  const data: string[] = [];
  let [name, id]: [string, string | undefined] = ['message', undefined];
  for (const line of block.split(/\r?\n/)) {
    const [, field, value = ''] = /^(event|id|data):? ?(.*)$/s.exec(line) ?? [];
    if (field === 'data') data.push(value);
    else if (field === 'event') name = value;
    else if (field === 'id') id = value;
  }
  return data.length === 0 ? undefined : { name, id, data: data.join('\n') };
}

import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { textOf } from '../../json-fields.ts';

/** One event of a stream as it was sent. */
export interface SentEvent {
  /** Without `response.` */
  readonly type: string;
  readonly number: number;
  readonly data: JsonObject;
  /** The whole frame. */
  readonly frame: string;
}

/** The events in frames that the gateway wrote; comments and `[DONE]` are none. */
export function parseEvents(frames: string): readonly SentEvent[] {
  return frames.split('\n\n').flatMap((frame) => {
    const data = /^data: (\{.*\})$/m.exec(frame)?.[1];
    if (data === undefined) return [];
    // The gateway wrote it.
    const parsed: Json = JSON.parse(data);
    if (!isJsonObject(parsed)) return [];
    const { type, sequence_number: number } = parsed;
    if (typeof type !== 'string' || typeof number !== 'number') return [];
    return [{ type: type.replace(/^response\./, ''), number, data: parsed, frame: `${frame}\n\n` }];
  });
}

/** Where the deltas of an event go: into a member of the item, or of a part of it. */
const DELTAS: Readonly<Record<string, { readonly member: string; readonly parts?: 'content' | 'summary' }>> = {
  'output_text.delta': { member: 'text', parts: 'content' },
  'refusal.delta': { member: 'refusal', parts: 'content' },
  'reasoning_text.delta': { member: 'text', parts: 'content' },
  'reasoning_summary_text.delta': { member: 'text', parts: 'summary' },
  'function_call_arguments.delta': { member: 'arguments' },
  'custom_tool_call_input.delta': { member: 'input' },
};
const PARTS: Readonly<Record<string, 'content' | 'summary'>> = {
  'content_part.added': 'content',
  'content_part.done': 'content',
  'reasoning_summary_part.added': 'summary',
  'reasoning_summary_part.done': 'summary',
};

/** An item, or a part of one, while it grows: texts and parts apart from what stays as it is. */
class Growing {
  #value: JsonObject;
  readonly #texts = new Map<string, string>();
  readonly #parts: Record<'content' | 'summary', Growing[]> = { content: [], summary: [] };
  readonly #annotations: Json[] = [];

  constructor(value: JsonObject) {
    this.#value = value;
  }

  add(member: string, text: string): void {
    this.#texts.set(member, (this.#texts.get(member) ?? textOf(this.#value[member]) ?? '') + text);
  }

  annotate(annotation: Json): void {
    this.#annotations.push(annotation);
  }

  part(list: 'content' | 'summary', index: number): Growing | undefined {
    return this.#parts[list][index];
  }

  setPart(list: 'content' | 'summary', index: number, value: JsonObject): void {
    this.#parts[list][index] = new Growing(value);
  }

  value(): JsonObject {
    const grown: Record<string, Json> = Object.fromEntries(this.#texts);
    for (const [list, parts] of Object.entries(this.#parts))
      if (parts.length > 0) grown[list] = parts.map((part) => part.value());
    if (this.#annotations.length > 0) grown['annotations'] = [...this.#annotations];
    return { ...this.#value, ...grown };
  }
}

/** What the events of a stream add up to so far, as a client of the format would have it. */
export class ResponseFold {
  /** The response of the latest event that holds one. */
  response: JsonObject | undefined;
  /** Of the latest event; -1: there was none. */
  lastNumber = -1;
  readonly #items: { readonly item: Growing; readonly isDone: boolean }[] = [];

  get hasItems(): boolean {
    return this.#items.length > 0;
  }

  push(events: readonly SentEvent[]): void {
    for (const event of events) this.#take(event);
  }

  /** @param unfinished the status of items that have not ended */
  output(unfinished: 'in_progress' | 'incomplete'): readonly JsonObject[] {
    return this.#items.map(({ item, isDone }) => (isDone ? item.value() : { ...item.value(), status: unfinished }));
  }

  #take({ type, number, data }: SentEvent): void {
    this.lastNumber = number;
    if (isJsonObject(data['response'])) this.response = data['response'];
    const { output_index: index, item } = data;
    if (typeof index !== 'number') return;
    if (isJsonObject(item)) this.#items[index] = { item: new Growing(item), isDone: type === 'output_item.done' };
    else if (this.#items[index] !== undefined) takePiece(this.#items[index].item, type, data);
  }
}

function takePiece(item: Growing, type: string, data: JsonObject): void {
  const parts = PARTS[type];
  if (parts !== undefined && isJsonObject(data['part'])) item.setPart(parts, indexOf(data, parts), data['part']);
  else if (type === 'output_text.annotation.added' && data['annotation'] !== undefined)
    item.part('content', indexOf(data, 'content'))?.annotate(data['annotation']);
  const grown = DELTAS[type];
  if (grown === undefined) return;
  const target = grown.parts === undefined ? item : item.part(grown.parts, indexOf(data, grown.parts));
  target?.add(grown.member, textOf(data['delta']) ?? '');
}

function indexOf(data: JsonObject, parts: 'content' | 'summary'): number {
  const index = data[parts === 'summary' ? 'summary_index' : 'content_index'];
  return typeof index === 'number' ? index : 0;
}

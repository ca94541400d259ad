import type { JsonObject } from '../../../lib/json.ts';
import { textOf } from '../../json-fields.ts';
import type { Lane } from './blocks-in.ts';

/** No response holds more items, and no item more parts; a stream of empty ones must not fill the memory. */
const ITEMS_MAX = 1_000;
const PARTS_MAX = 1_000;

/** A text of an item, as far as it has come. */
export interface Part {
  lane: Lane | undefined;
  /** What came of it, without what is put around it; `undefined`: too much to keep. */
  received: string | undefined;
  citations: number;
  hasLogprobs: boolean;
}

/** An item of the response, as far as it has come. */
export interface Item {
  readonly type: string;
  readonly position: number;
  id: string | undefined;
  callId: string | undefined;
  /** The phase of a message. */
  phase: string | undefined;
  readonly parts: Map<string, Part>;
  /** What is given once and whole (encrypted reasoning, a picture, an item that stays closed) has been given. */
  given: boolean;
  /** It was among the items that the finished response lists. */
  listed: boolean;
}

/** The part of a done event beyond the deltas; hosts that send no deltas put everything there. */
export function missingText({ received }: Part, full: string): string {
  return received !== undefined && full.startsWith(received) ? full.slice(received.length) : '';
}

export function partOf(item: Item, key: string): Part | undefined {
  const known = item.parts.get(key);
  if (known !== undefined || item.parts.size >= PARTS_MAX) return known;
  const part: Part = { lane: undefined, received: '', citations: 0, hasLogprobs: false };
  item.parts.set(key, part);
  return part;
}

/**
 * The items of one response. Their index in the output identifies them; where a host leaves it out, their id does. The
 * index comes first, because some hosts (GitHub Copilot) give an item another id with every event.
 */
export class ResponseItems {
  readonly #items: Item[] = [];
  readonly #byPosition = new Map<number, Item>();

  /** The item that an event is about. */
  find(event: JsonObject): Item | undefined {
    const position = event['output_index'];
    if (typeof position === 'number') return this.#byPosition.get(position);
    const id = textOf(event['item_id']);
    return id === undefined ? this.#items.at(-1) : this.#items.findLast((item) => item.id === id);
  }

  /** A new item in the place that an event names; `undefined` when there are too many. */
  create(type: string, event: JsonObject, wire: JsonObject): Item | undefined {
    if (this.#items.length >= ITEMS_MAX) return undefined;
    const given = event['output_index'];
    const position = typeof given === 'number' ? given : this.#items.length;
    const item: Item = {
      type,
      position,
      id: textOf(wire['id']) ?? textOf(event['item_id']),
      callId: textOf(wire['call_id']),
      phase: textOf(wire['phase']),
      parts: new Map(),
      given: false,
      listed: false,
    };
    this.#items.push(item);
    this.#byPosition.set(position, item);
    return item;
  }

  /**
   * The item that an entry of the finished response repeats. Its id may have changed on the way (OpenRouter), and so may
   * its place where the host lists only some: then it is the first of its kind that nothing has matched.
   */
  match(wire: JsonObject, position: number): Item | undefined {
    const type = textOf(wire['type']) ?? '';
    const [id, callId] = [textOf(wire['id']), textOf(wire['call_id'])];
    const candidates = this.#items.filter((item) => item.type === type && !item.listed);
    const item =
      candidates.find((candidate) => isSame(candidate.callId, callId)) ??
      candidates.find((candidate) => isSame(candidate.id, id)) ??
      candidates.find((candidate) => candidate.position === position) ??
      candidates[0];
    if (item !== undefined) item.listed = true;
    return item;
  }
}

function isSame(known: string | undefined, given: string | undefined): boolean {
  return given !== undefined && known === given;
}

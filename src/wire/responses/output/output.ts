import type { JsonObject } from '../../../lib/json.ts';
import type { EventFrames } from './event-frames.ts';

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed';

/** The item as it is so far. */
type FormatItem = (status: ItemStatus, id: string) => JsonObject;

/** One item of the output. Its place is that of its beginning among the others. */
export class OutputItem {
  readonly id: string;
  readonly index: number;
  readonly #frames: EventFrames;
  readonly #format: FormatItem;
  #done: JsonObject | undefined;

  constructor(id: string, index: number, frames: EventFrames, format: FormatItem) {
    this.id = id;
    this.index = index;
    this.#frames = frames;
    this.#format = format;
  }

  get isDone(): boolean {
    return this.#done !== undefined;
  }

  /** An event about the item. */
  event(type: string, members: JsonObject): string {
    return this.#frames.event(type, { item_id: this.id, output_index: this.index, ...members });
  }

  begin(): string {
    return this.#frames.event('output_item.added', {
      output_index: this.index,
      item: this.#format('in_progress', this.id),
    });
  }

  end(status: ItemStatus): string {
    if (this.#done !== undefined) return '';
    this.#done = this.#format(status, this.id);
    return this.#frames.event('output_item.done', { output_index: this.index, item: this.#done });
  }

  /** As the ended response lists it. */
  value(): JsonObject {
    return this.#done ?? this.#format('incomplete', this.id);
  }
}

const LEGAL_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** The items of one response, in the order in which they began. */
export class Output {
  readonly frames: EventFrames;
  /** Events that strict clients do not know may be written. */
  readonly isExtended: boolean;
  readonly #newId: (type: string) => string;
  readonly #items: OutputItem[] = [];
  readonly #ids = new Set<string>();

  /** @param newId a new id for an item of a type */
  constructor(frames: EventFrames, newId: (type: string) => string, isExtended = false) {
    this.frames = frames;
    this.isExtended = isExtended;
    this.#newId = newId;
  }

  /** The upstream's own id where it is legal and not taken yet, or a new one. @param isBound it is part of what is sealed */
  idFor(type: string, given?: string, isBound = false): string {
    const isKept = given !== undefined && given !== '' && !this.#ids.has(given) && (isBound || LEGAL_ID.test(given));
    const id = isKept ? given : this.#newId(type);
    this.#ids.add(id);
    return id;
  }

  /** The next item; `begin` announces it. */
  add(id: string, format: FormatItem): OutputItem {
    const item = new OutputItem(id, this.#items.length, this.frames, format);
    this.#items.push(item);
    return item;
  }

  get length(): number {
    return this.#items.length;
  }

  values(): readonly JsonObject[] {
    return this.#items.map((item) => item.value());
  }
}

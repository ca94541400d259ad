import type { Citation } from '../../../canonical/blocks.ts';
import type { Json, JsonObject } from '../../../lib/json.ts';
import { encodeAnnotation, isPlaceless } from './annotations.ts';
import type { BlockAddition, BlockTarget } from './block-target.ts';
import type { DeltaFrames } from './event-frames.ts';
import { encodeLogprobs, logprobsOf } from './logprobs-out.ts';
import type { Output, OutputItem } from './output.ts';

/** Sources of one text; further ones are left out. */
const SOURCES_MAX = 1_000;
const NO_ENTRIES: readonly JsonObject[] = [];
const NO_LOGPROBS = ',"logprobs":[]';

export interface PartOptions {
  readonly kind: 'text' | 'refusal';
  /** Where its text begins in the text of the whole response, where citations count from. */
  readonly textStart: number;
  readonly showsLogprobs: boolean;
}

/** A message of the model. It begins with its first text and ends when another item does, because sources come late. */
export class MessageItem {
  readonly phase: string | undefined;
  readonly #output: Output;
  readonly #parts: MessagePart[] = [];
  #item: OutputItem | undefined;

  constructor(output: Output, phase: string | undefined) {
    this.#output = output;
    this.phase = phase;
  }

  get isBegun(): boolean {
    return this.#item !== undefined;
  }

  /** A part that begins with its first text. */
  createPart(options: PartOptions): MessagePart {
    return new MessagePart(options, (part) => this.#beginPart(part));
  }

  /** The part that takes text and sources. */
  get openPart(): MessagePart | undefined {
    const last = this.#parts.at(-1);
    return last?.isOpen === true ? last : undefined;
  }

  end(status: 'completed' | 'incomplete'): string {
    if (this.#item === undefined) return '';
    return (this.openPart?.close() ?? '') + this.#item.end(status);
  }

  #beginPart(part: MessagePart): { readonly frames: string; readonly place: PartPlace } {
    const { frames } = this.#output;
    let written = this.openPart?.close() ?? '';
    if (this.#item === undefined) {
      this.#item = this.#output.add(this.#output.idFor('message'), (status, id) => this.#format(status, id));
      written += this.#item.begin();
    }
    const item = this.#item;
    const contentIndex = this.#parts.push(part) - 1;
    const members = { item_id: item.id, output_index: item.index, content_index: contentIndex };
    const deltas =
      part.kind === 'text'
        ? frames.deltas('output_text.delta', members, NO_LOGPROBS)
        : frames.deltas('refusal.delta', members, '');
    return { frames: written, place: { item, contentIndex, deltas } };
  }

  #format(status: string, id: string): JsonObject {
    return {
      id,
      type: 'message',
      role: 'assistant',
      status,
      content: this.#parts.map((part) => part.value()),
      ...(this.phase !== undefined && { phase: this.phase }),
    };
  }
}

interface PartPlace {
  readonly item: OutputItem;
  readonly contentIndex: number;
  readonly deltas: DeltaFrames;
}

type BeginPart = (part: MessagePart) => { readonly frames: string; readonly place: PartPlace };

/** A text or refusal, which is one block. */
export class MessagePart implements BlockTarget {
  readonly kind: PartOptions['kind'];
  readonly #textStart: number;
  readonly #showsLogprobs: boolean;
  readonly #begin: BeginPart;
  #place: PartPlace | undefined;
  /** While the part is open. */
  #deltas: DeltaFrames | undefined;
  #text = '';
  #isClosed = false;
  readonly #annotations: JsonObject[] = [];
  readonly #logprobs: Json[] = [];
  /** Sources that name no place stand on the whole text, whose end is not known before it has come. */
  readonly #waiting: Citation[] = [];
  /** Sources of the whole response, which stand behind the others. */
  readonly #further: Citation[] = [];

  constructor({ kind, textStart, showsLogprobs }: PartOptions, begin: BeginPart) {
    this.kind = kind;
    this.#textStart = textStart;
    this.#showsLogprobs = showsLogprobs;
    this.#begin = begin;
  }

  get isOpen(): boolean {
    return this.#place !== undefined && !this.#isClosed;
  }

  get chars(): number {
    return this.#text.length;
  }

  add({ text, extra }: BlockAddition): string {
    if (this.#deltas === undefined || text === undefined || text === '' || this.#showsLogprobs)
      return this.write(text ?? '', this.#showsLogprobs ? logprobsOf(extra) : NO_ENTRIES);
    this.#text += text;
    return this.#deltas(text);
  }

  write(text: string, logprobs: readonly JsonObject[] = NO_ENTRIES): string {
    if (this.#isClosed || (text === '' && logprobs.length === 0)) return '';
    if (this.#place === undefined) return this.#open() + this.write(text, logprobs);
    this.#text += text;
    if (logprobs.length === 0) return this.#place.deltas(text);
    this.#logprobs.push(...logprobs);
    if (text === '') return '';
    return this.#place.deltas(text, `,"logprobs":${JSON.stringify(encodeLogprobs(logprobs))}}\n\n`);
  }

  #open(): string {
    const { frames, place } = this.#begin(this);
    this.#place = place;
    this.#deltas = place.deltas;
    const { item, contentIndex } = place;
    return frames + item.event('content_part.added', { content_index: contentIndex, part: this.value() });
  }

  /** The block is complete, but its sources may still come. */
  end(): string {
    return '';
  }

  cite(citation: Citation): string {
    if (!this.#mayCite()) return '';
    if (this.#place !== undefined && !isPlaceless(citation)) return this.#annotate(citation);
    this.#waiting.push(citation);
    return '';
  }

  /** A source of the whole response. */
  citeWhole(citation: Citation): void {
    if (this.#mayCite()) this.#further.push(citation);
  }

  #mayCite(): boolean {
    const known = this.#annotations.length + this.#waiting.length + this.#further.length;
    return !this.#isClosed && this.kind === 'text' && known < SOURCES_MAX;
  }

  /** Sources for the next text: this one stayed empty. */
  takeUnused(): readonly Citation[] {
    return this.#place === undefined ? this.#further.splice(0) : [];
  }

  /** Says nothing, and shows that the stream lives. */
  heartbeat(): string {
    return this.#place?.deltas('') ?? '';
  }

  close(): string {
    const place = this.#place;
    if (place === undefined || this.#isClosed) return '';
    let frames = '';
    for (const citation of [...this.#waiting, ...this.#further]) frames += this.#annotate(citation);
    this.#isClosed = true;
    this.#deltas = undefined;
    const { item, contentIndex } = place;
    const at = { content_index: contentIndex };
    frames +=
      this.kind === 'text'
        ? item.event('output_text.done', { ...at, text: this.#text, logprobs: encodeLogprobs(this.#logprobs) })
        : item.event('refusal.done', { ...at, refusal: this.#text });
    return frames + item.event('content_part.done', { ...at, part: this.value() });
  }

  value(): JsonObject {
    if (this.kind === 'refusal') return { type: 'refusal', refusal: this.#text };
    return {
      type: 'output_text',
      text: this.#text,
      annotations: [...this.#annotations],
      logprobs: [...this.#logprobs],
    };
  }

  #annotate(citation: Citation): string {
    const annotation = encodeAnnotation(citation, this.#textStart, this.#text.length);
    if (annotation === undefined || this.#place === undefined) return '';
    const { item, contentIndex } = this.#place;
    const annotationIndex = this.#annotations.push(annotation) - 1;
    return item.event('output_text.annotation.added', {
      content_index: contentIndex,
      annotation_index: annotationIndex,
      annotation,
    });
  }
}

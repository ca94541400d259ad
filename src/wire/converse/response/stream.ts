import type { Block, ReasoningFamily } from '../../../canonical/blocks.ts';
import { transportFailure } from '../../../canonical/failure/classify-failure.ts';
import type { EventBatch, GenerationEvent } from '../../../canonical/events.ts';
import type { UpstreamFailure } from '../../../canonical/failure/failure.ts';
import { createEventStreamParser, type EventStreamMessage } from './aws-event-stream.ts';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../../../lib/json.ts';
import type { Dialect, StreamDecoder } from '../../format.ts';
import { familyOf, decodeBlock, decodeCall } from './content.ts';
import { decodeCitation } from '../citations.ts';
import { failureOfException } from './error.ts';
import { addPiece, assembleBlock, BUFFERED_CHARS_MAX, openBuffer, type BufferedBlock } from './buffered-block.ts';
import { metadataEvents } from './metadata-events.ts';
import { endEvent } from './finish-reason.ts';
import { objectAt, textOf } from '../../json-fields.ts';

/** Skipped events beyond it are not reported. */
const WARNINGS_MAX = 20;

type BlockKind = 'text' | 'reasoning' | 'tool';

/** A block that the caller sees growing. */
interface OpenBlock {
  readonly kind: BlockKind;
  /** Dense from 0, whatever the upstream counts. */
  readonly index: number;
  gotInput: boolean;
}

/**
 * Reads a ConverseStream. Text and reasoning have no opening of their own: their first delta is it, and an empty one
 * opens nothing. The reason to stop comes before the usage, so the end waits for the last event.
 * @source AWS SDK `ConverseStreamOutput`, 3.1162 (2026-11); @spec stream-8
 */
export class ConverseStreamDecoder implements StreamDecoder {
  #batch: GenerationEvent[] = [];
  #over = false;
  #started = false;
  #nextIndex = 0;
  /** By the upstream's index. Beside an open call stand only calls. */
  readonly #open = new Map<number, OpenBlock>();
  /** A block that can only be given complete. */
  #buffered: { readonly wireIndex: number; readonly block: BufferedBlock } | undefined;
  #stop: { readonly reason: string | undefined; readonly fields: Json | undefined } | undefined;
  #gotMetadata = false;
  #warnings = 0;
  readonly #family: ReasoningFamily;
  readonly #parser = createEventStreamParser({ onMessage: (message) => this.#take(message) });

  constructor(dialect?: Dialect) {
    this.#family = familyOf(dialect);
  }

  push(chunk: Uint8Array): EventBatch {
    if (!this.#over) {
      const fault = this.#parser.push(chunk);
      if (fault !== undefined) this.#breakOff(transportFailure(fault === 'corrupt' ? 'garbage' : fault));
    }
    return this.#flush();
  }

  end(): EventBatch {
    this.#breakOff(transportFailure('early-end'));
    return this.#flush();
  }

  /** After a reason to stop only the counts can be missing (@spec stream-10). */
  #breakOff(failure: UpstreamFailure): void {
    if (this.#stop === undefined) this.#fail(failure);
    else this.#finish();
  }

  #flush(): EventBatch {
    const batch = this.#batch;
    this.#batch = [];
    return batch;
  }

  #take({ headers, payload }: EventStreamMessage): void {
    if (this.#over) return;
    const text = Buffer.from(payload.buffer, payload.byteOffset, payload.length).toString('utf8');
    switch (headers.get(':message-type') ?? 'event') {
      case 'exception':
        this.#fail(failureOfException(headers.get(':exception-type'), text));
        return;
      case 'error':
        this.#fail(failureOfException(headers.get(':error-code'), headers.get(':error-message') ?? text));
        return;
      default:
        this.#takeEvent(headers.get(':event-type') ?? '', parseJson(text));
    }
  }

  #takeEvent(type: string, event: Json | undefined): void {
    if (!isJsonObject(event)) {
      this.#warn('an event was not a JSON object');
      return;
    }
    switch (type) {
      case 'contentBlockDelta':
        this.#takeDelta(event);
        return;
      case 'contentBlockStart':
        this.#startBlock(event);
        return;
      case 'contentBlockStop':
        this.#close(this.#wireIndexOf(event));
        return;
      case 'messageStart':
        this.#ensureStarted();
        return;
      case 'messageStop':
        this.#stopMessage(event);
        return;
      case 'metadata':
        this.#takeMetadata(event);
        return;
      default:
        this.#warn(`an event of the type ${JSON.stringify(type.slice(0, 80))} is not known`);
    }
  }

  #ensureStarted(): void {
    if (this.#started) return;
    this.#started = true;
    this.#batch.push({ type: 'start', format: 'converse' });
  }

  #wireIndexOf(event: JsonObject): number {
    const index = event['contentBlockIndex'];
    return typeof index === 'number' ? index : this.#nextIndex;
  }

  #startBlock(event: JsonObject): void {
    const wireIndex = this.#wireIndexOf(event);
    const start = objectAt(event, 'start');
    const { toolUse, toolResult, image } = start;
    if (isJsonObject(toolUse)) this.#openBlock(wireIndex, 'tool', decodeCall(toolUse, ''));
    else if (isJsonObject(toolResult)) this.#buffer(wireIndex, openBuffer('toolResult', toolResult));
    else if (isJsonObject(image)) this.#buffer(wireIndex, openBuffer('image', image));
    else if (Object.keys(start).length > 0) this.#warn('a content block of an unknown kind was left out');
  }

  #takeDelta(event: JsonObject): void {
    const wireIndex = this.#wireIndexOf(event);
    const { text, toolUse, reasoningContent, citation, toolResult, image } = objectAt(event, 'delta');
    if (typeof text === 'string') this.#pushText(wireIndex, text);
    else if (isJsonObject(toolUse)) this.#pushInput(wireIndex, textOf(toolUse['input']) ?? '');
    else if (isJsonObject(reasoningContent)) this.#pushReasoning(wireIndex, reasoningContent);
    else if (isJsonObject(citation)) this.#pushCitation(wireIndex, citation);
    else if (Array.isArray(toolResult)) this.#pushPieces(wireIndex, 'toolResult', toolResult);
    else if (isJsonObject(image)) this.#pushPieces(wireIndex, 'image', [objectAt(image, 'source')['bytes'] ?? null]);
    else this.#warn('a delta of an unknown kind was left out');
  }

  #pushText(wireIndex: number, text: string): void {
    if (text === '') return;
    this.#pushDelta(this.#ensureOpen(wireIndex, 'text', { type: 'text', text: '' }), text, undefined);
  }

  #pushInput(wireIndex: number, input: string): void {
    const open = this.#open.get(wireIndex);
    if (open?.kind !== 'tool') {
      this.#warn('the input of a tool belonged to no call');
      return;
    }
    if (input === '') return;
    open.gotInput = true;
    this.#pushDelta(open, input, undefined);
  }

  #pushReasoning(wireIndex: number, reasoning: JsonObject): void {
    const text = textOf(reasoning['text']) ?? '';
    const signature = textOf(reasoning['signature']) ?? '';
    const blob = textOf(reasoning['redactedContent']);
    if (blob !== undefined) {
      if (this.#buffered?.wireIndex !== wireIndex) this.#buffer(wireIndex, openBuffer('redactedContent', {}));
      this.#pushPieces(wireIndex, 'redactedContent', [blob]);
      return;
    }
    if (text === '' && signature === '') return;
    const open = this.#ensureOpen(wireIndex, 'reasoning', {
      type: 'reasoning',
      form: 'text',
      text: '',
      family: this.#family,
    });
    if (text !== '') this.#pushDelta(open, text, undefined);
    if (signature !== '') this.#pushDelta(open, undefined, signature);
  }

  #pushCitation(wireIndex: number, citation: JsonObject): void {
    // The source comes before the text that rests on it.
    const { index } = this.#ensureOpen(wireIndex, 'text', { type: 'text', text: '' });
    this.#batch.push({ type: 'citation', index, citation: decodeCitation(citation) });
  }

  #pushDelta({ index }: OpenBlock, text: string | undefined, signature: string | undefined): void {
    this.#batch.push({
      type: 'block-delta',
      index,
      text,
      signature,
      value: undefined,
      frame: undefined,
      extra: undefined,
    });
  }

  #buffer(wireIndex: number, block: BufferedBlock): void {
    this.#closeAll();
    this.#buffered = { wireIndex, block };
  }

  #pushPieces(wireIndex: number, kind: BufferedBlock['kind'], pieces: readonly Json[]): void {
    const buffered = this.#buffered;
    if (buffered?.wireIndex !== wireIndex || buffered.block.kind !== kind) {
      this.#warn('a delta belonged to no block');
      return;
    }
    for (const piece of pieces) addPiece(buffered.block, piece);
    if (buffered.block.chars > BUFFERED_CHARS_MAX) this.#fail(transportFailure('too-large'));
  }

  #ensureOpen(wireIndex: number, kind: 'text' | 'reasoning', block: Block): OpenBlock {
    const open = this.#open.get(wireIndex);
    return open?.kind === kind ? open : this.#openBlock(wireIndex, kind, block);
  }

  #openBlock(wireIndex: number, kind: BlockKind, block: Block): OpenBlock {
    this.#ensureStarted();
    const [beside] = this.#open.values();
    const sharesRoom = kind === 'tool' && beside?.kind === 'tool' && !this.#open.has(wireIndex);
    if (!sharesRoom) this.#closeAll();
    const open: OpenBlock = { kind, index: this.#nextIndex++, gotInput: false };
    this.#open.set(wireIndex, open);
    this.#batch.push({ type: 'block-start', index: open.index, block });
    return open;
  }

  #closeAll(): void {
    for (const wireIndex of this.#open.keys()) this.#close(wireIndex);
    if (this.#buffered !== undefined) this.#close(this.#buffered.wireIndex);
  }

  #close(wireIndex: number): void {
    const open = this.#open.get(wireIndex);
    if (open !== undefined) {
      this.#open.delete(wireIndex);
      // A tool without arguments streams none: every format wants an object in the end.
      if (open.kind === 'tool' && !open.gotInput) this.#pushDelta(open, '{}', undefined);
      this.#batch.push({ type: 'block-end', index: open.index });
    }
    if (this.#buffered?.wireIndex === wireIndex) this.#emitBuffered(this.#buffered.block);
  }

  #emitBuffered(buffered: BufferedBlock): void {
    this.#buffered = undefined;
    const block = decodeBlock(assembleBlock(buffered), this.#family);
    if (block === undefined) return;
    this.#ensureStarted();
    const index = this.#nextIndex++;
    this.#batch.push({ type: 'block-start', index, block }, { type: 'block-end', index });
  }

  #stopMessage(event: JsonObject): void {
    this.#ensureStarted();
    this.#closeAll();
    this.#stop = { reason: textOf(event['stopReason']) || undefined, fields: event['additionalModelResponseFields'] };
    if (this.#gotMetadata) this.#finish();
  }

  #takeMetadata(event: JsonObject): void {
    this.#ensureStarted();
    this.#gotMetadata = true;
    this.#batch.push(...metadataEvents(event));
    if (this.#stop !== undefined) this.#finish();
  }

  #finish(): void {
    if (this.#over) return;
    this.#over = true;
    this.#ensureStarted();
    this.#closeAll();
    this.#batch.push(endEvent(this.#stop?.reason, this.#stop?.fields));
  }

  #fail(failure: UpstreamFailure): void {
    if (this.#over) return;
    this.#over = true;
    this.#batch.push({ type: 'failed', failure });
  }

  #warn(message: string): void {
    if (++this.#warnings > WARNINGS_MAX) return;
    this.#ensureStarted();
    this.#batch.push({ type: 'warning', warning: { code: 'event-skipped', path: 'stream', message } });
  }
}

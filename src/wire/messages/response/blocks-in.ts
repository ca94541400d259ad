import type { Block } from '../../../canonical/blocks.ts';
import type { DeltaFrame, EventBatch, GenerationEvent } from '../../../canonical/events.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { textOf } from '../../json-fields.ts';
import { decodeCitation } from '../citations.ts';
import { decodeBlock } from './content-in.ts';
import type { PlainDelta } from './plain-chunk.ts';

type BlockKind = PlainDelta['kind'] | 'opaque';

interface OpenBlock {
  readonly wireIndex: number;
  /** Dense from 0, whatever the upstream counts. */
  readonly index: number;
  readonly kind: BlockKind;
  /** Input that came with the opening; it counts only when no delta brings any. */
  readonly inputAtStart: Json | undefined;
  gotInput: boolean;
}

/** What the blocks need of the message that they are part of. */
export interface OpenMessage {
  /** The start is the first event of all. */
  ensureStarted(): void;
  warn(message: string): void;
}

/** Decodes the blocks of one stream, and keeps the events until they are taken. */
export class BlockReader {
  readonly #message: OpenMessage;
  #batch: GenerationEvent[] = [];
  #nextIndex = 0;
  #open: OpenBlock | undefined;
  /** Tool calls that stand open beside the current one. Only hosts that translate from chat do that. */
  readonly #beside: OpenBlock[] = [];

  constructor(message: OpenMessage) {
    this.#message = message;
  }

  emit(event: GenerationEvent): void {
    this.#batch.push(event);
  }

  /** The events since the last time. */
  take(): EventBatch {
    const batch = this.#batch;
    this.#batch = [];
    return batch;
  }

  /** A block that comes whole. */
  add(block: Block): void {
    const index = this.#nextIndex++;
    this.emit({ type: 'block-start', index, block });
    this.emit({ type: 'block-end', index });
  }

  /** The hot path: more of the block that is open. False for anything else. */
  takePlain({ kind, wireIndex, text }: PlainDelta, data: string): boolean {
    const open = this.#open;
    if (open?.wireIndex !== wireIndex || open.kind !== kind) return false;
    this.#pushPlain(open, text, data);
    return true;
  }

  start(event: JsonObject): void {
    const block = event['content_block'];
    if (!isJsonObject(block)) {
      this.#message.warn('a content_block_start had no content_block');
      return;
    }
    const kind = kindOf(block['type']);
    const wireIndex = typeof event['index'] === 'number' ? event['index'] : this.#nextIndex;
    this.#makeRoom(wireIndex, kind);
    this.#openBlock({ wireIndex, kind, inputAtStart: kind === 'tool' ? block['input'] : undefined }, block);
  }

  /** Ends whatever may not stay open beside a new block. */
  #makeRoom(wireIndex: number, kind: BlockKind): void {
    const open = this.#open;
    // Beside a call stand only calls, so the current block stands for all.
    const shares = kind === 'tool' && (open === undefined || open.kind === 'tool');
    if (!shares || this.#find(wireIndex) !== undefined) {
      this.closeAll();
    } else if (open !== undefined) {
      this.#beside.push(open);
      this.#open = undefined;
    }
  }

  #openBlock(given: Pick<OpenBlock, 'wireIndex' | 'kind' | 'inputAtStart'>, block: JsonObject): OpenBlock {
    this.#message.ensureStarted();
    const index = this.#nextIndex++;
    const open: OpenBlock = { ...given, index, gotInput: false };
    this.#open = open;
    this.emit({ type: 'block-start', index, block: decodeBlock(block, '') });
    return open;
  }

  takeDelta(event: JsonObject, data: string | undefined): void {
    const delta = event['delta'];
    if (!isJsonObject(delta)) {
      this.#message.warn('a content_block_delta had no delta');
      return;
    }
    const wireIndex = event['index'];
    switch (textOf(delta['type']) ?? '') {
      case 'text_delta':
        this.#pushText('text', wireIndex, delta['text'], delta, data);
        return;
      case 'input_json_delta':
        this.#pushText('tool', wireIndex, delta['partial_json'], delta, data);
        return;
      case 'thinking_delta':
        this.#pushText('thinking', wireIndex, delta['thinking'], delta, data);
        return;
      case 'signature_delta':
        this.#pushSignature(wireIndex, delta['signature'], data);
        return;
      case 'citations_delta':
        this.#pushCitation(wireIndex, delta);
        return;
      default:
        this.#pushValue(wireIndex, delta, data);
    }
  }

  #pushText(
    kind: BlockKind,
    wireIndex: Json | undefined,
    text: Json | undefined,
    delta: JsonObject,
    data: string | undefined,
  ): void {
    let open = this.#find(wireIndex);
    if (open?.kind === 'opaque') {
      this.#pushValue(wireIndex, delta, data);
      return;
    }
    if (open?.kind !== kind) open = this.#openImplied(kind, wireIndex);
    if (open === undefined || typeof text !== 'string') {
      this.#message.warn('a delta did not fit its block');
      return;
    }
    this.#pushPlain(open, text, data);
  }

  #pushPlain(open: OpenBlock, text: string, data: string | undefined): void {
    if (text !== '') open.gotInput = true;
    this.emit({
      type: 'block-delta',
      index: open.index,
      text,
      signature: undefined,
      value: undefined,
      frame: frameOf(open, data),
      extra: undefined,
    });
  }

  /** Text and thinking may be missing their opening, or stand in the wrong block (@spec stream-23); a tool has a name. */
  #openImplied(kind: BlockKind, wireIndex: Json | undefined): OpenBlock | undefined {
    if (kind === 'tool' || typeof wireIndex !== 'number' || this.#beside.length > 0) return undefined;
    if (this.#open !== undefined && this.#open.wireIndex !== wireIndex) return undefined;
    this.closeAll();
    const block: JsonObject = kind === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '' };
    return this.#openBlock({ wireIndex, kind, inputAtStart: undefined }, block);
  }

  #pushSignature(wireIndex: Json | undefined, signature: Json | undefined, data: string | undefined): void {
    const open = this.#find(wireIndex);
    if (open?.kind !== 'thinking' || typeof signature !== 'string') {
      this.#message.warn('a signature did not fit its block');
      return;
    }
    this.emit({
      type: 'block-delta',
      index: open.index,
      text: undefined,
      signature,
      value: undefined,
      frame: frameOf(open, data),
      extra: undefined,
    });
  }

  #pushCitation(wireIndex: Json | undefined, delta: JsonObject): void {
    const open = this.#find(wireIndex);
    const citation = delta['citation'];
    if (open?.kind !== 'text' || !isJsonObject(citation)) this.#message.warn('a citation did not fit its block');
    else this.emit({ type: 'citation', index: open.index, citation: decodeCitation(citation) });
  }

  /** A delta that only this format knows. */
  #pushValue(wireIndex: Json | undefined, value: JsonObject, data: string | undefined): void {
    const open = this.#find(wireIndex);
    if (open === undefined) {
      this.#message.warn('a delta belonged to no block');
      return;
    }
    this.emit({
      type: 'block-delta',
      index: open.index,
      text: undefined,
      signature: undefined,
      value,
      frame: frameOf(open, data),
      extra: undefined,
    });
  }

  #find(wireIndex: Json | undefined): OpenBlock | undefined {
    if (this.#open?.wireIndex === wireIndex) return this.#open;
    return this.#beside.find((open) => open.wireIndex === wireIndex);
  }

  stop(wireIndex: Json | undefined): void {
    const open = this.#find(wireIndex);
    if (open === undefined) return;
    this.#close(open);
    if (open === this.#open) this.#open = undefined;
    else this.#beside.splice(this.#beside.indexOf(open), 1);
  }

  closeAll(): void {
    for (const open of this.#beside.splice(0)) this.#close(open);
    if (this.#open !== undefined) this.#close(this.#open);
    this.#open = undefined;
  }

  /** A tool without arguments streams none, or the empty text: every format wants an object in the end. */
  #close({ index, kind, gotInput, inputAtStart }: OpenBlock): void {
    if (kind === 'tool' && !gotInput) {
      const text = JSON.stringify(inputAtStart ?? {});
      this.emit({
        type: 'block-delta',
        index,
        text,
        signature: undefined,
        value: undefined,
        frame: undefined,
        extra: undefined,
      });
    }
    this.emit({ type: 'block-end', index });
  }
}

function kindOf(type: Json | undefined): BlockKind {
  if (type === 'text' || type === 'thinking') return type;
  return type === 'tool_use' || type === 'server_tool_use' ? 'tool' : 'opaque';
}

/** An event may be written again as it is when its index stays true and it fits on one `data:` line. */
function frameOf({ wireIndex, index }: OpenBlock, data: string | undefined): DeltaFrame | undefined {
  return wireIndex === index && data?.includes('\n') === false ? { head: data, json: '', tail: '' } : undefined;
}

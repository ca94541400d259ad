import { transportFailure } from '../../../canonical/failure/classify-failure.ts';
import type { EventBatch, GenerationEvent, WarningEvent } from '../../../canonical/events.ts';
import type { UpstreamFailure } from '../../../canonical/failure/failure.ts';
import { totalCount } from '../../../canonical/usage.ts';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../../../lib/json.ts';
import { createSseParser } from '../../../lib/net/sse.ts';
import type { StreamDecoder } from '../../format.ts';
import { explanationOf, decodeBlock, decodeMessageExtra } from './content-in.ts';
import { decodeCitation } from '../citations.ts';
import { parsePlainDelta } from './plain-chunk.ts';
import { END_DELTA, endEvent } from './finish-reason.ts';
import { failureOfErrorObject } from './error-in.ts';
import { mergeUsage, decodeUsage } from './usage.ts';
import { textOf, type WireObject } from '../../json-fields.ts';
import { extraOf } from '../extra.ts';

/** Skipped events beyond it are not told one by one. */
const WARNINGS_MAX = 20;

const DELTA_MEMBERS: ReadonlySet<string> = new Set(['stop_reason', 'stop_sequence', 'stop_details', 'container']);
const DELTA_EVENT_MEMBERS: ReadonlySet<string> = new Set(['type', 'delta', 'usage']);

type BlockKind = 'text' | 'thinking' | 'tool' | 'opaque';

interface OpenBlock {
  readonly wireIndex: number;
  /** Dense from 0, whatever the upstream counts. */
  readonly index: number;
  readonly kind: BlockKind;
  /** Input that came with the opening; it counts only when no delta brings any. */
  readonly inputAtStart: Json | undefined;
  gotInput: boolean;
}

/**
 * Reads a messages stream. Lenient with what hosts of the format get wrong: a second `message_start`, missing stops,
 * deltas that their block cannot hold, events that are not JSON.
 * @spec stream-23; vendor docs, "Streaming messages", read 2026-11
 */
export class MessagesStreamDecoder implements StreamDecoder {
  #batch: GenerationEvent[] = [];
  #over = false;
  #started = false;
  #nextIndex = 0;
  #open: OpenBlock | undefined;
  /** Tool calls that stand open beside the current one. Only hosts that translate from chat do that. */
  readonly #beside: OpenBlock[] = [];
  #usage: JsonObject | undefined;
  /** The closing `message_delta` has counted what was written; `message_start` only holds a place for that. */
  #countedOutput = false;
  #stopReason: string | undefined;
  #stopSequence: string | undefined;
  #endFields: WireObject = {};
  /** Members of the closing `delta` that nothing here names. */
  #deltaFields: WireObject = {};
  #warnings = 0;
  /** What was skipped before the answer began: the start is the first event of all. */
  readonly #early: WarningEvent[] = [];
  readonly #parser = createSseParser({ onEvent: (data, name) => this.#take(data, name) });

  push(chunk: Uint8Array): EventBatch {
    this.#feed(() => this.#parser.push(chunk));
    return this.#flush();
  }

  isComplete(): boolean {
    return this.#countedOutput && this.#stopReason !== undefined;
  }

  end(): EventBatch {
    this.#feed(() => this.#parser.end());
    // A reason to stop has been given: what is missing is only the farewell (@spec stream-10).
    if (this.#stopReason !== undefined) this.#finish();
    else this.#fail(transportFailure('early-end'));
    return this.#flush();
  }

  #feed(parse: () => void): void {
    if (this.#over) return;
    try {
      parse();
    } catch (error) {
      // An event over the parser's bound, or one nested too deeply to be written again.
      if (!(error instanceof RangeError)) throw error;
      this.#fail(transportFailure('too-large'));
    }
  }

  #flush(): EventBatch {
    const batch = this.#batch;
    this.#batch = [];
    return batch;
  }

  #take(data: string, name: string | undefined): void {
    if (this.#over) return;
    // The hot path: most events of most streams end here.
    const plain = parsePlainDelta(data);
    if (plain !== undefined && this.#open?.wireIndex === plain.wireIndex && this.#open.kind === plain.kind) {
      this.#pushPlain(this.#open, plain.text, data);
      return;
    }
    const event = parseJson(data);
    if (!isJsonObject(event)) {
      if (data !== '[DONE]') this.#warn('an event was not a JSON object');
      return;
    }
    switch (textOf(event['type']) ?? name ?? '') {
      case 'content_block_delta':
        // Where the event's name stands for a missing type, clients that read only the data need one written.
        this.#takeDelta(event, event['type'] === 'content_block_delta' ? data : undefined);
        return;
      case 'content_block_start':
        this.#startBlock(event);
        return;
      case 'content_block_stop':
        this.#stopBlock(event['index']);
        return;
      case 'message_start':
        this.#startMessage(event['message']);
        return;
      case 'message_delta':
        this.#takeMessageDelta(event);
        return;
      case 'message_stop':
        this.#finish();
        return;
      case 'ping':
        return;
      case 'error':
        this.#fail(failureOfErrorObject(event));
        return;
      default:
        if (isJsonObject(event['error'])) this.#fail(failureOfErrorObject(event));
        else
          this.#warn(`an event of the type ${JSON.stringify(event['type'] ?? name ?? null).slice(0, 80)} is not known`);
    }
  }

  #startMessage(message: Json | undefined): void {
    const given = isJsonObject(message) ? message : {};
    if (!this.#started) {
      this.#started = true;
      const id = textOf(given['id']);
      const model = textOf(given['model']);
      this.#batch.push({
        type: 'start',
        format: 'messages',
        ...(id !== undefined && { id }),
        ...(model !== undefined && { model }),
        ...decodeMessageExtra(given),
      });
      this.#batch.push(...this.#early.splice(0));
    }
    if (isJsonObject(given['container'])) this.#endFields['container'] = given['container'];
    this.#takeUsage(given['usage']);
  }

  #ensureStarted(): void {
    if (!this.#started) this.#startMessage(undefined);
  }

  #takeUsage(usage: Json | undefined): void {
    this.#usage = mergeUsage(this.#usage, usage);
    if (isJsonObject(usage) && this.#usage !== undefined)
      this.#batch.push({ type: 'usage', usage: decodeUsage(this.#usage, !this.#countedOutput) });
  }

  #startBlock(event: JsonObject): void {
    const block = event['content_block'];
    if (!isJsonObject(block)) {
      this.#warn('a content_block_start had no content_block');
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
    // Beside a call stand only calls, so the current block speaks for all.
    const shares = kind === 'tool' && (open === undefined || open.kind === 'tool');
    if (!shares || this.#find(wireIndex) !== undefined) {
      this.#closeAll();
    } else if (open !== undefined) {
      this.#beside.push(open);
      this.#open = undefined;
    }
  }

  #openBlock(given: Pick<OpenBlock, 'wireIndex' | 'kind' | 'inputAtStart'>, block: JsonObject): OpenBlock {
    this.#ensureStarted();
    const index = this.#nextIndex++;
    const open: OpenBlock = { ...given, index, gotInput: false };
    this.#open = open;
    this.#batch.push({ type: 'block-start', index, block: decodeBlock(block, '') });
    return open;
  }

  #takeDelta(event: JsonObject, data: string | undefined): void {
    const delta = event['delta'];
    if (!isJsonObject(delta)) {
      this.#warn('a content_block_delta had no delta');
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
      this.#warn('a delta did not fit its block');
      return;
    }
    this.#pushPlain(open, text, data);
  }

  #pushPlain(open: OpenBlock, text: string, data: string | undefined): void {
    if (text !== '') open.gotInput = true;
    this.#batch.push({
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
    this.#closeAll();
    const block: JsonObject = kind === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '' };
    return this.#openBlock({ wireIndex, kind, inputAtStart: undefined }, block);
  }

  #pushSignature(wireIndex: Json | undefined, signature: Json | undefined, data: string | undefined): void {
    const open = this.#find(wireIndex);
    if (open?.kind !== 'thinking' || typeof signature !== 'string') {
      this.#warn('a signature did not fit its block');
      return;
    }
    this.#batch.push({
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
    if (open?.kind !== 'text' || !isJsonObject(citation)) this.#warn('a citation did not fit its block');
    else this.#batch.push({ type: 'citation', index: open.index, citation: decodeCitation(citation) });
  }

  /** A delta that only this format knows. */
  #pushValue(wireIndex: Json | undefined, value: JsonObject, data: string | undefined): void {
    const open = this.#find(wireIndex);
    if (open === undefined) {
      this.#warn('a delta belonged to no block');
      return;
    }
    this.#batch.push({
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

  #stopBlock(wireIndex: Json | undefined): void {
    const open = this.#find(wireIndex);
    if (open === undefined) return;
    this.#close(open);
    if (open === this.#open) this.#open = undefined;
    else this.#beside.splice(this.#beside.indexOf(open), 1);
  }

  #closeAll(): void {
    for (const open of this.#beside.splice(0)) this.#close(open);
    if (this.#open !== undefined) this.#close(this.#open);
    this.#open = undefined;
  }

  /** A tool without arguments streams none, or the empty text: every format wants an object in the end. */
  #close({ index, kind, gotInput, inputAtStart }: OpenBlock): void {
    if (kind === 'tool' && !gotInput) {
      const text = JSON.stringify(inputAtStart ?? {});
      this.#batch.push({
        type: 'block-delta',
        index,
        text,
        signature: undefined,
        value: undefined,
        frame: undefined,
        extra: undefined,
      });
    }
    this.#batch.push({ type: 'block-end', index });
  }

  #takeMessageDelta(event: JsonObject): void {
    this.#ensureStarted();
    const delta = isJsonObject(event['delta']) ? event['delta'] : {};
    // An empty word says nothing.
    this.#stopReason = textOf(delta['stop_reason']) || this.#stopReason;
    this.#stopSequence = textOf(delta['stop_sequence']) ?? this.#stopSequence;
    for (const member of ['stop_details', 'container'])
      if (isJsonObject(delta[member])) this.#endFields[member] = delta[member];
    Object.assign(this.#endFields, extraOf(event, DELTA_EVENT_MEMBERS).extra?.fields);
    Object.assign(this.#deltaFields, extraOf(delta, DELTA_MEMBERS).extra?.fields);
    const { usage } = event;
    this.#countedOutput ||= isJsonObject(usage) && totalCount(usage['output_tokens']) !== undefined;
    this.#takeUsage(usage);
  }

  #finish(): void {
    if (this.#over) return;
    this.#over = true;
    this.#ensureStarted();
    this.#closeAll();
    const refusal = explanationOf(this.#endFields['stop_details']);
    if (refusal !== '') {
      const index = this.#nextIndex++;
      this.#batch.push(
        { type: 'block-start', index, block: { type: 'refusal', text: refusal } },
        { type: 'block-end', index },
      );
    }
    if (Object.keys(this.#deltaFields).length > 0) this.#endFields[END_DELTA] = this.#deltaFields;
    this.#batch.push(endEvent(this.#stopReason, this.#stopSequence, this.#endFields));
  }

  #fail(failure: UpstreamFailure): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#early.length > 0) this.#ensureStarted();
    this.#batch.push({ type: 'failed', failure });
  }

  #warn(message: string): void {
    if (++this.#warnings > WARNINGS_MAX) return;
    const event: WarningEvent = { type: 'warning', warning: { code: 'event-skipped', path: 'stream', message } };
    (this.#started ? this.#batch : this.#early).push(event);
  }
}

function kindOf(type: Json | undefined): BlockKind {
  if (type === 'text' || type === 'thinking') return type;
  return type === 'tool_use' || type === 'server_tool_use' ? 'tool' : 'opaque';
}

/** An event may be written again as it is when its index stays true and it fits on one `data:` line. */
function frameOf({ wireIndex, index }: OpenBlock, data: string | undefined): string | undefined {
  return wireIndex === index && data?.includes('\n') === false ? data : undefined;
}

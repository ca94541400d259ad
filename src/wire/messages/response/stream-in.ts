import { transportFailure } from '../../../canonical/failure/classify-failure.ts';
import type { EventBatch, WarningEvent } from '../../../canonical/events.ts';
import type { UpstreamFailure } from '../../../canonical/failure/failure.ts';
import { totalCount } from '../../../canonical/usage.ts';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../../../lib/json.ts';
import { createSseParser } from '../../../lib/net/sse.ts';
import type { StreamDecoder } from '../../format.ts';
import { BlockReader } from './blocks-in.ts';
import { explanationOf, decodeMessageExtra } from './content-in.ts';
import { parsePlainDelta } from './plain-chunk.ts';
import { END_DELTA, endEvent } from './finish-reason.ts';
import { failureOfErrorObject } from './error-in.ts';
import { mergeUsage, decodeUsage } from './usage.ts';
import { textOf, type WireObject } from '../../json-fields.ts';
import { extraOf } from '../extra.ts';

/** Skipped events beyond it are not reported. */
const WARNINGS_MAX = 20;

const DELTA_MEMBERS: ReadonlySet<string> = new Set(['stop_reason', 'stop_sequence', 'stop_details', 'container']);
const DELTA_EVENT_MEMBERS: ReadonlySet<string> = new Set(['type', 'delta', 'usage']);

/**
 * Decodes a messages stream; its blocks are decoded by `BlockReader`. It is lenient with what hosts of the format get
 * wrong: a second `message_start`, missing stops, deltas that their block cannot hold, events that are not JSON.
 * @spec stream-23; vendor docs, "Streaming messages", read 2026-11
 */
export class MessagesStreamDecoder implements StreamDecoder {
  readonly #blocks: BlockReader;
  #over = false;
  #started = false;
  #usage: JsonObject | undefined;
  /** The closing `message_delta` has counted what was written; `message_start` only holds a place for that. */
  #countedOutput = false;
  #stopReason: string | undefined;
  #stopSequence: string | undefined;
  #endFields: WireObject = {};
  /** Members of the closing `delta` that nothing here names. */
  #deltaFields: WireObject = {};
  #warnings = 0;
  /** What was skipped before the response began: the start is the first event of all. */
  readonly #early: WarningEvent[] = [];
  readonly #parser = createSseParser({ onEvent: (data, name) => this.#take(data, name) });

  constructor() {
    this.#blocks = new BlockReader({
      ensureStarted: () => this.#ensureStarted(),
      warn: (message) => this.#warn(message),
    });
  }

  push(chunk: Uint8Array): EventBatch {
    this.#feed(() => this.#parser.push(chunk));
    return this.#blocks.take();
  }

  isComplete(): boolean {
    return this.#countedOutput && this.#stopReason !== undefined;
  }

  end(): EventBatch {
    this.#feed(() => this.#parser.end());
    // A reason to stop has been given: what is missing is only the farewell (@spec stream-10).
    if (this.#stopReason !== undefined) this.#finish();
    else this.#fail(transportFailure('early-end'));
    return this.#blocks.take();
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

  #take(data: string, name: string | undefined): void {
    if (this.#over) return;
    // The hot path: most events of most streams end here.
    const plain = parsePlainDelta(data);
    if (plain !== undefined && this.#blocks.takePlain(plain, data)) return;
    const event = parseJson(data);
    if (!isJsonObject(event)) {
      if (data !== '[DONE]') this.#warn('an event was not a JSON object');
      return;
    }
    switch (textOf(event['type']) ?? name ?? '') {
      case 'content_block_delta':
        // Where the event's name stands for a missing type, clients that read only the data need one written.
        this.#blocks.takeDelta(event, event['type'] === 'content_block_delta' ? data : undefined);
        return;
      case 'content_block_start':
        this.#blocks.start(event);
        return;
      case 'content_block_stop':
        this.#blocks.stop(event['index']);
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
      this.#blocks.emit({
        type: 'start',
        format: 'messages',
        ...(id !== undefined && { id }),
        ...(model !== undefined && { model }),
        ...decodeMessageExtra(given),
      });
      for (const early of this.#early.splice(0)) this.#blocks.emit(early);
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
      this.#blocks.emit({ type: 'usage', usage: decodeUsage(this.#usage, !this.#countedOutput) });
  }

  #takeMessageDelta(event: JsonObject): void {
    this.#ensureStarted();
    const delta = isJsonObject(event['delta']) ? event['delta'] : {};
    // An empty string is no reason.
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
    this.#blocks.closeAll();
    const refusal = explanationOf(this.#endFields['stop_details']);
    if (refusal !== '') this.#blocks.add({ type: 'refusal', text: refusal });
    if (Object.keys(this.#deltaFields).length > 0) this.#endFields[END_DELTA] = this.#deltaFields;
    this.#blocks.emit(endEvent(this.#stopReason, this.#stopSequence, this.#endFields));
  }

  #fail(failure: UpstreamFailure): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#early.length > 0) this.#ensureStarted();
    this.#blocks.emit({ type: 'failed', failure });
  }

  #warn(message: string): void {
    if (++this.#warnings > WARNINGS_MAX) return;
    const event: WarningEvent = { type: 'warning', warning: { code: 'event-skipped', path: 'stream', message } };
    if (this.#started) this.#blocks.emit(event);
    else this.#early.push(event);
  }
}

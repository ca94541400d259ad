import { classifyErrorEvent, transportFailure } from '../../../canonical/failure/classify-failure.ts';
import { isLengthError } from '../../../canonical/gateway-error.ts';
import type { DeltaFrame, EventBatch, StartEvent, WarningEvent } from '../../../canonical/events.ts';
import type { UpstreamFailure } from '../../../canonical/failure/failure.ts';
import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import { ResponseBlocks, type Piece } from '../../response-blocks.ts';
import { ToolCalls } from './tool-calls.ts';
import { CHUNK_MEMBERS, errorOfChunk, firstChoice, restOfChoice, START_MEMBERS, toolCallsOf } from './chunk.ts';
import { parseError, statusOfError } from '../../upstream-error.ts';
import type { ChatDialect } from '../dialect.ts';
import { piecesOf } from './content.ts';
import { asExtra, restOf } from '../../extra.ts';
import { objectOf } from '../../json-fields.ts';
import { decodeFinishReason } from './finish-reason.ts';
import { CitationCollector, listsSources } from './citation-collector.ts';
import { countsTokens, decodeUsage } from './usage.ts';

const WARNINGS_MAX = 20;
/** Pieces that wait for open calls to be complete; more of them end the calls. */
const DEFERRED_MAX = 10_000;

interface Finish {
  readonly word: string;
  readonly native: string;
  readonly stopSequence: string | undefined;
}

/** Turns the chunks of one response into events. A whole response is one chunk. */
export class ResponseDecoder {
  readonly #blocks = new ResponseBlocks();
  /** Absent until a call comes. */
  #calls: ToolCalls | undefined;
  /** Absent until a source is named. */
  #sources: CitationCollector | undefined;
  readonly #skip = (what: string): void => this.skip(what);
  readonly #reasoningInTotal: boolean;
  #started = false;
  #over = false;
  #finish: Finish | undefined;
  #tier: string | undefined;
  #counted = false;
  #lastRest: string | undefined;
  #deferred: Piece[] = [];
  #warnings = 0;
  /** What was skipped before the response began: the start is the first event of all. */
  #early: WarningEvent[] = [];

  constructor({ reasoningInTotal = false }: Pick<ChatDialect, 'reasoningInTotal'> = {}) {
    this.#reasoningInTotal = reasoningInTotal;
  }

  /** Nothing more is read after an end or a failure. */
  get over(): boolean {
    return this.#over;
  }

  /** Both the reason to stop and the counts have come. */
  get isComplete(): boolean {
    return this.#counted && this.#finish !== undefined;
  }

  take(): EventBatch {
    return this.#blocks.take();
  }

  /** Adds to an open text block. False when none is open: then the chunk takes the long way. */
  takeText(text: string, frame: DeltaFrame | undefined): boolean {
    return this.#calls?.isOpen !== true && this.#blocks.putText(text, frame);
  }

  takeChunk(chunk: JsonObject): void {
    if (this.#over || isPing(chunk)) return;
    const failed = errorOfChunk(chunk);
    if (failed === undefined) {
      if (this.#started) this.#noteRest(chunk);
      else this.#start(chunk);
      if (listsSources(chunk)) this.#citations.note(chunk);
    }
    if (typeof chunk['service_tier'] === 'string') this.#tier = chunk['service_tier'];
    const choice = firstChoice(chunk['choices']);
    if (choice !== undefined && failed === undefined) this.#takeChoice(choice);
    const usage = this.#usageIn(chunk, choice);
    if (usage !== undefined) {
      this.#ensureStarted();
      this.#counted = true;
      this.#blocks.emit({ type: 'usage', usage: decodeUsage(usage, this.#tier, this.#reasoningInTotal) });
    }
    // A response that broke off holds its error beside what had come. @spec chat-response-13
    const error = failed ?? choice?.['error'];
    if (error === undefined || error === null) return;
    const failure = classifyErrorEvent(statusOfError(error), parseError(error));
    // OpenRouter sends `length` first and then an error that a limit was reached. @spec translate-29
    if (this.#finish?.word === 'length' && isLengthError(failure.errorType)) this.finish(true);
    else this.fail(failure);
  }

  /** Groq counts under a member of its own as well, which stands only where no other usage does. */
  #usageIn(chunk: JsonObject, choice: JsonObject | undefined): JsonObject | undefined {
    const usage = chunk['usage'] ?? choice?.['usage'];
    if (isJsonObject(usage) && countsTokens(usage)) return usage;
    const groq = this.#counted ? undefined : objectOf(chunk['x_groq'])?.['usage'];
    return isJsonObject(groq) && countsTokens(groq) ? groq : undefined;
  }

  /** Notes what could not be read and was left out. */
  skip(what: string): void {
    this.#warnings += 1;
    if (this.#warnings > WARNINGS_MAX) return;
    const message = `left out: ${what}`;
    const event: WarningEvent = { type: 'warning', warning: { code: 'event-skipped', path: 'stream', message } };
    if (this.#started) this.#blocks.emit(event);
    else this.#early.push(event);
  }

  fail(failure: UpstreamFailure): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#early.length > 0) this.#ensureStarted();
    this.#blocks.emit({ type: 'failed', failure });
  }

  /**
   * The upstream ended the response, or closed the stream. A stream that closes without a finish reason broke off; where the
   * upstream reported the end, the reason is unknown, and none is made up (@spec stream-11).
   * @param complete the whole response is here, so that a missing reason does not mean that it broke off
   */
  finish(complete: boolean): void {
    if (this.#over) return;
    if (this.#finish === undefined && !(complete && this.#started)) {
      this.fail(transportFailure('early-end'));
      return;
    }
    this.#endBlocks();
    this.#over = true;
    const { word, native, stopSequence } = this.#finish ?? {};
    this.#blocks.emit({
      type: 'end',
      finish: decodeFinishReason(word, this.#calls?.any === true),
      ...(native !== undefined && { nativeFinish: native }),
      ...(stopSequence !== undefined && { stopSequence }),
    });
  }

  #start(chunk: JsonObject): void {
    const { id, model } = chunk;
    this.#emitStart({
      type: 'start',
      format: 'chat',
      ...(typeof id === 'string' && id !== '' && { id }),
      ...(typeof model === 'string' && model !== '' && { model }),
      ...asExtra('chat', restOf(chunk, START_MEMBERS)),
    });
    const rest = restOf(chunk, CHUNK_MEMBERS);
    this.#lastRest = rest && JSON.stringify(rest);
  }

  #emitStart(event: StartEvent): void {
    this.#started = true;
    this.#blocks.emit(event);
    for (const warning of this.#early) this.#blocks.emit(warning);
    this.#early = [];
  }

  /** The members beside an error may be all that there is of the response. */
  #ensureStarted(): void {
    if (!this.#started) this.#emitStart({ type: 'start', format: 'chat' });
  }

  /** Members of the response itself. Some upstreams repeat all of them with every chunk. */
  #noteRest(chunk: JsonObject): void {
    const rest = restOf(chunk, CHUNK_MEMBERS);
    if (rest === undefined) return;
    const text = JSON.stringify(rest);
    if (text === this.#lastRest) return;
    this.#lastRest = text;
    this.#emitExtra(rest);
  }

  #emitExtra(fields: JsonObject): void {
    this.#blocks.emit({ type: 'extra', extra: { format: 'chat', fields } });
  }

  #takeChoice(choice: JsonObject): void {
    const delta = choice['delta'] ?? choice['message'];
    if (isJsonObject(delta)) this.#takeDelta(delta, choice);
    const { finish_reason: word, native_finish_reason: native, stop_reason: stop } = choice;
    if (typeof word !== 'string' || word === '') return;
    this.#finish = {
      word,
      native: typeof native === 'string' ? native : word,
      // vLLM names the stop sequence that was hit. Its API reference, read 2026-11.
      stopSequence: typeof stop === 'string' ? stop : undefined,
    };
    this.#endBlocks();
  }

  #takeDelta(delta: JsonObject, choice: JsonObject): void {
    const rest = restOfChoice(choice, delta);
    const pieces = piecesOf(delta, this.#skip);
    const calls = toolCallsOf(delta);
    if (this.#finish !== undefined && (pieces.length > 0 || calls.length > 0)) {
      this.skip('content after the end of the response');
      this.#annotate(delta, undefined);
      return;
    }
    if (pieces.length === 0 && rest !== undefined) this.#emitExtra(rest);
    const textAt = pieces.findLastIndex(({ block }) => block.type === 'text');
    for (const [at, piece] of pieces.entries()) {
      this.#put(at > 0 || rest === undefined ? piece : withRest(piece, rest));
      // A picture behind the text ends it.
      if (at === textAt) this.#annotate(delta, this.#blocks.openText);
    }
    if (textAt < 0) this.#annotate(delta, this.#blocks.openText);
    for (const [position, call] of calls.entries()) {
      this.#calls ??= new ToolCalls(this.#blocks);
      if (!isJsonObject(call) || !this.#calls.take(call, position)) this.skip('a piece of a call that has ended');
    }
  }

  get #citations(): CitationCollector {
    return (this.#sources ??= new CitationCollector((event) => this.#blocks.emit(event)));
  }

  /** @param text index of the open text block */
  #annotate({ annotations }: JsonObject, text: number | undefined): void {
    if (annotations !== undefined) this.#citations.annotate(annotations, text);
  }

  /** While calls are open their arguments may still come, so other content waits unless they are complete. */
  #put(piece: Piece): void {
    const waits = this.#calls?.isOpen === true && !this.#calls.areComplete();
    if (waits && this.#deferred.length < DEFERRED_MAX) {
      this.#deferred.push(piece);
      return;
    }
    this.#endCalls();
    this.#putNow(piece);
  }

  #putNow(piece: Piece): void {
    this.#blocks.put(piece);
    const text = this.#blocks.openText;
    if (text !== undefined) this.#sources?.giveTo(text);
  }

  #endBlocks(): void {
    this.#endCalls();
    this.#sources?.close(this.#blocks.openText);
    this.#blocks.endOpen();
  }

  #endCalls(): void {
    if (this.#calls?.isOpen !== true) return;
    if (this.#calls.endAll() > 0) this.skip('a tool call without a name');
    for (const piece of this.#deferred) this.#putNow(piece);
    this.#deferred = [];
  }
}

/** Hosts that translate from the messages format let its keep-alives through. */
function isPing({ type, choices }: JsonObject): boolean {
  return type === 'ping' && choices === undefined;
}

function withRest(piece: Piece, rest: JsonObject): Piece {
  return { ...piece, extra: { format: 'chat', fields: { ...piece.extra?.fields, ...rest } } };
}

import type { EndEvent, EventBatch } from '../../../canonical/events.ts';
import { isLengthError, type GatewayError } from '../../../canonical/gateway-error.ts';
import type { UpstreamFailure } from '../../../canonical/failure/failure.ts';
import type { FunctionTool } from '../../../canonical/request.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { ErrorContext, FinalUsage, ResponseIdentity, StreamEncoder } from '../../format.ts';
import { redactBody } from '../../gateway/redact-body.ts';
import type { Containers } from '../containers.ts';
import { newItemId } from '../item-ids.ts';
import { failureOf, failureOfUpstream, NO_SUMMARY } from './error-out.ts';
import { encodeEvent, EventFrames } from '../output/event-frames.ts';
import { ItemWriter } from '../output/item-writer.ts';
import { Output } from '../output/output.ts';
import { CompactionWriter } from '../output/compaction-writer.ts';
import { createReasoningSeal, createSummarySeal } from '../output/reasoning-seal.ts';
import { encodeResponse, outputTextOf, wantsLogprobs, type ResponseState } from './response-out.ts';
import { CUT_BY_LENGTH, outcomeOf, type Outcome } from './response-status.ts';
import { serverToolNamesOf } from '../output/server-calls.ts';

/** How the responses of this gateway are written. */
export interface ResponseSettings {
  readonly containers: Containers;
  /** Where instructions and tools are repeated: everywhere, at the end alone, or nowhere. */
  readonly echo: 'full' | 'terminal' | 'none';
  /** What a request that is too long becomes in a stream: a failure, or a response that was cut. */
  readonly lengthErrors: 'failed' | 'incomplete';
  /** Unix ms. */
  readonly nowMs?: () => number;
  /** A new id for an item of a type. */
  readonly newId?: (type: string) => string;
}

const DONE = 'data: [DONE]\n\n';
/** Clients that count events and no comments give up after five minutes without one. */
const HEARTBEAT_MS = 60_000;
const MS_PER_S = 1_000;

/**
 * Encodes a stream of the responses format, and a whole response as the sum of the same items: what is streamed and what
 * is listed at the end cannot differ.
 */
export class ResponsesStreamEncoder implements StreamEncoder {
  #identity: ResponseIdentity;
  readonly #settings: ResponseSettings;
  readonly #frames: EventFrames;
  readonly #output: Output;
  readonly #items: Pick<ItemWriter, 'take' | 'finish' | 'heartbeat' | 'format'>;
  #isOpen = false;
  #isOver = false;
  #end: EndEvent | undefined;
  #hasRefused = false;
  /** Set once the items have ended. */
  #outcome: Outcome | undefined;
  /** Unix seconds, once: the response is kept before its end is sent, and says the same. */
  #endedS: number | undefined;
  /** What ended them, until it is sent. */
  #owed = '';
  /** How long nothing had come when the latest event was written. */
  #eventAtMs = 0;

  /** @param isWhole no frames are written: only `snapshot` is called */
  constructor(identity: ResponseIdentity, settings: ResponseSettings, isWhole = false) {
    this.#identity = identity;
    this.#settings = settings;
    // Behind those that open the stream: `in_progress`, and before it `created` where the stream has not begun.
    this.#frames = new EventFrames((identity.nextEvent ?? 1) + 1, isWhole);
    const { newId = newItemId, containers } = settings;
    const { request } = identity;
    this.#output = new Output(this.#frames, newId, request?.response?.extendedEvents === true);
    const of = (): ResponseIdentity => this.#identity;
    this.#items =
      request?.response?.compacts !== undefined
        ? new CompactionWriter(this.#output, createSummarySeal(containers, of))
        : new ItemWriter({
            output: this.#output,
            toolOf: toolFinder(request?.tools ?? []),
            serverTools: serverToolNamesOf(request),
            showsLogprobs: wantsLogprobs(request),
            wantsSummary: request?.settings.reasoning?.summary !== undefined,
            seal: createReasoningSeal(containers, of, () => this.#items.format),
          });
  }

  encode(events: EventBatch): string {
    let frames = '';
    for (const event of events) {
      if (event.type === 'end') {
        frames += this.#takeEnd(event);
        continue;
      }
      if (event.type === 'block-start' && event.block.type === 'refusal') this.#hasRefused = true;
      frames += this.#items.take(event);
    }
    if (frames === '') return '';
    this.#eventAtMs = 0;
    return this.#open() + frames;
  }

  /** Only callers that ask for it get it: clients do not know the event. */
  debug(_provider: string, body: JsonObject): string {
    if (this.#isOver || this.#outcome !== undefined) return '';
    return this.#open() + this.#frames.event('debug', { debug: { echo_upstream_body: redactBody(body) } });
  }

  close(finalUsage: FinalUsage): string {
    if (this.#isOver) return '';
    return this.#terminate(this.#endItems(undefined), finalUsage);
  }

  fail(error: GatewayError, finalUsage: FinalUsage | undefined, _context: ErrorContext): string {
    if (this.#isOver) return '';
    return this.#terminate(this.#endItems(error), finalUsage);
  }

  idle(idleMs: number): string {
    if (this.#isOver) return '';
    if (!this.#isOpen) {
      this.#eventAtMs = idleMs;
      return this.#open();
    }
    if (idleMs - this.#eventAtMs < HEARTBEAT_MS) return '';
    this.#eventAtMs = idleMs;
    return this.#items.heartbeat() || this.#frames.event('in_progress', { response: this.#encodeResponse() });
  }

  serve(identity: ResponseIdentity): void {
    this.#identity = identity;
  }

  snapshot(finalUsage: FinalUsage, error: GatewayError | undefined): JsonObject {
    const ended = this.#ended(this.#endItems(error), finalUsage);
    const response = this.#encodeResponse(ended);
    return { ...response, output_text: outputTextOf(this.#output.values()) };
  }

  /** The upstream broke off: what is open stays open. */
  breakOff(failure: UpstreamFailure): void {
    this.#outcome ??= { status: 'failed', failure: failureOfUpstream(failure) };
  }

  #takeEnd(event: EndEvent): string {
    this.#end = event;
    this.#endItems(undefined);
    return this.#takeOwed();
  }

  #takeOwed(): string {
    const owed = this.#owed;
    this.#owed = '';
    return owed;
  }

  /** Once: what is open is closed as far as clients may rely on it. */
  #endItems(error: GatewayError | undefined): Outcome {
    if (error !== undefined) {
      const isCut = this.#settings.lengthErrors === 'incomplete' && isLengthError(error.type);
      this.#outcome = isCut ? CUT_BY_LENGTH : { status: 'failed', failure: failureOf(error) };
    } else if (this.#outcome === undefined) {
      this.#outcome = outcomeOf(this.#end, this.#items.format, this.#hasRefused);
      const { status } = this.#outcome;
      if (status !== 'failed') this.#owed = this.#items.finish(status === 'incomplete');
      const { request } = this.#identity;
      // A client would take a history without its summary for the whole of it.
      if (status === 'completed' && request?.response?.compacts !== undefined && this.#output.length === 0)
        this.#outcome = { status: 'failed', failure: NO_SUMMARY };
    }
    return this.#outcome;
  }

  #terminate(outcome: Outcome, finalUsage: FinalUsage | undefined): string {
    const frames = this.#open() + this.#takeOwed();
    this.#isOver = true;
    const response = this.#encodeResponse(this.#ended(outcome, finalUsage));
    // The cancelled have no event of their own.
    const type = outcome.status === 'cancelled' ? 'failed' : outcome.status;
    return frames + this.#frames.event(type, { response }) + DONE;
  }

  #ended(outcome: Outcome, finalUsage: FinalUsage | undefined): NonNullable<ResponseState['ended']> {
    const { nowMs = Date.now } = this.#settings;
    this.#endedS ??= Math.floor(nowMs() / MS_PER_S);
    return { outcome, finalUsage, atS: this.#endedS };
  }

  /** Not before there is content, or a keep-alive: until then another provider may still serve. */
  #open(): string {
    if (this.#isOpen) return '';
    this.#isOpen = true;
    const members = { response: this.#encodeResponse() };
    const { nextEvent } = this.#identity;
    if (nextEvent !== undefined) return encodeEvent('in_progress', nextEvent, members);
    return encodeEvent('created', 0, members) + encodeEvent('in_progress', 1, members);
  }

  #encodeResponse(ended?: ResponseState['ended']): JsonObject {
    const { echo } = this.#settings;
    return encodeResponse({
      identity: this.#identity,
      output: ended === undefined ? [] : this.#output.values(),
      ...(ended !== undefined && { ended }),
      showsPrompt: echo === 'full' || (echo === 'terminal' && ended !== undefined),
    });
  }
}

/** Looks a tool up by the name that the model calls; the table is made with the first call. */
function toolFinder(tools: readonly { readonly type: string }[]): (name: string) => FunctionTool | undefined {
  let byName: ReadonlyMap<string, FunctionTool> | undefined;
  return (name) => {
    byName ??= new Map(tools.filter(isFunction).map((tool) => [tool.name, tool]));
    return byName.get(name);
  };
}

function isFunction(tool: { readonly type: string }): tool is FunctionTool {
  return tool.type === 'function';
}

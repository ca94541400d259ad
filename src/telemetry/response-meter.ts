import type { EndEvent, EventBatch } from '../canonical/events.ts';
import type { UpstreamFailure } from '../canonical/failure/failure.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import { NO_USAGE, type Usage } from '../canonical/usage.ts';
import type { Endpoint } from '../catalog/model.ts';

/** The endpoint that gives a response, or a part of it. */
export interface ServingEndpoint {
  readonly endpoint: Endpoint;
  /** The caller's own credential was used: the provider charges the caller. */
  readonly isByok: boolean;
  /** The index of the attempt. */
  readonly attempt: number;
  /** How long its response is expected to become after the caller has gone, in tokens. */
  readonly expectedTokens?: (() => number | undefined) | undefined;
  /** The maximum that it was sent, in tokens; absent, and `undefined`: none. */
  readonly tokensMax?: (() => number | undefined) | undefined;
  /** The length that is reserved for a response without a maximum, in tokens; absent, and `undefined`: any. */
  readonly reservedTokens?: (() => number | undefined) | undefined;
}

/** What one endpoint gave of a response: all of it, unless the stream broke off and another endpoint continued it. */
export interface ResponsePart extends ServingEndpoint {
  /** As the upstream counted, so far as it did. */
  readonly usage: Usage | undefined;
  /** UTF-8 bytes of text, reasoning and tool input that came: for an estimate where no usage did. */
  readonly bytes: number;
  /** UTF-8 bytes of the response so far that the endpoint was given with its request. */
  readonly givenBytes: number;
  /** The request of a later turn; absent: the caller's own. */
  readonly turnRequest?: GenerationRequest | undefined;
  /** It is complete: a turn of the model after which tools ran. */
  readonly isOver?: true;
  /** Monotonic ms; absent: it is the last part. */
  readonly endedMs?: number;
}

/**
 * Measures the response of one request as it comes from upstream: usage, bytes, and how it ended. It holds no text. The
 * relay feeds it; filters feed it what they hold back.
 */
export class ResponseMeter {
  /** The endpoint that began the response, or had the request when the caller hung up before that. */
  endpoint: Endpoint | undefined;
  /** The endpoint that responds now. */
  serving: ServingEndpoint | undefined;
  /** The endpoint that had the request, and had sent no content, when the caller hung up. */
  abandoned: ServingEndpoint | undefined;
  /**
   * Parts before the present one: of endpoints whose streams broke off, and of turns after which tools ran. The members
   * below are of the present part.
   */
  readonly earlierParts: ResponsePart[] = [];
  /** The request of the turn that runs now; absent: the caller's own. */
  turnRequest: GenerationRequest | undefined;
  usage: Usage | undefined;
  /** UTF-8 bytes of text, reasoning and tool input that came, for an estimate where no usage did. */
  bytes = 0;
  /** UTF-8 bytes of the response so far that the present endpoint was given with its request. */
  givenBytes = 0;
  /** Pictures, sounds and the like in the response. */
  media = 0;
  /** Numbers in each vector of the response. */
  dimensions: number | undefined;
  upstreamId: string | undefined;
  /** Monotonic ms. */
  firstTokenMs: number | undefined;
  end: EndEvent | undefined;
  /** Of the last attempt that failed; absent after one that committed. */
  failure: UpstreamFailure | undefined;
  /** The caller hung up before the end. */
  cancelled = false;

  /** Measures what came with one network read. The hot loop of every stream: one pass. */
  push(batch: EventBatch): void {
    for (const event of batch) {
      switch (event.type) {
        case 'block-delta':
          if (event.text !== undefined) this.bytes += Buffer.byteLength(event.text);
          break;
        case 'block-start':
          if ('text' in event.block) this.bytes += Buffer.byteLength(event.block.text);
          else if ('input' in event.block) this.bytes += Buffer.byteLength(event.block.input);
          else if (event.block.type === 'media') this.media++;
          break;
        case 'usage':
          this.usage = event.usage;
          break;
        case 'start':
          this.upstreamId ??= event.id;
          break;
        case 'end':
          this.end = event;
          break;
        case 'failed':
          this.failure = event.failure;
          break;
        case 'warning':
        case 'citation':
        case 'extra':
        case 'tool-progress':
        case 'block-end':
          break;
      }
    }
  }

  /** An endpoint has begun to respond: the first one, or the next after one whose stream broke off. */
  begin(server: ServingEndpoint, nowMs: number): void {
    this.failure = undefined;
    if (this.serving !== undefined) this.#leave(this.serving, { endedMs: nowMs });
    else if (this.firstTokenMs === undefined) {
      this.endpoint = server.endpoint;
      this.firstTokenMs = nowMs;
    }
    this.serving = server;
  }

  /** The caller hung up while this endpoint had the request. */
  abandon(server: ServingEndpoint): void {
    this.abandoned = server;
    this.endpoint ??= server.endpoint;
  }

  /** The model's turn is complete, and another one follows. */
  endTurn(nowMs: number): void {
    if (this.serving !== undefined) this.#leave(this.serving, { isOver: true, endedMs: nowMs });
    this.serving = undefined;
  }

  /** A cached response of the endpoint is replayed: no provider is called, and nothing is used. */
  replay(endpoint: Endpoint, nowMs: number): void {
    this.endpoint = endpoint;
    this.firstTokenMs = nowMs;
    this.usage = { ...NO_USAGE, estimated: false };
  }

  #leave(server: ServingEndpoint, outcome: Pick<ResponsePart, 'isOver' | 'endedMs'>): void {
    const { usage, bytes, givenBytes, turnRequest } = this;
    this.earlierParts.push({ ...server, usage, bytes, givenBytes, turnRequest, ...outcome });
    this.usage = undefined;
    this.bytes = 0;
    this.givenBytes = 0;
  }
}

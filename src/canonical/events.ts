import type { JsonObject } from '../lib/json.ts';
import type { Block, Citation } from './blocks.ts';
import type { Extra, FormatId, Warning } from './extra.ts';
import type { UpstreamFailure } from './failure/failure.ts';
import type { ToolProgress } from './tools/server-call.ts';
import type { Usage } from './usage.ts';

/**
 * Why the model stopped. `unknown`: the upstream ended the response and gave no reason, and none is made up for it; callers
 * read `null`. @spec chat-response-6
 */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'error' | 'unknown';

/** The upstream answered. First event of every stream that decodes. */
export interface StartEvent {
  readonly type: 'start';
  /** The format that the upstream spoke: an encoder of the same format may reuse `frame`s. */
  readonly format: FormatId;
  readonly id?: string;
  readonly model?: string;
  readonly extra?: Extra;
}

/**
 * A block opens, holding what is known of it so far: a tool call its id and name with `input: ''`, a text block `''`.
 * Indexes are dense from 0. Only tool calls may be open side by side (chat interleaves their arguments); any other
 * block ends before the next one starts.
 */
export interface BlockStartEvent {
  readonly type: 'block-start';
  readonly index: number;
  readonly block: Block;
}

/** The JSON of a wire event in parts: before the text that it carries, the text without its quotes, and behind it. */
export interface DeltaFrame {
  /** The same for many events: what is made of it need not be made anew. With no text in `json` it is the whole event. */
  readonly head: string;
  readonly json: string;
  readonly tail: string;
}

/** More of an open block. Exactly one of `text`, `signature`, `value` is set. */
export interface BlockDeltaEvent {
  readonly type: 'block-delta';
  readonly index: number;
  /** Appended to the block's main text: text, reasoning, encrypted data, tool input, refusal, base64 data. */
  readonly text?: string | undefined;
  readonly signature?: string | undefined;
  /** A delta that only the block's own format knows, for opaque blocks. */
  readonly value?: JsonObject | undefined;
  /**
   * The wire event that carried this delta and nothing else worth keeping. An encoder of the same format may write it
   * again with only its head changed. Code that changes the event leaves this off.
   */
  readonly frame?: DeltaFrame | undefined;
  readonly extra?: Extra | undefined;
}

export interface BlockEndEvent {
  readonly type: 'block-end';
  readonly index: number;
}

/** A source of the text of block `index`, or of the whole response with `index` -1. */
export interface CitationEvent {
  readonly type: 'citation';
  readonly index: number;
  readonly citation: Citation;
}

/** Counts so far. Cumulative: the latest replaces the earlier ones. */
export interface UsageEvent {
  readonly type: 'usage';
  readonly usage: Usage;
}

export interface WarningEvent {
  readonly type: 'warning';
  readonly warning: Warning;
}

/** Members of the response itself that only the format knows (a list of search results beside the choices). */
export interface ExtraEvent {
  readonly type: 'extra';
  readonly extra: Extra;
}

/** How far a server tool is that runs. Only for callers that ask for it; left out, the response is the same. */
export interface ToolProgressEvent extends ToolProgress {
  readonly type: 'tool-progress';
  /** Of the call, as the caller sees it. */
  readonly callId: string;
}

export interface EndEvent {
  readonly type: 'end';
  readonly finish: FinishReason;
  /** The upstream's own reason. */
  readonly nativeFinish?: string;
  /** The stop sequence that was hit. */
  readonly stopSequence?: string;
  /** The gateway ended the response, and aborted the upstream, which had not finished. */
  readonly isCut?: true;
  readonly extra?: Extra;
}

/** The response broke off. Nothing follows. */
export interface FailedEvent {
  readonly type: 'failed';
  readonly failure: UpstreamFailure;
}

/**
 * One response, streamed or whole:
 * `start (block-start block-delta* block-end | citation | usage | warning | extra | tool-progress)* (end usage? | failed)`. Of a response
 * that failed before anything of it could be read, `failed` alone. Where another upstream goes on with a streamed response
 * that broke off, its `start` follows, with nothing but the format of what comes from there on.
 */
export type GenerationEvent =
  | StartEvent
  | BlockStartEvent
  | BlockDeltaEvent
  | BlockEndEvent
  | CitationEvent
  | UsageEvent
  | WarningEvent
  | ExtraEvent
  | ToolProgressEvent
  | EndEvent
  | FailedEvent;

/** Events of one network read. Handled in one synchronous pass and written once. */
export type EventBatch = readonly GenerationEvent[];

/**
 * A response that is coming. `read` gives the next batch, and `undefined` after the last one; it never throws for what
 * an upstream does (that is a `failed` event). `cancel` stops the upstream at once and may be called at any time.
 */
export interface EventSource {
  read(): Promise<EventBatch | undefined>;
  /** All events up to the last one, where they are here. Absent: they are to be read. */
  takeAll?(): EventBatch | undefined;
  cancel(): void;
  /** Whether at most the upstream's terminal frame is still to come. Absent: unknown before the end. */
  isComplete?(): boolean;
}

import type { UpstreamErrorBody } from '../../canonical/failure/failure.ts';
import type { JsonObject } from '../../lib/json.ts';

/** A stretch of a transcript. Times in seconds. */
export interface TranscriptSegment {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly speaker?: string | number;
  /** Members that its vendor gave beside these, as they were. */
  readonly more?: JsonObject;
}

export interface TranscriptWord {
  readonly word: string;
  readonly start: number;
  readonly end: number;
  readonly speaker?: string | number;
}

/** What was counted, as the upstream said. */
export interface TranscriptUsage {
  readonly seconds?: number;
  readonly inputTokens?: number;
  readonly audioTokens?: number;
  readonly outputTokens?: number;
}

/** What was heard. */
export interface Transcript {
  readonly text: string;
  readonly language?: string;
  /** Seconds. */
  readonly duration?: number;
  readonly segments?: readonly TranscriptSegment[];
  readonly words?: readonly TranscriptWord[];
  readonly logprobs?: readonly unknown[];
  readonly usage?: TranscriptUsage;
  readonly id?: string;
}

/** A piece of a transcript as it comes. */
export type TranscriptPiece =
  | { readonly type: 'delta'; readonly delta: string; readonly more?: JsonObject }
  | { readonly type: 'segment'; readonly segment: JsonObject }
  | { readonly type: 'done'; readonly transcript: Transcript };

/**
 * One event of an upstream's stream. `end`: nothing more comes, although no event has said what all of it is.
 * `open-ended`: the host has no last event at all; where its body ends is where the transcript does.
 */
export type TranscriptEvent =
  | TranscriptPiece
  | { readonly type: 'end' }
  | { readonly type: 'open-ended'; readonly delta: string }
  | { readonly type: 'error'; readonly error: UpstreamErrorBody };

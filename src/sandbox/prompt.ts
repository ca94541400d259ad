import type { Json } from '../lib/json.ts';
import type { Behaviour } from './models.ts';

/** A stretch of the prompt. What it costs, and whether a cache breakpoint stands behind it. */
export interface Segment {
  /** Where it stands: two segments with the same text in other places are different prefixes. */
  readonly place: string;
  readonly text: string;
  readonly tokens: number;
  readonly cache?: '5m' | '1h';
}

export interface OfferedFunction {
  readonly name: string;
  /** JSON Schema of the arguments; absent: none. */
  readonly schema?: Json;
}

export type Choice =
  | { readonly type: 'auto' | 'none' | 'required' }
  | { readonly type: 'function'; readonly name: string };

export interface ToolResult {
  readonly name: string;
  readonly text: string;
}

/** What the caller wants of the model's reasoning; `default` leaves it to the model. */
export interface Thinking {
  readonly requested: 'default' | 'on' | 'off';
  /** Reasoning runs, but only its signature is shown. */
  readonly isHidden: boolean;
}

/** What a conversation of either format comes to. */
export interface Conversation {
  readonly segments: readonly Segment[];
  /** Text of the last user message, images and files as mentions in brackets. */
  readonly userText: string;
  /** The results that the conversation ends with; none where it ends otherwise. */
  readonly toolResults: readonly ToolResult[];
}

/** A checked request, the same for both formats. */
export interface Prompt extends Conversation {
  /** As requested: the response names it. */
  readonly model: string;
  readonly behaviour: Behaviour;
  /** With behaviour `error`. */
  readonly errorStatus?: number;
  readonly isStream: boolean;
  /** chat `stream_options.include_usage`. */
  readonly hasStreamUsage: boolean;
  readonly functions: readonly OfferedFunction[];
  readonly choice: Choice;
  readonly mayCallInParallel: boolean;
  /** The schema that the caller wants the text to follow. */
  readonly jsonSchema?: Json;
  readonly stop: readonly string[];
  readonly maxTokens: number;
  readonly thinking: Thinking;
}

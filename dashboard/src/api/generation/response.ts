import type { ApiError } from '../errors.ts';

/** The formats in which a generation may be sent. */
export const FORMATS = ['chat', 'messages', 'responses'] as const;
export type Format = (typeof FORMATS)[number];

/** A turn of a conversation, in the words of chat. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | readonly unknown[] | null;
  readonly tool_calls?: readonly ToolCall[];
  readonly tool_call_id?: string;
}

export interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** What has arrived of one response so far. */
export interface ChatResponse {
  readonly id: string | undefined;
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  /** Addresses of pictures that the model made. */
  readonly images: readonly string[];
  readonly finish: string | undefined;
  readonly usage: ChatUsage | undefined;
  readonly model: string | undefined;
  readonly provider: string | undefined;
  /** From the click to the first token, and to the end. */
  readonly firstMs: number | undefined;
  readonly totalMs: number | undefined;
  readonly error: ApiError | undefined;
  readonly metadata: unknown;
  /** The body that was sent. */
  readonly sent: Readonly<Record<string, unknown>> | undefined;
  /** What the gateway sent on, for each attempt, in their order. */
  readonly upstream: readonly UpstreamBody[];
}

interface UpstreamBody {
  readonly provider: string | undefined;
  readonly body: unknown;
}

interface ChatUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly costUsd: number | undefined;
}

export const NO_RESPONSE: ChatResponse = {
  id: undefined,
  text: '',
  reasoning: '',
  toolCalls: [],
  images: [],
  finish: undefined,
  usage: undefined,
  model: undefined,
  provider: undefined,
  firstMs: undefined,
  totalMs: undefined,
  error: undefined,
  metadata: undefined,
  sent: undefined,
  upstream: [],
};

export type StreamEvent = Readonly<Record<string, unknown>>;

/** What an event of a stream adds. @throws ApiError for an event that reports a failure */
export type ReadEvent = (event: StreamEvent, before: ChatResponse) => Partial<ChatResponse>;

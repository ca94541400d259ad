/** In what upstreams of the chat format differ. Everything is off or plain by default. */
export interface ChatDialect {
  /** Knows the role `developer`; otherwise it gets `system`. */
  readonly developerRole?: boolean;
  /** Takes `max_completion_tokens`; otherwise it gets `max_tokens`. */
  readonly maxCompletionTokens?: boolean;
  /** Member that carries assistant reasoning back: none, `reasoning_content`, `reasoning` or `reasoning_details`. */
  readonly reasoningMember?: 'reasoning_content' | 'reasoning' | 'reasoning_details';
  /** Takes `reasoning_effort` (OpenAI) or the gateway-style `reasoning` object; absent: `reasoning_effort`. */
  readonly reasoningSettings?: 'reasoning_effort' | 'reasoning' | 'none';
  /** How cache breakpoints are spelled; absent: markers are removed. */
  readonly cacheMarks?: 'cache_control' | 'prompt_cache_breakpoint';
  /** Field for the hashed end user. */
  readonly endUserMember?: 'user' | 'safety_identifier';
  /** Takes `name` on messages; otherwise the text is prefixed. */
  readonly messageNames?: boolean;
  /** Knows the image detail `original`; otherwise it gets `high`. */
  readonly originalDetail?: boolean;
  /** Takes `stream_options.include_usage`. Default true. */
  readonly streamUsage?: boolean;
}

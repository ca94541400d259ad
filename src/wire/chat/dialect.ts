import type { Effort } from '../../canonical/request.ts';

/**
 * Members that turn reasoning on and off: `thinking: {type}` as `enabled` or, of some, `adaptive`, `enable_thinking`,
 * `reasoning: {enabled}`, and `chat_template_kwargs: {enable_thinking}` of engines that leave it to the model's template.
 */
type ReasoningSwitch =
  | 'thinking'
  | 'thinking.adaptive'
  | 'enable_thinking'
  | 'reasoning.enabled'
  | 'chat_template_kwargs';

/** In what upstreams of the chat format differ. Everything is off or plain by default. */
export interface ChatDialect {
  /**
   * Parameters of the catalog's vocabulary that the host knows: the list of every endpoint there that has none of its own.
   * Absent: all that the format can express.
   */
  readonly parameters?: ReadonlySet<string>;
  /** Parameters that the model refuses, even where a list of parameters names them. */
  readonly refused?: ReadonlySet<string>;
  /** The same while it reasons. */
  readonly refusedWhileReasoning?: ReadonlySet<string>;
  /** Reasons even where the request sets no reasoning. */
  readonly reasonsByDefault?: boolean;
  /** Knows the role `developer`; otherwise it gets `system`. */
  readonly developerRole?: boolean;
  /** Takes `max_completion_tokens`; otherwise it gets `max_tokens`. */
  readonly maxCompletionTokens?: boolean;
  /**
   * Member of a message that carries its reasoning back; `content`: as a part of type `thinking`; `think_tags`: in its text.
   * Absent: unknown, so that the one that the upstream itself has written in the conversation does, and else none.
   */
  readonly reasoningMember?:
    | 'reasoning_content'
    | 'reasoning'
    | 'reasoning_details'
    | 'content'
    | 'think_tags'
    | 'none';
  /** Versions of the host differ in that: what the upstream has written in the conversation counts for more. */
  readonly reasoningMemberVaries?: boolean;
  /** What stands in that member where a message of the assistant has no reasoning, for hosts that refuse it without. */
  readonly reasoningFiller?: string;
  /**
   * The member that switches reasoning: `reasoning_effort` (OpenAI, and the default), the object `reasoning` of this
   * gateway, or a switch. Beside a switch stand efforts and budgets where the facts below name them. @spec reasoning-13
   */
  readonly reasoningSettings?: 'reasoning_effort' | 'reasoning' | 'none' | ReasoningSwitch;
  /** The efforts that the model knows, of which the nearest goes. Absent: all; beside a switch, none. */
  readonly reasoningEfforts?: readonly Effort[];
  /** The member that takes a budget in tokens. Absent: there is none. */
  readonly reasoningBudget?: 'thinking_budget';
  /** Tells of reasoning in no other count than `total_tokens`: what is over there was reasoned. */
  readonly reasoningInTotal?: boolean;
  /** Reasoning cannot be switched off. */
  readonly mustReason?: boolean;
  /** Refuses to be forced to call a tool while it reasons. */
  readonly unforcedReasoning?: boolean;
  /** How cache breakpoints are spelled; absent: markers are removed. */
  readonly cacheBreakpoints?: 'cache_control' | 'prompt_cache_breakpoint';
  /** Field for the hashed end user. */
  readonly endUserMember?: 'user' | 'safety_identifier';
  /** Takes `name` on messages; otherwise the text is prefixed. */
  readonly messageNames?: boolean;
  /** Knows the image detail `original`; otherwise it gets `high`. */
  readonly originalDetail?: boolean;
  /** Takes `stream_options.include_usage`. Default true. */
  readonly streamUsage?: boolean;
  /** Takes texts as content parts. Otherwise they are joined to one string, and only a user's media make parts. Default true. */
  readonly textParts?: boolean;
  /** Takes the address of a document where its bytes may stand; otherwise it must be fetched first. */
  readonly documentUrls?: boolean;
  /** The part that holds a document; absent: `file`, with `file_data`. */
  readonly documentPart?: 'document_url';
  /**
   * Refuses what OpenAI does not have: files in the result of a call, and of other vendors' responses the pictures, the
   * sources and the signatures of calls. Absent: the caller's own messages go as they stand.
   */
  readonly plainMessages?: boolean;
  /** The ids of calls that it takes: nine letters or digits, or up to forty characters. Absent: any. */
  readonly callIds?: 'nine' | 'forty';
  /** Takes no user message right after the results of calls: one of the assistant must stand between them. */
  readonly repliesToResults?: boolean;
  /** Wants the beginning of a response, a last message of the assistant, marked by the member `prefix`. */
  readonly prefixMember?: boolean;
  /** How it spells `seed`. */
  readonly seedMember?: 'random_seed';
  /** Holds a response to a schema only where `strict` is set, as far as the schema is one of those that it can do so with. */
  readonly strictSchemas?: boolean;
  /** Takes `response_format` of type `json_schema`. Default true; otherwise JSON is requested, and the schema goes into a prompt. */
  readonly jsonSchema?: boolean;
}

declare module '../../canonical/extra.ts' {
  interface WireFormats {
    readonly chat: true;
  }
}

declare module '../format.ts' {
  interface Dialect extends ChatDialect {}
}

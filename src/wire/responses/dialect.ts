import type { ReasoningFamily } from '../../canonical/blocks.ts';
import type { ReasoningSettings } from '../../canonical/request.ts';

/**
 * In what upstreams of the responses format differ. What they share with chat stands in `ChatDialect` and means the same
 * here: parameters that are refused, `developerRole`, `reasoningSettings: 'none'`, `reasoningEfforts`, `mustReason`,
 * `endUserMember`, `originalDetail`, and `cacheBreakpoints` in the spelling `prompt_cache_breakpoint`. Everything is off or
 * plain by default.
 */
export interface ResponsesDialect {
  /** The family of its reasoning items, which can read them back. Absent: `openai-responses-v1`. @spec reasoning-16 */
  readonly reasoningFamily?: ReasoningFamily;
  /** Encrypts its reasoning on request; a model that does not reason refuses such a request. */
  readonly encryptedReasoning?: boolean;
  /** Takes readable reasoning back, whichever open model it came from. */
  readonly reasoningText?: boolean;
  /** The kinds of summary that the model writes; absent: all. */
  readonly reasoningSummaries?: readonly NonNullable<ReasoningSettings['summary']>[];
  /** Takes `reasoning.mode`. */
  readonly reasoningModes?: boolean;
  /** The values of `reasoning.context` that the model takes; absent: none. */
  readonly reasoningContexts?: readonly NonNullable<ReasoningSettings['context']>[];
  /** Refuses a smaller `max_output_tokens`. */
  readonly outputTokensMin?: number;
  /** Stores every response by default. */
  readonly storesResponses?: boolean;
  /** Takes `text.verbosity`. Default true. */
  readonly textVerbosity?: boolean;
  /** The tiers that the model can be served in; absent: any tier. */
  readonly serviceTiers?: readonly string[];
  /** How it takes documents: as data, URLs and stored files (the default), not as data, or not at all. */
  readonly documentInputs?: 'all' | 'links' | 'none';
  /** Takes the result of a call as a list of parts, images among them; otherwise it gets text. */
  readonly toolOutputParts?: boolean;
  /** Takes the calls of a turn only side by side, after its other content. */
  readonly callsLast?: boolean;
  /** Labels its messages as commentary or final response, and wants the label back. */
  readonly messagePhases?: boolean;
  /** Has a search of its own: the tool `web_search`. */
  readonly webSearchTool?: boolean;
  /** `tool_choice` may name the type of a tool of its own. */
  readonly forcesOwnTools?: boolean;
  /** That tool takes sites to leave out, beside or in place of sites to include: one list, of so many. Absent: sites to include. */
  readonly excludedSitesMax?: number;
  /** Searches posts of X: the tool `x_search`. */
  readonly postSearchTool?: boolean;
  /** Generates images by the tool `image_generation`. */
  readonly imageTool?: boolean;
  /** Takes tools whose input is a text, `custom`, and their calls as items of their own. */
  readonly customTools?: boolean;
  /** Takes tools in groups, `namespace`, and calls that name theirs. */
  readonly namespaces?: boolean;
  /** Takes a search of tools that the caller makes, `tool_search`, with its calls and results. */
  readonly toolSearchItems?: boolean;
  /**
   * Takes the vendor's other tools, items and parameters as they come: what its callers write is for it to judge. Others
   * get only what is known of them.
   */
  readonly openTools?: boolean;
  /** Shortens conversations: takes `context_management`, and gives back the item that it made of one. */
  readonly compaction?: boolean;
  /** Counts the tokens of a request at `/responses/input_tokens`. */
  readonly inputTokensRoute?: boolean;
  /** Custom calls in its responses are its own tools at work, not calls for the caller. */
  readonly runsCustomTools?: boolean;
}

declare module '../../canonical/extra.ts' {
  interface WireFormats {
    readonly responses: true;
  }
}

declare module '../format.ts' {
  interface Dialect extends ResponsesDialect {}
}

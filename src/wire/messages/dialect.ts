/** In what upstreams of the messages format differ. Everything is off or plain by default. */
export interface MessagesDialect {
  /** The setting that makes the model think: `budget` up to 4.5, `adaptive` from 4.6 on. */
  readonly thinking?: 'budget' | 'adaptive' | 'adaptive-only' | 'none';
  /** Efforts beyond `high` that the model knows. */
  readonly efforts?: readonly string[];
  /** Refuses to be forced to call a tool while it thinks, and thinks by default. */
  readonly unforcedReasoning?: boolean;
  /** Thinking cannot be switched off. */
  readonly mustReason?: boolean;
  /** The thinking that stands before calls which there is none of, for hosts that refuse those. */
  readonly reasoningFiller?: string;
  /** Refuses an effort beside thinking that is switched off. */
  readonly effortNeedsThinking?: boolean;
  /** Refuses `temperature` and `top_p` together. */
  readonly oneSampler?: boolean;
  /** Understands vendor tools and blocks (`web_search_20250305`, `container`, betas). */
  readonly vendor?: boolean;
  /**
   * Reads the line by which a terminal agent marks its requests. Other upstreams take it for a part of the prompt, which
   * it keeps out of their cache, or refuse it. Default false.
   */
  readonly readsAttribution?: boolean;
  /** Takes `output_config.format`; otherwise a forced tool named `json` stands in. */
  readonly structuredOutput?: boolean;
  /** Fetches images and documents from addresses; otherwise they must be fetched first. Default true. */
  readonly mediaUrls?: boolean;
}

declare module '../../canonical/extra.ts' {
  interface WireFormats {
    readonly messages: true;
  }
}

declare module '../format.ts' {
  interface Dialect extends MessagesDialect {}
}

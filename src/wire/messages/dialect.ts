/** In what upstreams of the messages format differ. Everything is off or plain by default. */
export interface MessagesDialect {
  /** How the model is told to think. `budget` up to 4.5, `adaptive` from 4.6 on. */
  readonly thinking?: 'budget' | 'adaptive' | 'adaptive-only' | 'none';
  /** Efforts beyond `high` that the model knows. */
  readonly efforts?: readonly string[];
  /** Understands vendor tools and blocks (`web_search_20250305`, `container`, betas). */
  readonly vendor?: boolean;
  /** Takes `output_config.format`; otherwise a forced tool named `json` stands in. */
  readonly structuredOutput?: boolean;
  /** Fetches images and documents from addresses; otherwise they must be fetched first. Default true. */
  readonly mediaUrls?: boolean;
}

/** What a classifier says of texts. */
export interface ModerationVerdict {
  readonly flagged: boolean;
  /** What for, in the classifier's own words. */
  readonly categories: readonly string[];
  /** Who said it. */
  readonly model: string;
  readonly providerName: string;
}

/**
 * Asks a service that is there for nothing else.
 * @throws Error when it cannot be reached, or says nothing that can be read
 */
export type Moderate = (texts: readonly string[], signal: AbortSignal) => Promise<ModerationVerdict>;

/** How texts are judged, as far as the operator set it up. */
export interface Moderation {
  readonly endpoint?: Moderate;
  /** Slug of a model that is asked where there is no endpoint. */
  readonly judge?: string;
}

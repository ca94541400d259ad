/** A classifier's verdict on texts. */
export interface ModerationVerdict {
  readonly flagged: boolean;
  /** The categories of the match, as the classifier names them. */
  readonly categories: readonly string[];
  /** The model that gave the verdict. */
  readonly model: string;
  readonly providerName: string;
}

/**
 * Calls a moderation service.
 * @throws Error when it cannot be reached, or its response cannot be parsed
 */
export type Moderate = (texts: readonly string[], signal: AbortSignal) => Promise<ModerationVerdict>;

export interface ModerationJudge {
  /** Its slug. */
  readonly model: string;
  /** It flags a category from this probability on. */
  readonly threshold: number;
  readonly timeoutMs: number;
}

/** How texts are judged, as far as the operator configured it. */
export interface Moderation {
  readonly endpoint?: Moderate;
  /** A model that judges where there is no endpoint. */
  readonly judge?: ModerationJudge;
  /** What becomes of a request without a verdict. */
  readonly onError: 'allow' | 'block';
}

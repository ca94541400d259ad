/** What a model must be like. All of it counts. */
export interface ModelQuery {
  /** Words that its slug, name or description holds, in any order and case. */
  readonly words?: string;
  readonly inputModalities?: readonly string[];
  readonly outputModalities?: readonly string[];
  /** Tokens. */
  readonly contextTokensMin?: number;
  /** The family that it belongs to: `Claude`, `GPT`. Case does not count. */
  readonly series?: string;
}

export interface FoundModel {
  readonly slug: string;
  readonly name: string;
  readonly description?: string;
  readonly contextTokensMax?: number;
  readonly inputModalities: readonly string[];
  readonly outputModalities: readonly string[];
  readonly series: string;
}

/** Models of the catalog that fit, best match first. */
export type FindModels = (query: ModelQuery) => readonly FoundModel[];

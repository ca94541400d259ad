import type { Extra } from './extra.ts';

/**
 * What a generation consumed, in tokens as the provider counted them. Every number is a non-negative integer.
 * `promptTokens` includes the cached and the written ones, `completionTokens` includes reasoning (the opposite of the
 * messages format, whose `input_tokens` leaves cache tokens out). @source generation.md 11.8
 */
export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cacheReadTokens: number;
  /** Written to the cache, of any lifetime. */
  readonly cacheWriteTokens: number;
  /** The part of `cacheWriteTokens` that lives an hour and costs more. */
  readonly cacheWrite1hTokens: number;
  readonly reasoningTokens?: number;
  readonly audioPromptTokens?: number;
  readonly videoPromptTokens?: number;
  readonly audioCompletionTokens?: number;
  readonly imageCompletionTokens?: number;
  readonly acceptedPredictionTokens?: number;
  readonly rejectedPredictionTokens?: number;
  readonly webSearchRequests?: number;
  readonly webFetchRequests?: number;
  /** What the provider charges for, where it counts that apart from what the model read and wrote (Cohere). */
  readonly billed?: { readonly promptTokens: number; readonly completionTokens: number };
  /** The tier that served, in the upstream's word. */
  readonly serviceTier?: string;
  /** True when the provider reported nothing and we counted. */
  readonly estimated: boolean;
  readonly extra?: Extra;
}

export const NO_USAGE: Usage = {
  promptTokens: 0,
  completionTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  estimated: true,
};

/** More than any model reads or writes for one answer. */
const TOKENS_MAX = 100_000_000;

/** A token count from a wire object: anything but a number that may be one counts as `undefined`. Nobody pays for 1e19. */
export function tokenCount(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= TOKENS_MAX ? Math.floor(value) : undefined;
}

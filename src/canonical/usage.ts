import { isJsonObject, type JsonObject } from '../lib/json.ts';
import type { Extra } from './extra.ts';

/**
 * What a generation consumed, in tokens as the provider counted them. Every number is a non-negative integer.
 * `promptTokens` includes the cached and the written ones, `completionTokens` includes reasoning (the opposite of the
 * messages format, whose `input_tokens` leaves cache tokens out). @spec translate-28
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
  /** Tokens of pictures in the prompt. */
  readonly imagePromptTokens?: number;
  /** What is counted by another unit than tokens. Absent: nothing. */
  readonly units?: UnitCounts;
  /** What the provider charges for, where it counts that apart from what the model read and wrote (Cohere). */
  readonly billed?: { readonly promptTokens?: number; readonly completionTokens?: number };
  /** The tier that served, as the upstream names it. */
  readonly serviceTier?: string;
  /** What the provider says that it charges, which is not what the account is charged. Absent: it says nothing. */
  readonly chargedNanoUsd?: number;
  /**
   * Totals that a decoder did not find, or not as a number of tokens: what stands in their place is not charged. Absent: both
   * were reported. `completeUsage` estimates them, once for all formats.
   */
  readonly unreported?: readonly CountName[];
  /** Totals that were reported beyond belief and replaced by an estimate. Absent: none. @spec money-20 */
  readonly implausible?: readonly ImplausibleCount[];
  /** True when the provider did not report all that is charged for, or not what can be, and we counted. */
  readonly estimated: boolean;
  readonly extra?: Extra;
}

/** What was read and made, in units that are no tokens. Every number is a non-negative integer. */
export interface UnitCounts {
  /** Of a text that was spoken: code points. */
  readonly characters?: number;
  /** Audio that was heard, and audio that was made, ms. */
  readonly audioMs?: number;
  readonly outputAudioMs?: number;
  /** Pictures that were made, and pictures that they were made from. */
  readonly images?: number;
  readonly inputImages?: number;
  /** Of all pictures that were made. */
  readonly outputPixels?: number;
  /** As rerankers count: a query with up to a hundred documents is one. */
  readonly searchUnits?: number;
  /** Clips that were made, and how long all of them are, ms. */
  readonly clips?: number;
  readonly videoMs?: number;
  /** What each of the pictures is that were made, in the words of price lists. Absent: unknown. */
  readonly imageVariants?: readonly ImageVariant[];
  /** What clips were made, in the words of price lists, the most specific first: `720p_audio`, `720p`. */
  readonly videoVariants?: readonly string[];
}

/** No quality, and no words for the size: unknown. */
export interface ImageVariant {
  readonly quality?: string;
  /** Every word for its size, the most exact first: `1024x1024`, `1K`. */
  readonly sizes: readonly string[];
}

/** The two totals that a response is charged by. */
export type CountName = 'prompt' | 'completion';

export interface ImplausibleCount {
  readonly count: CountName;
  /** Tokens. */
  readonly reported: number;
  /** The largest count that would have been accepted. */
  readonly max: number;
}

export const NO_USAGE: Usage = {
  promptTokens: 0,
  completionTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  estimated: true,
};

/** Counts that are added up; other fields are those of the last part. */
const OPTIONAL_COUNTS = [
  'reasoningTokens',
  'audioPromptTokens',
  'videoPromptTokens',
  'audioCompletionTokens',
  'imageCompletionTokens',
  'acceptedPredictionTokens',
  'rejectedPredictionTokens',
  'webSearchRequests',
  'webFetchRequests',
  'imagePromptTokens',
] as const satisfies readonly (keyof Usage)[];

/** Adds the usage of two parts of one response. What a provider counts apart for its bill is not added. */
export function addUsage(
  before: Usage,
  { billed: _billed, implausible: _implausible, chargedNanoUsd, ...after }: Usage,
): Usage {
  const counts: Partial<Record<(typeof OPTIONAL_COUNTS)[number], number>> = {};
  for (const count of OPTIONAL_COUNTS) {
    const left = before[count];
    const right = after[count];
    if (left !== undefined || right !== undefined) counts[count] = (left ?? 0) + (right ?? 0);
  }
  return {
    ...after,
    ...counts,
    promptTokens: before.promptTokens + after.promptTokens,
    completionTokens: before.completionTokens + after.completionTokens,
    cacheReadTokens: before.cacheReadTokens + after.cacheReadTokens,
    cacheWriteTokens: before.cacheWriteTokens + after.cacheWriteTokens,
    cacheWrite1hTokens: before.cacheWrite1hTokens + after.cacheWrite1hTokens,
    estimated: before.estimated || after.estimated,
    // A sum without one of its parts is none.
    ...(chargedNanoUsd !== undefined &&
      before.chargedNanoUsd !== undefined && { chargedNanoUsd: before.chargedNanoUsd + chargedNanoUsd }),
    ...(before.units !== undefined && { units: addUnits(before.units, after.units ?? {}) }),
  };
}

function addUnits(before: UnitCounts, after: UnitCounts): UnitCounts {
  const counts: { -readonly [Unit in (typeof UNIT_NAMES)[number]]?: number } = {};
  for (const unit of UNIT_NAMES)
    if (before[unit] !== undefined || after[unit] !== undefined)
      counts[unit] = (before[unit] ?? 0) + (after[unit] ?? 0);
  return { ...before, ...after, ...counts };
}

/** More than any model reads or writes for one response. */
export const TOKENS_MAX = 100_000_000;

/** A token count from a wire object: anything but a plausible number is `undefined`, so that no key pays for 1e19. */
export function tokenCount(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= TOKENS_MAX ? Math.floor(value) : undefined;
}

/**
 * A total from a wire object: what is absent, no number, or negative is `undefined`. A number that is too large stays one,
 * so that it is replaced by an estimate as any other that is beyond belief.
 */
export function totalCount(value: unknown): number | undefined {
  return typeof value === 'number' && value > TOKENS_MAX ? TOKENS_MAX : tokenCount(value);
}

/** The totals among these that were not reported, as a member of a usage. */
export function noteUnreported(
  promptTokens: number | undefined,
  completionTokens: number | undefined,
): Pick<Usage, 'unreported'> {
  if (promptTokens === undefined) return completionTokens === undefined ? BOTH_UNREPORTED : PROMPT_UNREPORTED;
  return completionTokens === undefined ? COMPLETION_UNREPORTED : ALL_REPORTED;
}

const ALL_REPORTED = {} as const;
const PROMPT_UNREPORTED = { unreported: ['prompt'] } as const;
const COMPLETION_UNREPORTED = { unreported: ['completion'] } as const;
const BOTH_UNREPORTED = { unreported: ['prompt', 'completion'] } as const;

/** Runs of a tool for one response: more than any research takes. Each costs as much as thousands of tokens. */
const TOOL_RUNS_MAX = 1_000;

/** How often the upstream ran a tool of its own, from a wire object; as strict as `tokenCount`. */
export function toolRunCount(value: unknown): number | undefined {
  const runs = tokenCount(value);
  return runs !== undefined && runs <= TOOL_RUNS_MAX ? runs : undefined;
}

const UNIT_NAMES = [
  'characters',
  'audioMs',
  'outputAudioMs',
  'images',
  'inputImages',
  'outputPixels',
  'searchUnits',
  'clips',
  'videoMs',
] as const satisfies readonly (keyof UnitCounts)[];

const SEARCH_UNITS_MAX = 100_000;

/** Search units from a wire object; as strict as `tokenCount`. */
export function searchUnitCount(value: unknown): number | undefined {
  const units = tokenCount(value);
  return units !== undefined && units <= SEARCH_UNITS_MAX ? units : undefined;
}

const NANO_PER_USD = 1e9;
/** @source xAI docs, "Cost tracking", read 2026-11: a dollar has 10^10 ticks. */
const NANO_PER_TICK = 0.1;
/** More than a response costs: an amount beyond it is no amount of USD. */
const NANO_MAX = 10_000 * NANO_PER_USD;

/**
 * What a provider says that it charges for a response: `cost` of OpenRouter, `cost.total_cost` of Perplexity,
 * `cost_in_usd_ticks` of xAI, in the usage of both formats. Operators compare it with the price that the gateway knows.
 */
export function reportedCharge(usage: JsonObject): Pick<Usage, 'chargedNanoUsd'> {
  const ticks = usage['cost_in_usd_ticks'];
  const { cost } = usage;
  const usd = isJsonObject(cost) ? cost['total_cost'] : cost;
  const nanoUsd =
    typeof ticks === 'number' ? ticks * NANO_PER_TICK : typeof usd === 'number' ? usd * NANO_PER_USD : Number.NaN;
  return nanoUsd >= 0 && nanoUsd <= NANO_MAX ? { chargedNanoUsd: Math.round(nanoUsd) } : {};
}

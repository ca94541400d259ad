import { NO_USAGE, TOKENS_MAX, type CountName, type ImplausibleCount, type Usage } from '../../canonical/usage.ts';

/** What a count is made of that the upstream did not report. */
export interface UsageEstimate {
  /** A function, because a large prompt takes long to count, and nearly always the upstream has counted it. */
  readonly promptTokens: () => number;
  /** Of what came of the response. */
  readonly completionTokens: number;
  /** The response says something, so that it cannot be 0 tokens long. */
  readonly hasContent: boolean;
  /** The response came to its end; else the upstream may not have counted all of it. */
  readonly isOver: boolean;
  /** Where it did not come to its end: less than this it is not likely to have become. */
  readonly completionTokensMin: number;
}

/** A count beyond these is not believed. */
export interface UsageBounds {
  readonly promptTokensMax: number;
  readonly completionTokensMax: number;
}

/** What the request and the endpoint say about the size of a response, in tokens. Absent: unknown. */
export interface UsageLimits {
  readonly contextTokens: number | undefined;
  /** Of the endpoint. */
  readonly outputTokens: number | undefined;
  /** The maximum that was sent, and the budget for reasoning beside it. */
  readonly requestedTokens: number;
}

/** Stand in place of what is unknown of an endpoint. @spec money-20 */
const CONTEXT_TOKENS_UNKNOWN = 2_000_000;
const OUTPUT_TOKENS_UNKNOWN = 262_144;
/** An upstream may count a little otherwise than we do; no upstream counts more than this many times what it allows. */
const TOLERANCE_FACTOR = 2;
const COMPLETION_TOLERANCE_TOKENS = 4_096;

/** @spec money-20 */
export function boundUsage({ contextTokens, outputTokens, requestedTokens }: UsageLimits): UsageBounds {
  const context = contextTokens ?? CONTEXT_TOKENS_UNKNOWN;
  const output = Math.max(requestedTokens, outputTokens ?? OUTPUT_TOKENS_UNKNOWN);
  return {
    promptTokensMax: Math.min(TOLERANCE_FACTOR * context, TOKENS_MAX - 1),
    completionTokensMax: Math.min(TOLERANCE_FACTOR * output + COMPLETION_TOLERANCE_TOKENS, TOKENS_MAX - 1),
  };
}

/**
 * The one rule for what a response is charged as, whatever the format of its upstream: a count that is absent, that is no
 * number of tokens, or that cannot be (no prompt, no tokens of a response that says something) is estimated; one beyond
 * belief is replaced by the estimate and noted as `implausible`. A response that broke off is at least as long as what came
 * of it. Parts of an estimate never exceed it.
 * @param reported absent: the upstream counted nothing at all
 * @spec money-17, money-19, money-20
 */
export function completeUsage(reported: Usage | undefined, estimate: UsageEstimate, bounds: UsageBounds): Usage {
  if (reported !== undefined && isWhole(reported, estimate, bounds)) return { ...reported, estimated: false };
  const { unreported = NOTHING, billed, ...usage } = reported ?? { ...NO_USAGE, unreported: EVERYTHING };
  const { hasContent, isOver } = estimate;
  const isCounted = !unreported.includes('completion');
  const prompt = judge(usage.promptTokens, unreported.includes('prompt'), true, bounds.promptTokensMax);
  const completion = judge(usage.completionTokens, !isCounted || !isOver, hasContent, bounds.completionTokensMax);
  const promptTokens = prompt === 'believed' ? usage.promptTokens : estimatePrompt(prompt, usage, estimate);
  const completionTokens =
    completion === 'believed' ? usage.completionTokens : estimateCompletion(completion, usage, isCounted, estimate);
  const bill = isOver ? completeBill(billed, { promptTokens, completionTokens }, estimate, bounds) : undefined;
  const implausible = [
    ...(prompt === 'implausible' ? [noteOf('prompt', usage.promptTokens, bounds.promptTokensMax)] : []),
    ...(completion === 'implausible' ? [noteOf('completion', usage.completionTokens, bounds.completionTokensMax)] : []),
  ];
  for (const note of bill?.implausible ?? [])
    if (!implausible.some(({ count }) => count === note.count)) implausible.push(note);
  const replaced: CountName[] = [
    ...(prompt === 'believed' ? [] : (['prompt'] as const)),
    ...(completion === 'implausible' ? (['completion'] as const) : []),
  ];
  return {
    // Of a prompt that is not believed no part is.
    ...fitParts({ ...usage, ...(prompt === 'implausible' && NO_CACHE), promptTokens, completionTokens }, replaced),
    ...(bill !== undefined && { billed: bill.billed }),
    estimated: prompt !== 'believed' || completion !== 'believed' || bill?.estimated === true,
    ...(implausible.length > 0 && { implausible }),
  };
}

/** Nothing is absent, and nothing beyond belief, as in most responses: it stands as it is. */
function isWhole(reported: Usage, { hasContent, isOver }: UsageEstimate, bounds: UsageBounds): boolean {
  const { unreported, billed, promptTokens, completionTokens } = reported;
  if (!isOver || unreported !== undefined || billed !== undefined) return false;
  if (promptTokens === 0 || promptTokens > bounds.promptTokensMax) return false;
  return (completionTokens > 0 || !hasContent) && completionTokens <= bounds.completionTokensMax;
}

type Verdict = 'believed' | 'missing' | 'implausible';

function judge(tokens: number, isUnreported: boolean, isPositive: boolean, max: number): Verdict {
  if (tokens > max) return 'implausible';
  return isUnreported || (tokens === 0 && isPositive) ? 'missing' : 'believed';
}

/** A missing count is no less than its parts that were reported: tokens read from the cache, or spent on reasoning. */
function estimatePrompt(verdict: Verdict, usage: Usage, estimate: UsageEstimate): number {
  const estimated = estimate.promptTokens();
  return verdict === 'implausible' ? estimated : Math.max(usage.cacheReadTokens + usage.cacheWriteTokens, estimated);
}

/** @param isCounted so far: the response broke off */
function estimateCompletion(verdict: Verdict, usage: Usage, isCounted: boolean, estimate: UsageEstimate): number {
  const estimated = Math.max(estimate.completionTokens, estimate.isOver ? 0 : estimate.completionTokensMin);
  if (verdict === 'implausible') return estimated;
  return Math.max(isCounted ? usage.completionTokens : (usage.reasoningTokens ?? 0), estimated);
}

interface CompletedBill {
  readonly billed: NonNullable<Usage['billed']>;
  readonly estimated: boolean;
  readonly implausible: readonly ImplausibleCount[];
}

/** Where what is billed is missing or beyond belief, what was read and written is. */
function completeBill(
  billed: Usage['billed'],
  totals: Pick<Usage, 'promptTokens' | 'completionTokens'>,
  { hasContent }: UsageEstimate,
  { promptTokensMax, completionTokensMax }: UsageBounds,
): CompletedBill | undefined {
  if (billed === undefined) return undefined;
  const { promptTokens = 0, completionTokens = 0 } = billed;
  const isCompletionMissing = billed.completionTokens === undefined;
  const prompt = judge(promptTokens, false, true, promptTokensMax);
  const completion = judge(completionTokens, isCompletionMissing, hasContent, completionTokensMax);
  return {
    billed: {
      promptTokens: prompt === 'believed' ? promptTokens : totals.promptTokens,
      completionTokens: completion === 'believed' ? completionTokens : totals.completionTokens,
    },
    estimated: prompt !== 'believed' || completion !== 'believed',
    implausible: [
      ...(prompt === 'implausible' ? [noteOf('prompt', promptTokens, promptTokensMax)] : []),
      ...(completion === 'implausible' ? [noteOf('completion', completionTokens, completionTokensMax)] : []),
    ],
  };
}

function noteOf(count: CountName, reported: number, max: number): ImplausibleCount {
  return { count, reported, max };
}

const NOTHING: readonly CountName[] = [];
const EVERYTHING: readonly CountName[] = ['prompt', 'completion'];
const NO_CACHE = { cacheReadTokens: 0, cacheWriteTokens: 0, cacheWrite1hTokens: 0 } as const;

const TOTALS = { prompt: 'promptTokens', completion: 'completionTokens' } as const;
const PARTS = {
  prompt: ['audioPromptTokens', 'videoPromptTokens'],
  completion: ['reasoningTokens', 'audioCompletionTokens', 'imageCompletionTokens'],
} as const satisfies Readonly<Record<CountName, readonly (keyof Usage)[]>>;

/** No part is larger than a total that was put in place of another; the cost of one that was reported sees to that itself. */
function fitParts(usage: Omit<Usage, 'estimated'>, replaced: readonly CountName[]): Omit<Usage, 'estimated'> {
  if (replaced.length === 0) return usage;
  const fitting: Partial<Record<(typeof PARTS)[CountName][number], number>> = {};
  for (const count of replaced) {
    const total = usage[TOTALS[count]];
    for (const part of PARTS[count]) if ((usage[part] ?? 0) > total) fitting[part] = total;
  }
  return { ...usage, ...fitting };
}

import { linksFiles } from '../../canonical/media/count-media.ts';
import { estimateRequestTokens } from '../../canonical/estimate-tokens.ts';
import type { GenerationRequest, Tool } from '../../canonical/request.ts';
import { NO_USAGE, TOKENS_MAX, type Usage } from '../../canonical/usage.ts';
import type { Endpoint } from '../../catalog/model.ts';
import { costOf, type PriceTable } from '../../catalog/price.ts';
import { countPromptImages } from './prompt-images.ts';

/** The most that a request may come to cost. Nano-USD. */
export interface WorstCase {
  readonly nanoUsd: number;
  /** The same for an answer that may have at most so many tokens. */
  readonly costOf: (tokens: number) => number;
  /**
   * The longest answer that so much money pays for, whichever endpoint writes it, in tokens: 0 where it does not pay for the
   * prompt, `Infinity` where it pays for the longest that they write.
   */
  readonly affordableTokens: (nanoUsd: number) => number;
}

/** What one endpoint charges for an answer of any length, beside what its prompt is held to cost. Nano-USD. */
export interface ResponsePrice {
  readonly costOf: (tokens: number) => number;
  /** The longest answer that so much money pays for, prompt included, in tokens. */
  readonly tokensFor: (nanoUsd: number) => number;
}

/** An endpoint that may serve. */
export interface Offer {
  readonly endpoint: Endpoint;
  /** The limit of the answer that it would be sent; absent: none. */
  readonly maxTokens?: number | undefined;
  /** The format has no field for a limit: whatever the request says, the longest response counts. */
  readonly takesNoLimit?: boolean;
}

/** Text in other tongues and code make more tokens of a byte than prose, by about as much. */
export const ESTIMATE_MARGIN = 4 / 3;
/** Where neither the caller nor the catalog names a bound. No model of today writes more. @spec money-21 */
const OUTPUT_TOKENS_MAX = 262_144;
/** A prompt of unknown length fills the window, and this where the catalog names none. The largest that is common. */
const CONTEXT_TOKENS_DEFAULT = 1_048_576;

/**
 * What the dearest of them would charge for the longest answer. Endpoints whose price is unknown count nothing: that
 * is for the operator to fix; the log says so at the start.
 */
export function worstCaseOf(request: GenerationRequest, offers: readonly Offer[], atMs: number): WorstCase {
  const priceOf = pricesOf(request, atMs);
  const prices = offers.map((offer) => ({ offer, price: priceOf(offer) }));
  const most = (tokensOf: (offer: Offer) => number): number =>
    prices.reduce((sum, { offer, price }) => Math.max(sum, price.costOf(tokensOf(offer))), 0);
  return {
    nanoUsd: most(({ endpoint, maxTokens }) => longestResponse(endpoint, maxTokens)),
    costOf: (tokens) => most((offer) => atMost(offer, tokens)),
    affordableTokens(nanoUsd) {
      let least = Infinity;
      for (const { offer, price } of prices) {
        const tokens = Math.max(0, price.tokensFor(nanoUsd));
        const isCovered = tokens >= longestResponse(offer.endpoint, undefined);
        // An endpoint that writes more than its limit charges for that, too.
        if (!isCovered) least = Math.min(least, atMost(offer, tokens) > tokens ? 0 : tokens);
      }
      return least;
    },
  };
}

/** @param request that the endpoint is sent */
export function answerPriceOf(request: GenerationRequest, endpoint: Endpoint, atMs: number): ResponsePrice {
  return pricesOf(request, atMs)({ endpoint });
}

const FREE_ANSWER: ResponsePrice = { costOf: () => 0, tokensFor: () => Infinity };

function pricesOf(request: GenerationRequest, atMs: number): (offer: Offer) => ResponsePrice {
  let facts: ReturnType<typeof factsOf> | undefined;
  return ({ endpoint: { price, contextTokensMax = CONTEXT_TOKENS_DEFAULT } }) => {
    if (price === undefined) return FREE_ANSWER;
    const { estimatedTokens, isOfKnownLength, webSearchRequests, promptImages } = (facts ??= factsOf(request));
    const promptTokens = isOfKnownLength ? estimatedTokens : Math.max(estimatedTokens, contextTokensMax);
    const costOfResponse = (completionTokens: number): number => {
      const plain = { ...NO_USAGE, promptTokens, completionTokens, webSearchRequests };
      const costs = mostExpensiveUsages(price, plain).map((usage) => costOf(price, usage, { atMs, promptImages }));
      return Math.max(...costs.map(({ totalNanoUsd }) => totalNanoUsd));
    };
    return {
      costOf: costOfResponse,
      tokensFor(nanoUsd) {
        const prompt = costOfResponse(0);
        if (prompt > nanoUsd) return 0;
        // A cost is a straight line, rounded up: measured far off, the rate is exact enough.
        const rate = (costOfResponse(TOKENS_MAX) - prompt) / TOKENS_MAX;
        if (rate === 0) return Infinity;
        const tokens = Math.min(TOKENS_MAX, Math.floor((nanoUsd - prompt) / rate));
        return longestWithin(costOfResponse, nanoUsd, tokens);
      },
    };
  };
}

/** @param near no more than a few tokens off: a prompt and an answer are rounded up together */
function longestWithin(costOfResponse: (tokens: number) => number, nanoUsd: number, near: number): number {
  const fits = (tokens: number): boolean => tokens <= TOKENS_MAX && costOfResponse(tokens) <= nanoUsd;
  let tokens = near;
  for (let step = 1; tokens > 0 && !fits(tokens); step *= 2) tokens = Math.max(0, tokens - step);
  let step = 1;
  for (; fits(tokens + step); step *= 2) tokens += step;
  for (step = Math.floor(step / 2); step >= 1; step = Math.floor(step / 2)) if (fits(tokens + step)) tokens += step;
  return tokens;
}

function factsOf(request: GenerationRequest) {
  return {
    estimatedTokens: Math.ceil(estimateRequestTokens(request) * ESTIMATE_MARGIN),
    isOfKnownLength: !linksFiles(request),
    webSearchRequests: boundedSearches(request),
    promptImages: countPromptImages(request),
  };
}

/** How long a response may be under that bound. */
function atMost({ endpoint, takesNoLimit = false }: Offer, tokens: number): number {
  return longestResponse(endpoint, takesNoLimit ? undefined : tokens);
}

/**
 * How long an answer of the endpoint may be, in tokens, at most `TOKENS_MAX`: more is not reserved for.
 * @param maxTokens as it is sent; absent: without a bound
 */
export function longestResponse(
  { outputTokensMax, outputTokensMin = 0, contextTokensMax = OUTPUT_TOKENS_MAX }: Endpoint,
  maxTokens: number | undefined,
): number {
  const requestedCount = maxTokens ?? outputTokensMax ?? Math.min(contextTokensMax, OUTPUT_TOKENS_MAX);
  return Math.min(Math.max(requestedCount, outputTokensMin), outputTokensMax ?? TOKENS_MAX, TOKENS_MAX);
}

/**
 * The prompt may be text, sound, or written to a cache for one time or the other, and the answer text, reasoning, sound or
 * pictures: whichever costs more, in any combination.
 */
function mostExpensiveUsages(price: PriceTable, plain: Usage): readonly Usage[] {
  const { promptTokens, completionTokens } = plain;
  const prompts: readonly Partial<Usage>[] = [
    {},
    { cacheWriteTokens: promptTokens },
    { cacheWriteTokens: promptTokens, cacheWrite1hTokens: promptTokens },
    ...(price.audio === undefined ? [] : [{ audioPromptTokens: promptTokens }]),
  ];
  const answers: readonly Partial<Usage>[] = [
    {},
    ...(price.reasoning === undefined ? [] : [{ reasoningTokens: completionTokens }]),
    ...(price.audioOutput === undefined ? [] : [{ audioCompletionTokens: completionTokens }]),
    ...(price.imageOutput === undefined ? [] : [{ imageCompletionTokens: completionTokens }]),
  ];
  return prompts.flatMap((prompt) => answers.map((answer): Usage => ({ ...plain, ...prompt, ...answer })));
}

/** Where nothing bounds them. */
const SEARCHES_DEFAULT = 10;
/** More than any answer takes, whatever the caller allows. */
const SEARCHES_MAX = 1_000;

/** The most web searches that upstreams are expected to run for a request, each at a fee: what its tools allow. */
function boundedSearches({ tools, settings }: Pick<GenerationRequest, 'tools' | 'settings'>): number {
  const { webSearchOptions, nativeWebSearch } = settings;
  let searches = webSearchOptions === undefined ? 0 : SEARCHES_DEFAULT;
  // Not every endpoint takes a bound.
  if (nativeWebSearch !== undefined) searches = Math.max(SEARCHES_DEFAULT, usesOf(nativeWebSearch.usesMax));
  for (const tool of tools) if (searchesTheWeb(tool)) searches += usesOf(tool.value['max_uses']);
  return Math.min(searches, SEARCHES_MAX);
}

function searchesTheWeb(tool: Tool): tool is Extract<Tool, { type: 'opaque' }> {
  if (tool.type !== 'opaque') return false;
  const { type } = tool.value;
  return typeof type === 'string' && type.startsWith('web_search');
}

function usesOf(reported: unknown): number {
  return typeof reported === 'number' && reported >= 0 ? Math.min(reported, SEARCHES_MAX) : SEARCHES_DEFAULT;
}

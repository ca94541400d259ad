import { linksFiles } from '../canonical/count-media.ts';
import { estimateRequestTokens } from '../canonical/estimate-tokens.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import { NO_USAGE, TOKENS_MAX, type Usage } from '../canonical/usage.ts';
import type { Endpoint } from '../catalog/model.ts';
import { costOf, type PriceTable } from '../catalog/price.ts';
import { boundedSearches } from './bounded-searches.ts';
import { countPromptImages } from './prompt-images.ts';

/** The most that a request may come to cost. Nano-USD. */
export interface WorstCase {
  readonly nanoUsd: number;
  /** The caller set no bound on the answer: what is left is enough to begin with. @source decisions.md 22 */
  readonly isOpenEnded: boolean;
  /** How long an answer that much money buys, in tokens; 0 when it does not pay for the prompt. */
  readonly affordableTokens: (nanoUsd: number) => number;
}

/** An endpoint that may serve. */
export interface Offer {
  readonly endpoint: Endpoint;
  /** The limit of the answer that it would be sent; absent: none. */
  readonly maxTokens?: number | undefined;
}

/** Text in other tongues and code make more tokens of a byte than prose, by about as much. */
const PROMPT_MARGIN = 4 / 3;
/** Where neither the caller nor the catalog names a bound. No model of today writes more. */
const OUTPUT_TOKENS_MAX = 128_000;
/** A prompt of unknown length fills the window, and this where the catalog names none. The largest that is common. */
const CONTEXT_TOKENS_DEFAULT = 1_048_576;

/**
 * What the dearest of them would charge for the longest answer. Endpoints whose price is unknown count nothing: that
 * is for the operator to mend, who is told at the start.
 */
export function worstCaseOf(request: GenerationRequest, offers: readonly Offer[], atMs: number): WorstCase {
  const estimatedTokens = Math.ceil(estimateRequestTokens(request) * PROMPT_MARGIN);
  const isOfKnownLength = !linksFiles(request);
  const promptTokensOf = ({ contextTokensMax = CONTEXT_TOKENS_DEFAULT }: Endpoint): number =>
    isOfKnownLength ? estimatedTokens : Math.max(estimatedTokens, contextTokensMax);
  const webSearchRequests = boundedSearches(request);
  const promptImages = countPromptImages(request);
  const costs = (completionTokens: (offer: Offer) => number): number => {
    let most = 0;
    for (const offer of offers) {
      const { endpoint } = offer;
      if (endpoint.price === undefined) continue;
      const plain = {
        ...NO_USAGE,
        promptTokens: promptTokensOf(endpoint),
        completionTokens: completionTokens(offer),
        webSearchRequests,
      };
      for (const usage of dearestUsages(endpoint.price, plain))
        most = Math.max(most, costOf(endpoint.price, usage, { atMs, promptImages }).totalNanoUsd);
    }
    return most;
  };
  return {
    nanoUsd: costs(({ endpoint, maxTokens }) => longestAnswer(endpoint, maxTokens)),
    isOpenEnded: request.settings.maxTokens === undefined,
    affordableTokens(nanoUsd) {
      const prompt = costs(() => 0);
      const thousand = costs(() => 1_000) - prompt;
      return thousand <= 0 ? OUTPUT_TOKENS_MAX : Math.max(0, Math.floor(((nanoUsd - prompt) * 1_000) / thousand));
    },
  };
}

/**
 * How long an answer of the endpoint may be, in tokens, at most `TOKENS_MAX`: what nobody writes is not held for.
 * @param maxTokens as it is sent; absent: without a bound
 */
export function longestAnswer(
  { outputTokensMax, outputTokensMin = 0, contextTokensMax = OUTPUT_TOKENS_MAX }: Endpoint,
  maxTokens: number | undefined,
): number {
  const asked = maxTokens ?? outputTokensMax ?? Math.min(contextTokensMax, OUTPUT_TOKENS_MAX);
  return Math.min(Math.max(asked, outputTokensMin), outputTokensMax ?? TOKENS_MAX, TOKENS_MAX);
}

/**
 * The prompt may be text, sound, or written to a cache for one time or the other, and the answer text, reasoning, sound or
 * pictures: whichever costs more, in any combination.
 */
function dearestUsages(price: PriceTable, plain: Usage): readonly Usage[] {
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

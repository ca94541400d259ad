import { estimateRequestTokens } from '../canonical/estimate-tokens.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import { NO_USAGE, type Usage } from '../canonical/usage.ts';
import type { Endpoint } from '../catalog/model.ts';
import { costOf, type PriceTable } from '../catalog/price.ts';
import { countPromptImages } from './prompt-images.ts';

/** The most that a request may come to cost. Nano-USD. */
export interface WorstCase {
  readonly nanoUsd: number;
  /** The caller set no bound on the answer: what is left is enough to begin with. @source decisions.md 22 */
  readonly isOpenEnded: boolean;
  /** How long an answer that much money buys, in tokens; 0 when it does not pay for the prompt. */
  readonly affordableTokens: (nanoUsd: number) => number;
}

/** Text in other tongues and code make more tokens of a byte than prose, by about as much. */
const PROMPT_MARGIN = 4 / 3;
/** Where neither the caller nor the catalog names a bound. No model of today writes more. */
const OUTPUT_TOKENS_MAX = 128_000;

/**
 * What the dearest endpoint would charge for the longest answer. Endpoints whose price is unknown count nothing: that
 * is for the operator to mend, who is told at the start.
 */
export function worstCaseOf(request: GenerationRequest, endpoints: readonly Endpoint[], atMs: number): WorstCase {
  const promptTokens = Math.ceil(estimateRequestTokens(request) * PROMPT_MARGIN);
  const promptImages = countPromptImages(request);
  const { maxTokens } = request.settings;
  const costs = (completionTokens: (endpoint: Endpoint) => number): number => {
    let most = 0;
    for (const endpoint of endpoints)
      if (endpoint.price !== undefined)
        for (const usage of dearestUsages(endpoint.price, promptTokens, completionTokens(endpoint)))
          most = Math.max(most, costOf(endpoint.price, usage, { atMs, promptImages }).totalNanoUsd);
    return most;
  };
  return {
    nanoUsd: costs((endpoint) => Math.max(maxTokens ?? longestAnswer(endpoint), endpoint.outputTokensMin ?? 0)),
    isOpenEnded: maxTokens === undefined,
    affordableTokens(nanoUsd) {
      const prompt = costs(() => 0);
      const thousand = costs(() => 1_000) - prompt;
      return thousand <= 0 ? OUTPUT_TOKENS_MAX : Math.max(0, Math.floor(((nanoUsd - prompt) * 1_000) / thousand));
    },
  };
}

function longestAnswer({ outputTokensMax, contextTokensMax }: Endpoint): number {
  return outputTokensMax ?? Math.min(contextTokensMax ?? OUTPUT_TOKENS_MAX, OUTPUT_TOKENS_MAX);
}

/**
 * The prompt may be text, sound, or written to a cache for one time or the other, and the answer text, reasoning, sound or
 * pictures: whichever costs more, in any combination.
 */
function dearestUsages(price: PriceTable, promptTokens: number, completionTokens: number): readonly Usage[] {
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
  const plain: Usage = { ...NO_USAGE, promptTokens, completionTokens };
  return prompts.flatMap((prompt) => answers.map((answer): Usage => ({ ...plain, ...prompt, ...answer })));
}

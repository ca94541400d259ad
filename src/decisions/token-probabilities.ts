import type { GenerationResponse } from '../canonical/response.ts';
import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';
import { labelAt } from './prompt.ts';
import { normalize } from './probabilities.ts';
import { inGivenOrder } from './percentages.ts';

/** What an upstream lists beside a token, at most. */
export const TOP_LOGPROBS = 20;
/** Questions with more options are put by percentages. */
export const LOGPROBS_OPTIONS_MAX = 20;
/** Where less of the probability is on labels, the judge was about to say something else. */
const MASS_MIN = 0.5;
const LEAST = 1e-6;

/** The tokens of a response with their log-probabilities, as formats of the chat family pass them through. */
export function tokensIn({ blocks, extras }: Pick<GenerationResponse, 'blocks' | 'extras'>): readonly JsonObject[] {
  const all = [...blocks.flatMap((block) => (block.type === 'text' ? (block.extra ?? []) : [])), ...extras];
  return all.flatMap(({ fields }) => {
    const choice = isJsonObject(fields['choices']) ? fields['choices'] : undefined;
    const logprobs = isJsonObject(choice?.['logprobs']) ? choice['logprobs'] : undefined;
    const content = logprobs?.['content'];
    return Array.isArray(content) ? content.filter(isJsonObject) : [];
  });
}

/**
 * The distribution over options by the first token that is a label; `undefined`: there is none, or labels were unlikely.
 * A label that is not listed gets what is left, and never more than the least likely one that is.
 */
export function readTokenProbabilities(
  tokens: readonly JsonObject[],
  order: readonly number[],
): readonly number[] | undefined {
  const labels = order.map((_, position) => labelAt(position, order.length));
  const token = tokens.find((each) => labels.includes(labelOf(each['token'])));
  if (token === undefined) return undefined;
  const listed = listedOf(token, labels);
  const sum = [...listed.values()].reduce((total, probability) => total + probability, 0);
  if (sum < MASS_MIN) return undefined;
  const left = Math.max(0, 1 - sum) / labels.length;
  const floor = Math.max(LEAST, Math.min(left, ...listed.values()));
  const distribution = normalize(labels.map((label) => Math.max(LEAST, listed.get(label) ?? floor)));
  return distribution && inGivenOrder(distribution, order);
}

/** Variants of a label are one: `A`, ` A` and `a`. */
function listedOf(token: JsonObject, labels: readonly string[]): ReadonlyMap<string, number> {
  const top = Array.isArray(token['top_logprobs']) ? token['top_logprobs'].filter(isJsonObject) : [];
  const all = top.some(({ token: text }) => text === token['token']) ? top : [...top, token];
  const listed = new Map<string, number>();
  for (const { token: text, logprob } of all) {
    const label = labelOf(text);
    if (!labels.includes(label) || typeof logprob !== 'number') continue;
    listed.set(label, (listed.get(label) ?? 0) + Math.exp(Math.min(0, logprob)));
  }
  return listed;
}

function labelOf(token: Json | undefined): string {
  return typeof token === 'string' ? token.trim().toUpperCase() : '';
}

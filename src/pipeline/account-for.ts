import { estimateAnswerTokens, estimateRequestTokens } from '../canonical/estimate-tokens.ts';
import { addUsage, NO_USAGE, type Usage } from '../canonical/usage.ts';
import { costOf, totalCost, type Cost, type PriceMoment, type PriceTable } from '../catalog/price.ts';
import { servedPrice } from '../catalog/served-price.ts';
import type { AnswerPart, GenerationRecord, ServedPart } from '../telemetry/record.ts';
import { countPromptImages } from './prompt-images.ts';

const FREE_OF_CHARGE: Cost = { totalNanoUsd: 0, promptNanoUsd: 0, completionNanoUsd: 0 };

/**
 * Fixes what a generation consumed and what it costs: the sum over all who gave a part of the answer, each at its own
 * price. Nearly always that is one.
 */
export function accountFor(record: GenerationRecord): void {
  const counted = countedParts(record);
  if (counted.length === 0) {
    record.cost = FREE_OF_CHARGE;
    return;
  }
  const total = counted.map((part) => part.usage).reduce(addUsage);
  const isFree = isFreeOfCharge(record, total, counted.at(-1)?.endpoint.cancellable === false);
  record.usage = total;
  record.served = counted.map(({ endpoint, isByok, attempt, usage: used }) => ({
    endpoint,
    isByok,
    attempt,
    usage: used,
    cost: isFree ? FREE_OF_CHARGE : priceOf(servedPrice(endpoint, used), used, record),
  }));
  record.cost = totalCost(record.served.map(chargeOf));
  const own = record.served.filter((part) => part.isByok);
  record.listNanoUsd = own.length === 0 ? undefined : totalCost(own.map(({ cost }) => cost))?.totalNanoUsd;
}

function countedParts(record: GenerationRecord): readonly (Omit<AnswerPart, 'usage'> & { readonly usage: Usage })[] {
  const { serving, usage, answerChars, givenChars, brokenParts, abandoned, end } = record;
  const counted = brokenParts.map((part) => ({ ...part, usage: countUsage(part, false, record) }));
  if (serving !== undefined) {
    const last = { ...serving, usage, answerChars, givenChars };
    counted.push({ ...last, usage: countUsage(last, end !== undefined, record) });
  }
  if (abandoned !== undefined && !abandoned.endpoint.cancellable) {
    const unheard = { ...abandoned, usage: undefined, answerChars: 0, givenChars: 0 };
    counted.push({ ...unheard, usage: countUsage(unheard, false, record) });
  }
  return counted;
}

/** A call on the caller's own credential is between the caller and the provider; there is no fee on it. areas.md 2 */
function chargeOf({ isByok, cost }: ServedPart): Cost | undefined {
  return isByok ? { ...(cost ?? FREE_OF_CHARGE), totalNanoUsd: 0 } : cost;
}

/** The upstream's count where it came to its end, else the larger of that and our estimate. @source decisions.md 21 */
function countUsage({ usage, answerChars, givenChars }: AnswerPart, isOver: boolean, record: GenerationRecord): Usage {
  if (usage !== undefined && isOver) return usage;
  const reported = usage ?? NO_USAGE;
  const prompt =
    usage === undefined ? estimateRequestTokens(record.request) + estimateAnswerTokens(givenChars) : usage.promptTokens;
  return {
    ...reported,
    promptTokens: prompt,
    completionTokens: Math.max(reported.completionTokens, estimateAnswerTokens(answerChars)),
    estimated: true,
  };
}

/**
 * Nothing is owed for an answer that an error ended, nor for one that said nothing and did not end; but a caller who hung
 * up owes the prompt where the provider goes on and charges for it.
 * @param billsOn hanging up does not stop the meter of who had the request last
 * @source generation.md 8.6, decisions.md 21
 */
function isFreeOfCharge({ end, cancelled }: GenerationRecord, usage: Usage, billsOn: boolean): boolean {
  if (end !== undefined) return end.finish === 'error';
  const silent = usage.completionTokens === 0;
  return !cancelled || (silent && !billsOn);
}

function priceOf(price: PriceTable | undefined, usage: Usage, record: GenerationRecord): Cost | undefined {
  return price === undefined ? undefined : costOf(price, usage, momentOf(price, record));
}

/** Pictures are counted only for those who are paid by the piece. */
function momentOf(price: PriceTable, { createdMs, request }: GenerationRecord): PriceMoment {
  if (price.image === undefined) return { atMs: createdMs };
  return { atMs: createdMs, promptImages: countPromptImages(request) };
}

import type { Spent } from '../accounts/spend-limit.ts';
import { estimateAnswerTokens, estimateRequestTokens } from '../canonical/estimate-tokens.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { Warning } from '../canonical/extra.ts';
import { addUsage, NO_USAGE, type Usage } from '../canonical/usage.ts';
import { costOf, totalCost, type Cost, type PriceMoment, type PriceTable } from '../catalog/price.ts';
import { servedPrice } from '../catalog/served-price.ts';
import type { AnswerPart, GenerationRecord, ServedPart } from '../telemetry/record.ts';
import { countPromptImages } from './prompt-images.ts';

const FREE_OF_CHARGE: Cost = { totalNanoUsd: 0, promptNanoUsd: 0, completionNanoUsd: 0 };

/**
 * Fixes what a generation consumed and what it costs: the sum over all who gave a part of the answer, each at its own
 * price, and the fees of tools. Nearly always that is one part.
 */
export function accountFor(record: GenerationRecord): void {
  const counted = countedParts(record);
  if (counted.length === 0) {
    if (hasUpstreamFailed(record)) waiveFees(record);
    record.cost = withFee(FREE_OF_CHARGE, feesOf(record));
    return;
  }
  const total = counted.map((part) => part.usage).reduce(addUsage);
  const isFree = isFreeOfCharge(record, total, counted.at(-1)?.endpoint.cancellable === false);
  record.usage = total;
  record.served = counted.map((part) => servedPart(part, isFree, record));
  record.cost = withFee(totalCost(record.served.map(chargeOf)), feesOf(record));
  if (record.cost?.isPartial === true) record.warn(record.served.flatMap(unpriced));
  const own = record.served.filter((part) => part.isByok);
  record.listNanoUsd = own.length === 0 ? undefined : totalCost(own.map(({ cost }) => cost))?.totalNanoUsd;
}

/** What a generation that goes on has come to so far, its generations inside included. */
export interface SpentSoFar {
  /** What will be charged for it. Nano-USD. */
  readonly charge: Spent;
  /** Nano-USD, whoever pays it. */
  readonly costNanoUsd: number;
  readonly totalTokens: number;
}

/** @param record whose last turn has ended */
export function spentSoFar(record: GenerationRecord): SpentSoFar {
  const parts = countedParts(record).map((part) => servedPart(part, false, record));
  const own = totalNanoUsd(parts.filter(({ isByok }) => !isByok)) + feesOf(record);
  const byok = totalNanoUsd(parts.filter(({ isByok }) => isByok));
  const usages = [...parts, ...record.innerRuns].map(({ usage }) => usage);
  return {
    charge: { ownNanoUsd: own, byokNanoUsd: byok },
    costNanoUsd: own + byok + totalNanoUsd(record.innerRuns),
    totalTokens: usages.reduce((sum, usage) => sum + usage.promptTokens + usage.completionTokens, 0),
  };
}

function totalNanoUsd(parts: readonly { readonly cost: Cost | undefined }[]): number {
  return parts.reduce((sum, { cost }) => sum + (cost?.totalNanoUsd ?? 0), 0);
}

function feesOf({ serverTools, pluginFeesNanoUsd }: GenerationRecord): number {
  return (serverTools?.feeNanoUsd ?? 0) + pluginFeesNanoUsd;
}

/** It is nobody else's doing: not the caller's, who hung up or asked what cannot be answered, nor that of the time for all of it. */
function hasUpstreamFailed({ failure, error, cancelled }: GenerationRecord): boolean {
  if (cancelled) return false;
  // Nobody was asked, since all of them rest after failures.
  if (failure === undefined) return error?.availability?.code === 'temporarily_unavailable';
  if (failure.kind === 'aborted' || failure.clock === 'total') return false;
  return failure.status >= 500 || failure.status === 429;
}

/** What plugins had done for the request is not owed where no upstream gave a single token for it. @source generation.md 8.6 */
function waiveFees(record: GenerationRecord): void {
  record.pluginFeesNanoUsd = 0;
  record.fileFeesNanoUsd = 0;
}

/** A fee is owed also where nobody knows what the model costs. @source generation.md 5.3 "tool fees" */
function withFee(cost: Cost | undefined, feeNanoUsd: number): Cost | undefined {
  if (feeNanoUsd === 0) return cost;
  const base: Cost = cost ?? { ...FREE_OF_CHARGE, isPartial: true };
  return { ...base, totalNanoUsd: base.totalNanoUsd + feeNanoUsd };
}

/** Says that the cost is not all of it. */
function unpriced({ cost, endpoint }: ServedPart): readonly Warning[] {
  if (cost !== undefined) return [];
  const message = `nobody knows what ${endpoint.upstreamModel} costs at ${endpoint.providerName}: the cost is without it`;
  return [{ code: 'price-unknown', path: 'model', message }];
}

type CountedPart = Omit<AnswerPart, 'usage'> & { readonly usage: Usage };

function servedPart(part: CountedPart, isFree: boolean, record: GenerationRecord): ServedPart {
  const { endpoint, isByok, attempt, usage } = part;
  const cost = isFree ? FREE_OF_CHARGE : priceOf(servedPrice(endpoint, usage), usage, part, record);
  return { endpoint, isByok, attempt, usage, cost };
}

function countedParts(record: GenerationRecord): readonly CountedPart[] {
  const { serving, usage, answerBytes, givenBytes, earlierParts, abandoned, end, asked } = record;
  const counted: CountedPart[] = earlierParts.map((part) => ({
    ...part,
    usage: countUsage(part, part.isOver === true, record),
  }));
  if (serving !== undefined) {
    const last = { ...serving, usage, answerBytes, givenBytes, asked };
    // Where somebody else has the request by now, it broke off by itself.
    const isCutOff = (record.cancelled || isBlocked(record)) && abandoned === undefined;
    counted.push({ ...last, usage: countUsage(last, end !== undefined, record, isCutOff ? billedOn(serving) : 0) });
  }
  if (abandoned !== undefined && !abandoned.endpoint.cancellable) {
    const unheard = { ...abandoned, usage: undefined, answerBytes: 0, givenBytes: 0, asked };
    counted.push({ ...unheard, usage: countUsage(unheard, false, record, billedOn(abandoned)) });
  }
  return counted;
}

/** A call on the caller's own credential is between the caller and the provider; there is no fee on it. areas.md 2 */
function chargeOf({ isByok, cost }: ServedPart): Cost | undefined {
  return isByok ? { ...(cost ?? FREE_OF_CHARGE), totalNanoUsd: 0 } : cost;
}

/**
 * What a provider is likely to bill for an answer that goes on though nobody hears it: as long as its answers mostly are.
 * 0 where hanging up ends the answer, and where nobody knows. @source generation.md 6.8
 */
function billedOn({ endpoint, expectedTokens }: Pick<AnswerPart, 'endpoint' | 'expectedTokens'>): number {
  return endpoint.cancellable ? 0 : (expectedTokens?.() ?? 0);
}

/**
 * The upstream's count where it came to its end, else the larger of that and our estimate. Who counts no token of an answer
 * that says something, or counts it in no number that may be one, has not counted it.
 * @source decisions.md 21, pains.md 28
 * @param tokensMin less than this the answer is not likely to have become
 */
function countUsage(
  { usage, answerBytes, givenBytes, asked, tokensMax }: AnswerPart,
  isOver: boolean,
  { request }: GenerationRecord,
  tokensMin = 0,
): Usage {
  const isCounted = usage !== undefined && (usage.completionTokens > 0 || answerBytes === 0);
  if (isCounted && isOver) return usage;
  const reported = usage ?? NO_USAGE;
  // An estimate may be wrong, but nobody owes more than was held for.
  const estimated = Math.min(estimateAnswerTokens(answerBytes), tokensMax?.() ?? Infinity);
  const prompt =
    usage === undefined
      ? estimateRequestTokens(asked ?? request) + estimateAnswerTokens(givenBytes)
      : usage.promptTokens;
  return {
    ...reported,
    promptTokens: prompt,
    completionTokens: Math.max(reported.completionTokens, estimated, tokensMin),
    estimated: true,
  };
}

/**
 * Nothing is owed for an answer that an error ended, nor for one that said nothing and did not end, or whose upstream gave
 * no reason for its end; but a caller who hung up owes the prompt where the provider goes on and charges for it, one whose limits leave too little for another turn
 * owes those before it, and so does one whose own filters block what came, or who has turns of an answer that the request
 * itself brought to its end.
 * @param billsOn hanging up does not stop the meter of who had the request last
 * @source generation.md 8.6, decisions.md 21
 */
function isFreeOfCharge(record: GenerationRecord, usage: Usage, billsOn: boolean): boolean {
  const { end, cancelled, failure } = record;
  const silent = usage.completionTokens === 0;
  if (end !== undefined) return end.finish === 'error' || (silent && end.nativeFinish === undefined);
  if (failure?.kind === 'unfunded' || isBlocked(record) || isOverdone(record)) return false;
  return !cancelled || (silent && !billsOn);
}

/** What is wrong with the request itself: it grew longer than the model reads, for one. @source decisions.md 2 */
const FAULTS_OF_REQUEST: ReadonlySet<number> = new Set([400, 413, 422]);

/**
 * The caller has turns that came to their end, and it is no upstream's fault that no other one followed. Else whoever lets
 * a tool fetch more than the model can read would have them for nothing.
 */
function isOverdone({ failure, earlierParts, request }: GenerationRecord): boolean {
  if (failure === undefined || request.delivery !== 'stream' || !earlierParts.some(({ isOver }) => isOver))
    return false;
  return failure.clock === 'total' || FAULTS_OF_REQUEST.has(failure.status);
}

/** A rule of the account's own refuses it: nobody upstream failed. */
function isBlocked({ error, failure }: GenerationRecord): boolean {
  return failure === undefined && error?.type === 'permission_denied';
}

function priceOf(
  price: PriceTable | undefined,
  usage: Usage,
  { asked }: CountedPart,
  { createdMs, request }: GenerationRecord,
): Cost | undefined {
  return price === undefined ? undefined : costOf(price, usage, momentOf(price, createdMs, asked ?? request));
}

/** Pictures are counted only for those who are paid by the piece. */
function momentOf(price: PriceTable, createdMs: number, asked: GenerationRequest): PriceMoment {
  if (price.image === undefined) return { atMs: createdMs };
  return { atMs: createdMs, promptImages: countPromptImages(asked) };
}

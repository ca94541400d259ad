import type { Spent } from '../../accounts/limits/spend-limit.ts';
import {
  estimateMediaTokens,
  estimateOperationTokens,
  estimateRequestTokens,
  estimateResponseTokens,
} from '../../canonical/estimate-tokens.ts';
import { isOperation, type ModelRequest, type Operation } from '../../canonical/operation.ts';
import type { Warning } from '../../canonical/extra.ts';
import { boundUsage, completeUsage, type UsageEstimate } from './complete-usage.ts';
import { atLeast } from './least-units.ts';
import { estimateOperationUsage } from '../../canonical/operation-usage.ts';
import { addUsage, type Usage } from '../../canonical/usage.ts';
import { costOf, totalCost, type Cost, type PriceMoment, type PriceTable } from '../../catalog/price.ts';
import { servedPrice } from '../../catalog/served-price.ts';
import type { Endpoint } from '../../catalog/model.ts';
import type { FinalBill, ServedPart } from '../../telemetry/record.ts';
import type { RequestLog } from '../../telemetry/request-log.ts';
import type { ResponsePart } from '../../telemetry/response-meter.ts';
import type { RequestFacts } from '../request.ts';
import { countPromptImages } from './prompt-images.ts';

const FREE_OF_CHARGE: Cost = { totalNanoUsd: 0, promptNanoUsd: 0, completionNanoUsd: 0 };

/** What the request and its response were, for the bill. */
type BilledFacts = Pick<RequestFacts<ModelRequest>, 'log' | 'meter'>;

/**
 * What a generation used and what it costs: the sum over all parts of the response, each at its own price, and the fees of
 * tools and plugins. Nearly always that is one part. Warns in the log of counts and prices that are not what they should be.
 */
export function billOf(facts: BilledFacts): Omit<FinalBill, 'savedNanoUsd'> {
  const { log, meter } = facts;
  const { pluginFeesNanoUsd, fileFeesNanoUsd } = log;
  const counted = countedParts(facts);
  if (counted.length === 0) {
    const fees = hasUpstreamFailed(facts) ? NO_FEES : { pluginFeesNanoUsd, fileFeesNanoUsd };
    const cost = withFee(FREE_OF_CHARGE, feesOf(log.serverTools, fees.pluginFeesNanoUsd));
    return { served: [], usage: meter.usage, cost, listNanoUsd: undefined, ...fees };
  }
  const usage = counted.map((part) => part.usage).reduce(addUsage);
  const isFree = isFreeOfCharge(facts, usage, counted.at(-1)?.endpoint.cancellable === false);
  const served = counted.map((part) => servedPart(part, isFree, log));
  const cost = withFee(totalCost(served.map(chargeOf)), feesOf(log.serverTools, pluginFeesNanoUsd));
  log.warn(served.flatMap(implausible));
  if (cost?.isPartial === true) log.warn(served.flatMap(unpriced));
  const own = served.filter((part) => part.isByok);
  const listNanoUsd = own.length === 0 ? undefined : totalCost(own.map((part) => part.cost))?.totalNanoUsd;
  return { served, usage, cost, listNanoUsd, pluginFeesNanoUsd, fileFeesNanoUsd };
}

/** What a generation that goes on has come to so far, its generations inside included. */
export interface SpentSoFar {
  /** What will be charged for it. Nano-USD. */
  readonly charge: Spent;
  /** Nano-USD, whether the account pays it or the caller's own credential. */
  readonly costNanoUsd: number;
  readonly totalTokens: number;
}

/** @param facts of a request whose last turn has ended */
export function spentSoFar(facts: BilledFacts): SpentSoFar {
  const { log } = facts;
  const parts = countedParts(facts).map((part) => servedPart(part, false, log));
  const fees = feesOf(log.serverTools, log.pluginFeesNanoUsd);
  const own = totalNanoUsd(parts.filter(({ isByok }) => !isByok)) + fees;
  const byok = totalNanoUsd(parts.filter(({ isByok }) => isByok));
  const usages = [...parts, ...log.nestedRuns].map(({ usage }) => usage);
  return {
    charge: { ownNanoUsd: own, byokNanoUsd: byok },
    costNanoUsd: own + byok + totalNanoUsd(log.nestedRuns),
    totalTokens: usages.reduce((sum, usage) => sum + usage.promptTokens + usage.completionTokens, 0),
  };
}

function totalNanoUsd(parts: readonly { readonly cost: Cost | undefined }[]): number {
  return parts.reduce((sum, { cost }) => sum + (cost?.totalNanoUsd ?? 0), 0);
}

/** What plugins had done for the request is not owed where no upstream gave a single token for it. @spec money-14 */
const NO_FEES = { pluginFeesNanoUsd: 0, fileFeesNanoUsd: 0 } as const;

function feesOf(tools: RequestLog['serverTools'], pluginFeesNanoUsd: number): number {
  return (tools?.feeNanoUsd ?? 0) + pluginFeesNanoUsd;
}

/** The upstreams alone failed: the caller did not hang up, the request was valid, and its total time was not over. */
function hasUpstreamFailed({ log: { error }, meter: { failure, cancelled } }: BilledFacts): boolean {
  if (cancelled) return false;
  // No provider was called, since all of them are in cooldown.
  if (failure === undefined) return error?.availability?.code === 'temporarily_unavailable';
  if (failure.kind === 'aborted' || failure.clock === 'total') return false;
  return failure.status >= 500 || failure.status === 429;
}

/** A fee is owed also where the price of the model is unknown. @spec money-7, tool-23 */
function withFee(cost: Cost | undefined, feeNanoUsd: number): Cost | undefined {
  if (feeNanoUsd === 0) return cost;
  const base: Cost = cost ?? { ...FREE_OF_CHARGE, isPartial: true };
  return { ...base, totalNanoUsd: base.totalNanoUsd + feeNanoUsd };
}

/** Says that the cost is not all of it. */
function unpriced({ cost, endpoint }: ServedPart): readonly Warning[] {
  if (cost !== undefined) return [];
  const message = `the price of ${endpoint.upstreamModel} at ${endpoint.providerName} is unknown: the cost is without it`;
  return [{ code: 'price-unknown', path: 'model', message }];
}

type CountedPart = Omit<ResponsePart, 'usage'> & { readonly usage: Usage };

function servedPart(part: CountedPart, isFree: boolean, log: BilledFacts['log']): ServedPart {
  const { endpoint, isByok, attempt, usage, isOver, endedMs } = part;
  const cost = isFree ? FREE_OF_CHARGE : priceOf(servedPrice(endpoint, usage), usage, part, log);
  const left = { ...(isOver !== undefined && { isOver }), ...(endedMs !== undefined && { endedMs }) };
  return { endpoint, isByok, attempt, usage, cost, ...left };
}

function countedParts(facts: BilledFacts): readonly CountedPart[] {
  const { log, meter } = facts;
  const { serving, usage, bytes, givenBytes, earlierParts, abandoned, end, turnRequest } = meter;
  const counted: CountedPart[] = earlierParts.map((part) => ({
    ...part,
    usage: countUsage(part, part.isOver === true, log),
  }));
  if (serving !== undefined) {
    const last = { ...serving, usage, bytes, givenBytes, turnRequest };
    // Where another endpoint has the request by now, it broke off by itself.
    const isCutOff = (meter.cancelled || isBlocked(facts)) && abandoned === undefined;
    counted.push({
      ...last,
      usage: countUsage(last, end !== undefined && end.isCut !== true, log, isCutOff ? billedOn(serving) : 0),
    });
  }
  if (abandoned !== undefined && !abandoned.endpoint.cancellable) {
    const unreported = { ...abandoned, usage: undefined, bytes: 0, givenBytes: 0, turnRequest };
    counted.push({ ...unreported, usage: countUsage(unreported, false, log, billedOn(abandoned)) });
  }
  return counted;
}

/** A call on the caller's own credential is between the caller and the provider; there is no fee on it. @spec money-10 */
function chargeOf({ isByok, cost }: ServedPart): Cost | undefined {
  return isByok ? { ...(cost ?? FREE_OF_CHARGE), totalNanoUsd: 0 } : cost;
}

/**
 * What a provider is likely to bill for a response that goes on after the caller has gone: as long as its responses mostly are.
 * 0 where hanging up ends the response, and where the usual length is unknown. @spec money-18
 */
function billedOn({ endpoint, expectedTokens }: Pick<ResponsePart, 'endpoint' | 'expectedTokens'>): number {
  return endpoint.cancellable ? 0 : (expectedTokens?.() ?? 0);
}

/** @param completionTokensMin less than this the answer is not likely to have become */
function countUsage(
  part: ResponsePart,
  isOver: boolean,
  { request }: BilledFacts['log'],
  completionTokensMin = 0,
): Usage {
  const { usage, endpoint, bytes, givenBytes, tokensMax, reservedTokens } = part;
  const originalRequest = part.turnRequest ?? request;
  if (isOperation(originalRequest)) return countOperation(usage, endpoint, originalRequest, isOver);
  const { maxTokens = 0, reasoning } = originalRequest.settings;
  const sentTokens = tokensMax?.();
  const estimate: UsageEstimate = {
    promptTokens: () => estimateRequestTokens(originalRequest) + estimateResponseTokens(givenBytes),
    // An estimate may be wrong, but no caller owes more than was reserved.
    completionTokens: Math.min(estimateResponseTokens(bytes), sentTokens ?? Infinity, reservedTokens?.() ?? Infinity),
    hasContent: bytes > 0,
    isOver,
    completionTokensMin,
  };
  const bounds = boundUsage({
    contextTokens: endpoint.contextTokensMax,
    outputTokens: endpoint.outputTokensMax,
    requestedTokens: Math.max(maxTokens + (reasoning?.maxTokens ?? 0), sentTokens ?? 0),
  });
  return completeUsage(usage, estimate, bounds);
}

/** What was counted, or else what its request says. Of vectors as many contexts may be full as there are inputs. */
function countOperation(usage: Usage | undefined, endpoint: Endpoint, operation: Operation, isOver: boolean): Usage {
  if (operation.kind !== 'embeddings') return atLeast(usage ?? estimateOperationUsage(operation), endpoint);
  const { contextTokensMax } = endpoint;
  const contextTokens = contextTokensMax && contextTokensMax * operation.inputs.length;
  const completed = completeUsage(
    usage,
    {
      promptTokens: () => estimateOperationTokens(operation),
      completionTokens: 0,
      hasContent: false,
      isOver,
      completionTokensMin: 0,
    },
    boundUsage({ contextTokens, outputTokens: 0, requestedTokens: 0 }),
  );
  const isCountedByKind = usage?.imagePromptTokens !== undefined || usage?.audioPromptTokens !== undefined;
  return completed.estimated && !isCountedByKind ? { ...completed, ...estimateMediaTokens(operation) } : completed;
}

/** Says what was not believed. */
function implausible({ usage, endpoint }: ServedPart): readonly Warning[] {
  return (usage.implausible ?? []).map(({ count, reported, max }) => ({
    code: 'usage-implausible',
    path: 'usage',
    message: `${endpoint.providerName} reported ${reported} ${count} tokens where at most ${max} are possible: an estimate is charged instead`,
  }));
}

/**
 * Nothing is owed for a response that an error ended, nor for one that is empty and did not end, or whose upstream gave no
 * reason for its end. But a caller that hung up owes the prompt where the provider goes on and charges for it; a caller
 * whose limits leave too little for another turn owes the turns before it; and a response is owed as far as it came where
 * the account's own filters block it, or where the request itself ended it after complete turns.
 * @param billsOn hanging up does not stop the meter of the endpoint that had the request last
 * @spec money-12, money-13, money-18
 */
function isFreeOfCharge(facts: BilledFacts, usage: Usage, billsOn: boolean): boolean {
  const { end, cancelled, failure } = facts.meter;
  // The answer of an operation counts no tokens.
  const silent = usage.completionTokens === 0 && !isOperation(facts.log.request);
  // A picture that is not complete, or that its caller does not have, is owed by none. @spec image-9
  if (end === undefined && isPicture(facts.log.request)) return true;
  if (end !== undefined) return end.finish === 'error' || (silent && end.nativeFinish === undefined);
  if (failure?.kind === 'unfunded' || isBlocked(facts) || isOverdone(facts)) return false;
  return !cancelled || (silent && !billsOn);
}

function isPicture(request: ModelRequest): boolean {
  return isOperation(request) && request.kind === 'image';
}

/** What is wrong with the request itself: it grew longer than the model reads, for one. @spec money-15 */
const FAULTS_OF_REQUEST: ReadonlySet<number> = new Set([400, 413, 422]);

/**
 * The caller has complete turns, and it is no upstream's fault that no other one followed. Else a tool that fetches more
 * than the model can read would make them free.
 */
function isOverdone({ log: { request }, meter: { failure, earlierParts } }: BilledFacts): boolean {
  if (failure === undefined || request.delivery !== 'stream' || !earlierParts.some(({ isOver }) => isOver))
    return false;
  return failure.clock === 'total' || FAULTS_OF_REQUEST.has(failure.status);
}

/** A rule of the account's own refuses it: no upstream failed. */
function isBlocked({ log: { error }, meter: { failure } }: BilledFacts): boolean {
  return failure === undefined && error?.type === 'permission_denied';
}

function priceOf(
  price: PriceTable | undefined,
  usage: Usage,
  { turnRequest }: CountedPart,
  { createdMs, request }: BilledFacts['log'],
): Cost | undefined {
  return price === undefined ? undefined : costOf(price, usage, momentOf(price, createdMs, turnRequest ?? request));
}

/** Pictures are counted only where the price is by the piece. */
function momentOf(price: PriceTable, createdMs: number, originalRequest: ModelRequest): PriceMoment {
  if (price.image === undefined) return { atMs: createdMs };
  return { atMs: createdMs, promptImages: countPromptImages(originalRequest) };
}

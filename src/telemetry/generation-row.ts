import { countOperationMedia, countPromptMedia } from '../canonical/media/count-media.ts';
import { apiTypeOf, isOperation } from '../canonical/operation.ts';
import type { UnitCounts } from '../canonical/usage.ts';
import type { AttemptRecord } from '../store/generations/generation-json.ts';
import type { GenerationRow } from '../store/generations/columns.ts';
import { cacheDiscountOf } from './cache-discount.ts';
import type { GenerationRecord } from './record.ts';
import { webCostOf } from './web-cost.ts';

/** The HTTP status that stands for a generation: 200, an error's, or 499 where the caller hung up. */
export function statusOf(record: GenerationRecord): number {
  // 499 "client closed request" is nginx's word for it; the caller never sees it (@spec generation-7).
  if (record.cancelled) return 499;
  return record.error?.status ?? 200;
}

/** Where several gave the answer together, it stands with their attempts what each of them took. */
function attemptsOf({ attempts, served, report }: GenerationRecord): readonly AttemptRecord[] {
  if (served.length < 2) return attempts;
  return attempts.map((attempt, at) => {
    const part = served.find((one) => one.attempt === at);
    if (part === undefined) return attempt;
    const { promptTokens: tokensPrompt, completionTokens: tokensCompletion } = part.usage;
    const costNanoUsd = part.cost?.totalNanoUsd ?? null;
    const left = part.endedMs === undefined ? {} : { endMs: part.endedMs - report.arrivedMs };
    return { ...attempt, part: { tokensPrompt, tokensCompletion, costNanoUsd, ...left } };
  });
}

/** What is kept of a generation: facts and figures, no text of the conversation. */
export function rowOf(record: GenerationRecord, region: string): GenerationRow {
  const { report, request, endpoint, usage, cost, error, end } = record;
  const { app, sessionId, user } = request.directives;
  const endedMs = report.endedMs ?? report.arrivedMs;
  const media = isOperation(request) ? countOperationMedia(request) : countPromptMedia(request);
  return {
    id: record.id,
    requestId: record.requestId,
    createdAtMs: record.createdMs,
    keyHash: record.principal.keyHash,
    apiType: apiTypeOf(request),
    modelRequested: report.requested,
    model: endpoint?.model ?? report.requested,
    provider: endpoint?.provider ?? null,
    providerName: endpoint?.providerName ?? null,
    upstreamId: record.upstreamId ?? null,
    upstreamModel: endpoint?.upstreamModel ?? null,
    streamed: request.delivery === 'stream',
    cancelled: record.cancelled,
    finishReason: isOperation(request) ? null : (end?.finish ?? null),
    nativeFinishReason: end?.nativeFinish ?? null,
    status: statusOf(record),
    errorType: error?.type ?? null,
    errorMessage: error?.message ?? null,
    attempts: attemptsOf(record),
    strategy: report.strategy,
    sessionId: sessionId ?? null,
    endUserHash: user === undefined ? null : record.endUserId,
    tokensPrompt: usage?.promptTokens ?? 0,
    tokensCompletion: usage?.completionTokens ?? 0,
    tokensReasoning: usage?.reasoningTokens ?? null,
    tokensCacheRead: usage?.cacheReadTokens ?? 0,
    tokensCacheWrite: usage?.cacheWriteTokens ?? 0,
    usageSource: usage === undefined ? 'none' : usage.estimated ? 'estimated' : 'upstream',
    costNanoUsd: cost?.totalNanoUsd ?? null,
    costPromptNanoUsd: cost?.promptNanoUsd ?? null,
    costCompletionNanoUsd: cost?.completionNanoUsd ?? null,
    isByok: report.isByok,
    serviceTier: usage?.serviceTier ?? null,
    latencyMs: Math.round(endedMs - report.arrivedMs),
    timeToFirstTokenMs: record.firstTokenMs === undefined ? null : Math.round(record.firstTokenMs - report.arrivedMs),
    generationTimeMs: record.firstTokenMs === undefined ? null : Math.round(endedMs - record.firstTokenMs),
    warnings: record.warnings,
    skippedEvents: record.warnings.filter(({ code }) => code === 'event-skipped').length,
    appUrl: app?.url ?? null,
    appTitle: app?.title ?? null,
    userAgent: app?.userAgent ?? null,
    region,
    workspaceId: record.principal.workspaceId,
    memberId: record.principal.memberId,
    presetSlug: request.directives.preset ?? null,
    tokensCacheWrite1h: usage?.cacheWrite1hTokens ?? 0,
    listCostNanoUsd: record.listNanoUsd ?? null,
    upstreamCostNanoUsd: usage?.chargedNanoUsd ?? null,
    tokensAudioPrompt: usage?.audioPromptTokens ?? null,
    tokensAudioCompletion: usage?.audioCompletionTokens ?? null,
    tokensImageCompletion: usage?.imageCompletionTokens ?? null,
    mediaPrompt: media.all,
    audioPrompt: media.audio,
    mediaCompletion: record.media,
    cacheDiscountNanoUsd: cacheDiscountOf(record),
    responseCacheSourceId: record.cacheSourceId ?? null,
    taskType: record.taskType ?? null,
    router: record.router ?? null,
    comparedModel: record.comparedModel ?? null,
    savedNanoUsd: record.savedNanoUsd ?? null,
    country: app?.country ?? null,
    ...furtherFactsOf(record),
  };
}

const NO_UNITS: UnitCounts = {};

/** Of tools and plugins, and what is counted by other units than tokens. */
function furtherFactsOf(record: GenerationRecord) {
  const { fileFeesNanoUsd, serverTools, usage, request, dimensions } = record;
  const response = isOperation(request) ? undefined : request.response;
  const { characters, audioMs, outputAudioMs, outputPixels, searchUnits, videoMs } = usage?.units ?? NO_UNITS;
  return {
    webSearches: sumOf(usage?.webSearchRequests, serverTools?.searches),
    webFetches: sumOf(usage?.webFetchRequests, serverTools?.fetches),
    webCostNanoUsd: webCostOf(record),
    fileCostNanoUsd: fileFeesNanoUsd === 0 ? null : fileFeesNanoUsd,
    toolCalls: serverTools?.executed ?? null,
    toolFailures: serverTools?.failed ?? null,
    characters: characters ?? null,
    audioMs: audioMs ?? null,
    outputAudioMs: outputAudioMs ?? null,
    outputPixels: outputPixels ?? null,
    searchUnits: searchUnits ?? null,
    videoMs: videoMs ?? null,
    inputCount: 'inputs' in request ? request.inputs.length : 'documents' in request ? request.documents.length : null,
    dimensions: dimensions ?? null,
    background: response?.background === true,
    previousResponseId: response?.previousResponseId ?? null,
    origin: record.origin ?? null,
  };
}

/** The sum of searches by the provider and by the gateway; null: there were none of either. */
function sumOf(provider: number | undefined, gateway: number | undefined): number | null {
  return provider === undefined && gateway === undefined ? null : (provider ?? 0) + (gateway ?? 0);
}

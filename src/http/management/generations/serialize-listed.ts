import type { GenerationRecord } from '../../../accounts/generation-lookup.ts';
import { OPERATION_KINDS, type OperationKind } from '../../../canonical/operation.ts';
import { serializeTime, serializeUsd } from '../../../resources/columns.ts';

const ROUTERS: ReadonlySet<string> = new Set(['auto', 'free', 'pareto', 'bodybuilder', 'fusion', 'switchyard']);

/** What chose the model, when the caller did not. */
export function routerOf({ strategy }: Pick<GenerationRecord, 'strategy'>): string | null {
  return ROUTERS.has(strategy) ? strategy : null;
}

export function apiTypeOf({ apiType }: Pick<GenerationRecord, 'apiType'>): 'completions' | OperationKind {
  return OPERATION_KINDS.find((kind) => kind === apiType) ?? 'completions';
}

/** A record as lists and live views show it. @param keyName null: a key from the environment */
export function serializeListed(record: GenerationRecord, keyName: string | null) {
  return {
    id: record.id,
    request_id: record.requestId,
    session_id: record.sessionId,
    created_at: serializeTime(record.createdAtMs),
    workspace_id: record.workspaceId,
    api_key_hash: record.keyHash,
    api_key_name: keyName,
    api_type: apiTypeOf(record),
    status: record.status,
    error_type: record.errorType,
    requested_model: record.modelRequested,
    model: record.model,
    provider: record.provider,
    provider_name: record.providerName,
    upstream_model: record.upstreamModel,
    router: routerOf(record),
    service_tier: record.serviceTier,
    is_byok: record.isByok,
    streamed: record.streamed,
    cancelled: record.cancelled,
    finish_reason: record.finishReason,
    tokens_prompt: record.tokensPrompt,
    tokens_completion: record.tokensCompletion,
    native_tokens_reasoning: record.tokensReasoning,
    native_tokens_cached: record.tokensCacheRead,
    tokens_cache_write: record.tokensCacheWrite,
    usage_source: record.usageSource,
    total_cost: serializeUsd(record.costNanoUsd),
    cache_discount: serializeUsd(record.cacheDiscountNanoUsd),
    latency: record.latencyMs,
    time_to_first_token: record.timeToFirstTokenMs,
    generation_time: record.generationTimeMs,
    task_type: record.taskType,
    preset_id: record.presetSlug,
    external_user: record.endUserHash,
    app_title: record.appTitle,
    origin: record.appUrl ?? '',
    country: record.country,
    attempts: record.attempts.length,
    is_rescued: record.warnings.some(({ code }) => code === 'answer-rescued'),
    is_cached: record.responseCacheSourceId !== null,
    warnings: record.warnings.length,
    tool_calls: record.toolCalls,
    request_origin: record.origin ?? 'request',
  };
}

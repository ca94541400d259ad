import { apiTypeOf, isOperation } from '../../canonical/operation.ts';
import type { Settings } from '../../canonical/request.ts';
import { statusOf } from '../generation-row.ts';
import type { GenerationContent } from '../serialize-content.ts';
import type { GenerationRecord } from '../record.ts';
import type { ExportedGeneration } from './contract.ts';

const NO_SETTINGS: Settings = {};

/** A completed generation in the form for destinations. */
export function toExported(
  record: GenerationRecord,
  region: string,
  content: GenerationContent | undefined,
): ExportedGeneration {
  const { report, request, endpoint, usage, cost, error, end, principal, createdMs, firstTokenMs } = record;
  const { app, sessionId, user, trace = {} } = request.directives;
  const { maxTokens, temperature, topP } = isOperation(request) ? NO_SETTINGS : request.settings;
  const sinceArrival = (monotonicMs: number): number => createdMs + monotonicMs - report.arrivedMs;
  return {
    id: record.id,
    startMs: createdMs,
    ...(firstTokenMs !== undefined && { firstTokenMs: sinceArrival(firstTokenMs) }),
    endMs: sinceArrival(report.endedMs ?? report.arrivedMs),
    modelRequested: report.requested,
    model: endpoint?.model ?? report.requested,
    ...(endpoint !== undefined && { provider: endpoint.provider }),
    format: apiTypeOf(request),
    streamed: request.delivery === 'stream',
    cancelled: record.cancelled,
    status: statusOf(record),
    ...(error !== undefined && { error: { type: error.type, message: error.message } }),
    ...(end !== undefined && { finishReason: end.finish }),
    tokens: {
      prompt: usage?.promptTokens ?? 0,
      completion: usage?.completionTokens ?? 0,
      cacheRead: usage?.cacheReadTokens ?? 0,
      cacheWrite: usage?.cacheWriteTokens ?? 0,
      ...(usage?.reasoningTokens !== undefined && { reasoning: usage.reasoningTokens }),
      estimated: usage?.estimated ?? false,
    },
    settings: {
      ...(maxTokens !== undefined && { maxTokens }),
      ...(temperature !== undefined && { temperature }),
      ...(topP !== undefined && { topP }),
    },
    ...(sessionId !== undefined && { sessionId }),
    ...(user !== undefined && { endUserId: record.endUserId }),
    trace,
    costNanoUsd: cost?.totalNanoUsd ?? null,
    identity: {
      keyHash: principal.keyHash,
      ...(principal.name !== undefined && { keyName: principal.name }),
      workspaceId: principal.workspaceId,
      ...(principal.memberId !== null && { memberId: principal.memberId }),
    },
    context: {
      ...(app?.url !== undefined && { appUrl: app.url }),
      ...(app?.title !== undefined && { appTitle: app.title }),
      ...(app?.userAgent !== undefined && { userAgent: app.userAgent }),
      region,
      attempts: record.attempts.length,
      strategy: report.strategy,
    },
    ...(content !== undefined && { content }),
  };
}
